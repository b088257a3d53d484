// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every enum of the header has a function that names its constants as the header spells them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::ffi::{c_char, CStr};

use lnd_ffi::errors::lnd_error_name;
use lnd_ffi::names::engine::*;
use lnd_ffi::names::health::*;
use lnd_ffi::names::probe::*;
use lnd_ffi::names::state::*;
use lnd_ffi::names::transfer::*;

type Name = extern "C" fn(u32) -> *const c_char;

/// The functions, by what the header calls them.
macro_rules! functions {
    ($($name:ident)*) => { [$((stringify!($name), $name as Name)),*] };
}

/// The header's enums: their constants, by name.
fn enums() -> BTreeMap<String, Vec<(String, u32)>> {
    let header = include_str!("../include/lnd.h");
    let mut all = BTreeMap::new();
    for block in header.split("\nenum ").skip(1) {
        let Some((name, rest)) = block.split_once(" {\n") else { continue };
        if !name.starts_with("lnd_") || name.contains([' ', '\n']) {
            continue;
        }
        let body = rest.split_once("\n};").unwrap().0;
        let constants = body.lines().filter_map(|line| {
            let (name, value) = line.trim().strip_suffix(',')?.split_once(" = ")?;
            // It makes the enum wide, and is no value.
            (name != "LND_E_WIDTH").then_some((name.to_owned(), value.parse().ok()?))
        });
        all.insert(name.to_owned(), constants.collect());
    }
    all
}

fn spelled(name: Name, value: u32) -> &'static str {
    // SAFETY: a name is a static text with a zero byte at its end.
    unsafe { CStr::from_ptr(name(value)) }.to_str().unwrap()
}

#[test]
fn every_constant_has_its_name() {
    let functions = functions![
        lnd_about_name lnd_action_kind_name lnd_blocker_kind_name lnd_bound_origin_name
        lnd_cause_name lnd_connected_name
        lnd_connection_name lnd_context_name lnd_delivery_name lnd_dump_what_name lnd_error_name
        lnd_event_kind_name lnd_evidence_name lnd_finding_name lnd_health_class_name lnd_kind_name
        lnd_lane_name lnd_link_state_name lnd_metric_format_name lnd_metric_kind_name
        lnd_point_name lnd_wait_name
        lnd_motion_name lnd_nak_reason_name lnd_next_name
        lnd_object_name lnd_peer_state_name lnd_place_name lnd_policy_name lnd_post_name
        lnd_probe_end_name lnd_probe_kind_name lnd_profile_name lnd_request_kind_name
        lnd_returned_name lnd_role_name lnd_rule_kind_name lnd_run_state_name lnd_send_name
        lnd_sent_how_name lnd_trace_kind_name lnd_tracker_state_name lnd_why_ended_name
        lnd_window_check_name
    ];
    let mut enums = enums();
    assert!(enums.len() > 30, "the header was not understood: {enums:?}");
    for (function, name) in functions {
        let of = function.strip_suffix("_name").unwrap();
        let constants = enums.remove(of).unwrap_or_else(|| panic!("no enum is called {of}"));
        assert!(constants.len() > 1, "{of}: {constants:?}");
        for (constant, value) in &constants {
            assert_eq!(spelled(name, *value), constant, "{of}");
        }
        let beyond = (0..=u32::MAX).find(|it| constants.iter().all(|(_, v)| v != it)).unwrap();
        for value in [beyond, u32::MAX] {
            assert!(spelled(name, value).ends_with('?'), "{of}: {value}");
        }
    }
    assert!(enums.is_empty(), "enums whose constants have no name: {:?}", enums.keys());
}
