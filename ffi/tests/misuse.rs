// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The life of an NI and misuse of it (R65), from the Rust side, so that Miri sees every pointer.
//! The whole catalogue is in C: `examples/misuse.c` and `examples/reentry.c`.
#![allow(clippy::unwrap_used)]
// A sequence of calls under one argument reads better than one block a call.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use lnd_ffi::abi::*;
use lnd_ffi::config::*;
use lnd_ffi::create::*;
use lnd_ffi::lnd_ni;
use lnd_ffi::run::lnd_run;
use lnd_ffi::stats::{lnd_audit, lnd_counter, lnd_stats_get};
use lnd_ffi::submit::{lnd_submit, lnd_withdraw};

use host::{config, no_ops, put, ring_for, Ni, FRAG};

mod host;

#[cfg(feature = "operations")]
const MS: u64 = 1_000_000;

#[derive(Default)]
struct Host {
    ni: Cell<*mut lnd_ni>,
    sent: Cell<u32>,
    reported: Cell<u32>,
    bugs: Cell<u32>,
    #[cfg(feature = "operations")]
    woken: Cell<u32>,
}

unsafe fn host<'a>(ctx: *mut c_void) -> &'a Host {
    // SAFETY: the context is the test's host, which outlives the NI.
    unsafe { &*ctx.cast::<Host>() }
}

unsafe extern "C" fn send(ctx: *mut c_void, _: *const lnd_frame) -> u32 {
    // SAFETY: see `host`.
    let host = unsafe { host(ctx) };
    host.sent.set(host.sent.get() + 1);
    // SAFETY: the NI is alive: it is sending.
    let again = unsafe { lnd_run(host.ni.get(), 1, 1, null_mut()) };
    assert_eq!(again, lnd_error::LND_E_REENTRY);
    lnd_send::LND_SEND_DONE as u32
}

unsafe extern "C" fn finalize(ctx: *mut c_void, report: *const lnd_report) {
    // SAFETY: see `host`.
    let host = unsafe { host(ctx) };
    // SAFETY: the library's own report.
    let report = unsafe { &*report };
    assert_eq!((report.user, report.cause), (7, lnd_cause::LND_CAUSE_SHUTDOWN as u32));
    host.reported.set(host.reported.get() + 1);
}

unsafe extern "C" fn bug(ctx: *mut c_void, _: *const c_char) {
    // SAFETY: see `host`.
    let host = unsafe { host(ctx) };
    host.bugs.set(host.bugs.get() + 1);
}

fn ops() -> lnd_ops {
    lnd_ops { send: Some(send), finalize: Some(finalize), bug: Some(bug), ..no_ops() }
}

#[test]
fn a_node_number_has_eight_bits() {
    let mut config = config();
    let ring = ring_for(&mut config);
    for (node, made) in [
        (255, lnd_error::LND_OK),
        (256, lnd_error::LND_E_ARGUMENT),
        (u32::MAX, lnd_error::LND_E_ARGUMENT),
    ] {
        // SAFETY: the ring's own memory, of its own size.
        let said = unsafe { lnd_ring_format(&config, ring.at(), ring.len(), node, 0) };
        assert_eq!(said, made, "{node}");
    }
}

#[test]
fn an_ni_is_made_and_ends_and_is_no_ni_any_more() {
    let host = Host::default();
    // SAFETY: the host lives until the end of the test.
    let it = unsafe { Ni::new(config(), &ops(), &host) };
    let ni = it.ni;
    host.ni.set(ni);
    let request = put(&FRAG, 7);
    let mut transfer = lnd_transfer::default();
    // SAFETY: everything is what it is said to be.
    unsafe {
        let accepted = lnd_submit(ni, &request, 1, &mut transfer, null_mut());
        assert_eq!(accepted, lnd_error::LND_OK);
        let cut = lnd_send_request { size: 8, ..request };
        assert_eq!(lnd_submit(ni, &cut, 1, null_mut(), null_mut()), lnd_error::LND_E_SIZE);
        let foreign = lnd_transfer { ni: transfer.ni ^ 1, ..transfer };
        assert_eq!(lnd_withdraw(ni, foreign, 1), lnd_error::LND_E_FOREIGN);
        assert_eq!(lnd_ni_destroy(ni), lnd_error::LND_E_RUNNING);
        assert_eq!(lnd_audit(ni), lnd_error::LND_OK);
        let mut value = 0;
        assert_eq!(lnd_counter(ni, 0, &mut value), lnd_error::LND_OK);
        assert_eq!(value, 1);
    }
    it.shut_down();
    assert_eq!((host.reported.get(), host.bugs.get()), (1, host.sent.get()));
    // SAFETY: the memory is still there, the NI is not.
    unsafe {
        assert_eq!(lnd_withdraw(ni, transfer, 100), lnd_error::LND_E_STALE);
        assert_eq!(it.destroy(), lnd_error::LND_OK);
        assert_eq!(it.destroy(), lnd_error::LND_E_NI);
        assert_eq!(lnd_run(ni, 1, 1, null_mut()), lnd_error::LND_E_NI);
    }
}

