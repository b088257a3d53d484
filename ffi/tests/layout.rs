// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The Rust side of the layout (R65). `abi.txt` was written by a C compiler; the header holds C
//! callers to it, this test holds the library to it.
#![cfg(target_pointer_width = "64")]
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::mem::{align_of, size_of, MaybeUninit};

use lnd_ffi::abi::*;
use memoffset::span_of;

/// The lines of abi.txt for structs, each with all of its fields: one that is missing in the list
/// does not compile.
macro_rules! layout {
    ($($name:ident { $($field:ident),* };)*) => {{
        let mut text = String::new();
        $(
            let (size, align) = (size_of::<$name>(), align_of::<$name>());
            writeln!(text, "struct {} size {size} align {align}", stringify!($name)).unwrap();
            // Never called: it is there to be compiled.
            let _ = |it: MaybeUninit<$name>| {
                // SAFETY: never called.
                let $name { $($field: _),* } = unsafe { it.assume_init() };
            };
            $(
                let span = span_of!($name, $field);
                let (offset, size) = (span.start, span.end - span.start);
                writeln!(text, "  {} offset {offset} size {size}", stringify!($field)).unwrap();
            )*
        )*
        text
    }};
}

/// Blocks of abi.txt whose first line begins with `kind`.
fn committed(kind: &str, soft: bool) -> Vec<String> {
    let text = include_str!("../abi.txt");
    let mut blocks: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("  ") {
            let block = blocks.last_mut().unwrap();
            *block = format!("{block}{line}\n");
        } else {
            blocks.push(format!("{line}\n"));
        }
    }
    let soft_name = format!("{kind} lnd_soft_");
    let kind = format!("{kind} ");
    blocks.retain(|block| block.starts_with(&kind) && block.starts_with(&soft_name) == soft);
    blocks.sort();
    blocks
}

fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> =
        text.split("struct ").skip(1).map(|b| format!("struct {b}")).collect();
    blocks.sort();
    blocks
}

#[test]
fn structs_lie_as_a_c_compiler_lays_them() {
    let ours = layout! {
        lnd_ring { base, len };
        lnd_config {
            size, abi_version, nid, incarnation, slots, passive_slots, peers, links, lists,
            immediate_max, depth, hello_tries, batch, policy, flags, pulls, connections, reserved,
            drain_bound, hello_timeout, credit_stall, link_poll, decision_bound, rings
        };
        lnd_tag { index, generation };
        lnd_bd { size, link, tag, source, nid, motion, length, frags, nfrags, key_len, key };
        lnd_message { index, generation, ni, kind };
        lnd_frame { size, link, lane, len, bytes, nid, tracked, reserved, message };
        lnd_request { index, generation, ni, kind };
        lnd_arrival { size, kind, nid, request, header, payload, header_len, len, now };
        lnd_transfer { index, generation, ni, kind };
        lnd_report {
            size, role, transfer, user, nid, error, health, delivery, resend, cause, place, bytes,
            reply, lost_race, reserved
        };
        lnd_event { size, kind, nid, link, state };
        lnd_trace { size, kind, now, nid, index, generation, link, a, b, c, d, reserved };
        lnd_ops {
            size, reserved, lock, unlock, self_id, context, reg_read32, reg_write32, dma_barrier,
            node_of, engine_post, engine_key, engine_doorbell, engine_invalidate, engine_stop,
            engine_quiesced, engine_reclaim, engine_reset, engine_link_up, engine_features,
            connection, connection_stop, connection_quiesced, connection_reset, reaches, ready,
            send, quiesce, mem_read, mem_write, mem_valid, finalize, event, wake, trace, bug,
            tracing
        };
        lnd_action { size, kind, index, generation, owner, probe, target, local, nid };
        lnd_health_config {
            size, abi_version, locals, peers, peer_nis, journal, attempts, actions, profile,
            sensitivity, retries, seed, recovery_first, recovery_cap, recovery_limit, resend_first,
            resend_cap, probe_idle, probe_again, probe_hold_off, action_bound, action_every,
            action_burst, probe_results, routes, routing, numa_range, connects_at_once, incarnation
        };
        lnd_attempts { index, generation, ni, kind };
        lnd_health_ni { index, generation, owner, kind };
        lnd_health_peer { index, generation, owner, kind };
        lnd_health_route { index, generation, owner, kind };
        lnd_stamp { from, to, number };
        lnd_outcome { size, next, delivery, health, tries, why, cookie, next_try };
        lnd_path { size, routed, local, hop, destination, stamp, hop_nid, slice };
        lnd_health_info { size, value, nid, heard, in_flight, up, fatal, draining };
        lnd_health_change {
            size, evidence, number, at, cookie, ni, nid, from, to, up, health_class
        };
        lnd_rule { size, kind, priority, network, nid, peer_nid };
        lnd_distance { device, numa };
        lnd_tracker { size, state, deadline, local, hop };
        lnd_peer { nid, index, generation, ni, kind };
        lnd_peer_info {
            size, state, peer, incarnation, last_heard, transfers, credits, in_flight, session,
            pulls, pulls_waiting
        };
        lnd_blocker { size, kind, transfer, nid, until, link, word, link_state, reserved };
        lnd_stats {
            size, run_state, active, passive, peers, counters, frames_control, frames_lnd,
            frames_bad, frames_forged, completions, interrupts, misuses
        };
        lnd_account {
            size, wait, nid, points, waits, since, given_up, deadline, given_up_in, len, steps,
            ended, error, health_class, cause, place
        };
        lnd_histogram { size, reserved, count, sum, min, max, buckets };
        lnd_metric_info { size, kind, name, unit, help };
        lnd_bound { size, origin, ns, name, help };
        lnd_frag { addr, len, reserved };
        lnd_send_request {
            size, kind, nid, link, routed, header, frags, header_len, nfrags, deadline, user, peer
        };
        lnd_decision { size, nfrags, frags, len, reserved, deadline, user };
    };
    assert_eq!(blocks(&ours), committed("struct", false));
}

#[cfg(feature = "soft")]
#[test]
fn structs_of_the_software_fabric_lie_as_a_c_compiler_lays_them() {
    use lnd_ffi::soft::abi::*;
    let ours = layout! {
        lnd_soft_progress {
            size, busy, bytes, completions, interrupts, reserved, violations, ring
        };
        lnd_soft_shape {
            size, nodes, links, descriptors, lists, request_slots, request_bytes, control_slots,
            control_bytes, reserved, window
        };
        lnd_soft_link { size, descriptors, lists, reserved, base, len, features, node };
        lnd_soft_arrival { size, from, link, lane, len, reserved };
        lnd_soft_join_args { size, node, random, flags, features, start };
        lnd_soft_node_info { size, node, state, flags, incarnation };
    };
    assert_eq!(blocks(&ours), committed("struct", true));
}

#[test]
fn errors_have_the_numbers_of_the_header() {
    let lines: String =
        lnd_error::ALL.iter().map(|error| format!("  {error:?} {}\n", *error as u32)).collect();
    let all = committed("enum", false);
    let errors = all.iter().find(|block| block.starts_with("enum lnd_error")).unwrap();
    let (_, values) = errors.split_once('\n').unwrap();
    assert_eq!(values, format!("{lines}  LND_E_WIDTH {}\n", lnd_error::LND_E_WIDTH as u32));
}