#[cfg(feature = "operations")]
unsafe extern "C" fn say(ctx: *mut c_void, _: *const lnd_frame) -> u32 {
    // SAFETY: see `host`.
    let host = unsafe { host(ctx) };
    host.sent.set(host.sent.get() + 1);
    lnd_send::LND_SEND_DONE as u32
}

#[cfg(feature = "operations")]
unsafe extern "C" fn wake(ctx: *mut c_void) {
    // SAFETY: see `host`.
    let host = unsafe { host(ctx) };
    host.woken.set(host.woken.get() + 1);
}

/// An engine whose link is up and which is never given anything.
#[cfg(feature = "operations")]
fn idle() -> lnd_ops {
    unsafe extern "C" fn post(_: *mut c_void, _: *const lnd_bd) -> u32 {
        lnd_post::LND_POST_FULL as u32
    }
    unsafe extern "C" fn tell(_: *mut c_void, _: u32) {}
    unsafe extern "C" fn invalidate(_: *mut c_void, _: u32, _: lnd_tag) {}
    unsafe extern "C" fn yes(_: *mut c_void, _: u32) -> u32 {
        1
    }
    lnd_ops {
        engine_post: Some(post),
        engine_doorbell: Some(tell),
        engine_invalidate: Some(invalidate),
        engine_stop: Some(tell),
        engine_quiesced: Some(yes),
        engine_reset: Some(tell),
        engine_link_up: Some(yes),
        send: Some(say),
        wake: Some(wake),
        ..ops()
    }
}

/// A refused message may have begun a handshake. A host that sleeps hears of the time at which its
/// hello is due again.
#[cfg(feature = "operations")]
#[test]
fn a_refused_message_wakes_whom_its_hello_needs() {
    let host = Host::default();
    // SAFETY: the host lives until the end of the test.
    let it = unsafe { Ni::new(lnd_config { lists: 0, ..config() }, &idle(), &host) };
    let mut next = 0;
    for now in 1..9 {
        // SAFETY: the NI is alive, and the place is there.
        assert_eq!(unsafe { lnd_run(it.ni, now * MS, 4, &mut next) }, lnd_error::LND_OK);
    }
    assert_eq!(next, LND_NEVER);
    host.woken.set(0);
    let two = [FRAG, lnd_frag { addr: 200, ..FRAG }];
    let request = lnd_send_request { nfrags: 2, ..put(&two[0], 7) };
    let request = lnd_send_request { frags: two.as_ptr(), ..request };
    // SAFETY: everything is what it is said to be.
    let refused = unsafe { lnd_submit(it.ni, &request, 9 * MS, null_mut(), null_mut()) };
    assert_eq!((refused, host.sent.get()), (lnd_error::LND_E_NO_LISTS, 1));
    assert_eq!(host.woken.get(), 1);
    // SAFETY: the NI is alive, and the place is there.
    assert_eq!(unsafe { lnd_run(it.ni, 9 * MS, 4, &mut next) }, lnd_error::LND_OK);
    assert_ne!(next, LND_NEVER, "the hello's own time");
    it.shut_down();
    assert_eq!(it.destroy(), lnd_error::LND_OK);
}

#[test]
fn pointers_are_looked_at_before_they_are_used() {
    let wrong: *mut lnd_ni = std::ptr::without_provenance_mut(1);
    // SAFETY: null and misaligned pointers are what these calls must refuse.
    unsafe {
        assert_eq!(lnd_run(null_mut(), 1, 1, null_mut()), lnd_error::LND_E_NULL);
        assert_eq!(lnd_run(wrong, 1, 1, null_mut()), lnd_error::LND_E_ALIGN);
        assert_eq!(lnd_stats_get(null(), null_mut()), lnd_error::LND_E_NULL);
        assert_eq!(lnd_ni_size(null()), 0);
        let made = lnd_ni_create(null_mut(), 0, null(), null(), null_mut(), null_mut());
        assert_eq!(made, lnd_error::LND_E_NULL);
    }
}
