// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The life of an NI and misuse of it (R65), from the Rust side, so that Miri sees every pointer. The
//! whole catalogue is in C: `examples/misuse.c` and `examples/reentry.c`.
#![allow(clippy::unwrap_used)]
// A sequence of calls under one argument reads better than one block a call.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use lnd_ffi::abi::*;
use lnd_ffi::config::*;
use lnd_ffi::create::*;
use lnd_ffi::lnd_ni;
use lnd_ffi::run::lnd_run;
use lnd_ffi::shutdown::{lnd_run_state_get, lnd_shutdown};
use lnd_ffi::stats::{lnd_audit, lnd_counter, lnd_stats_get};
use lnd_ffi::submit::{lnd_submit, lnd_withdraw};

/// Aligned memory that is given back at the end.
struct Block {
    base: *mut u8,
    layout: Layout,
}

impl Block {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes, LND_ALIGN).unwrap();
        // SAFETY: not of size zero.
        let base = unsafe { alloc_zeroed(layout) };
        assert!(!base.is_null());
        Self { base, layout }
    }

    fn at(&self) -> *mut c_void {
        self.base.cast()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: from `alloc_zeroed` with this layout.
        unsafe { dealloc(self.base, self.layout) }
    }
}

#[derive(Default)]
struct Host {
    ni: Cell<*mut lnd_ni>,
    sent: Cell<u32>,
    reported: Cell<u32>,
    bugs: Cell<u32>,
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

unsafe extern "C" fn parse(_: *mut c_void, _: *const lnd_arrival) {}

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
    // SAFETY: integers and optional function pointers: zero is valid.
    let none: lnd_ops = unsafe { std::mem::zeroed() };
    lnd_ops {
        size: size_of::<lnd_ops>() as u32,
        send: Some(send),
        parse: Some(parse),
        finalize: Some(finalize),
        bug: Some(bug),
        ..none
    }
}

fn config(ring: &Block, len: usize) -> lnd_config {
    // SAFETY: integers and pointers: zero is valid.
    let mut config: lnd_config = unsafe { std::mem::zeroed() };
    // SAFETY: a place for it.
    let made = unsafe { lnd_config_init(&mut config, 1, 8, 2, 1) };
    assert_eq!(made, lnd_error::LND_OK);
    config.immediate_max = 0;
    config.nid = 1;
    config.life = 99;
    config.rings[0] = lnd_ring { base: ring.at(), len };
    config
}

fn ring_for(config: &lnd_config, ring: &Block) {
    // SAFETY: the ring's own memory, of its own size.
    let made = unsafe { lnd_ring_format(config, ring.at(), ring.layout.size(), 0, 0) };
    assert_eq!(made, lnd_error::LND_OK);
}

#[test]
fn a_node_number_has_eight_bits() {
    let probe = Block::new(64);
    // SAFETY: a configuration.
    let len = unsafe { lnd_ring_size(&config(&probe, 64)) };
    let ring = Block::new(len);
    let config = config(&ring, len);
    for (node, made) in [
        (255, lnd_error::LND_OK),
        (256, lnd_error::LND_E_ARGUMENT),
        (u32::MAX, lnd_error::LND_E_ARGUMENT),
    ] {
        // SAFETY: the ring's own memory, of its own size.
        let said = unsafe { lnd_ring_format(&config, ring.at(), len, node, 0) };
        assert_eq!(said, made, "{node}");
    }
}

#[test]
fn an_ni_lives_and_ends_and_is_no_ni_any_more() {
    let host = Host::default();
    let probe = Block::new(64);
    // SAFETY: a configuration.
    let len = unsafe { lnd_ring_size(&config(&probe, 64)) };
    let ring = Block::new(len);
    let config = config(&ring, len);
    ring_for(&config, &ring);
    // SAFETY: a configuration.
    let memory = Block::new(unsafe { lnd_ni_size(&config) });
    let ctx = std::ptr::from_ref(&host).cast_mut().cast();
    let mut ni = null_mut();
    // SAFETY: all of it lives until the NI is destroyed, below.
    let made =
        unsafe { lnd_ni_create(memory.at(), memory.layout.size(), &config, &ops(), ctx, &mut ni) };
    assert_eq!(made, lnd_error::LND_OK);
    host.ni.set(ni);

    let frag = lnd_frag { addr: 0, len: 100, reserved: 0 };
    let request = lnd_send_request {
        size: size_of::<lnd_send_request>() as u32,
        kind: lnd_kind::LND_PUT as u32,
        nid: 2,
        link: LND_ANY_LINK,
        routed: 0,
        header: null(),
        frags: &frag,
        header_len: 0,
        nfrags: 1,
        deadline: LND_NEVER,
        user: 7,
    };
    let mut transfer = lnd_transfer::default();
    // SAFETY: everything is what it is said to be.
    unsafe {
        assert_eq!(lnd_submit(ni, &request, 1, &mut transfer), lnd_error::LND_OK);
        let cut = lnd_send_request { size: 8, ..request };
        assert_eq!(lnd_submit(ni, &cut, 1, null_mut()), lnd_error::LND_E_SIZE);
        let foreign = lnd_transfer { ni: transfer.ni ^ 1, ..transfer };
        assert_eq!(lnd_withdraw(ni, foreign, 1), lnd_error::LND_E_FOREIGN);
        assert_eq!(lnd_ni_destroy(ni), lnd_error::LND_E_RUNNING);
        assert_eq!(lnd_audit(ni), lnd_error::LND_OK);
        let mut value = 0;
        assert_eq!(lnd_counter(ni, 0, &mut value), lnd_error::LND_OK);
        assert_eq!(value, 1);
        assert_eq!(lnd_shutdown(ni, 2, 2), lnd_error::LND_OK);
    }
    let mut state = 0;
    for now in 2..100 {
        // SAFETY: the NI is alive.
        unsafe {
            assert_eq!(lnd_run(ni, now, 4, null_mut()), lnd_error::LND_OK);
            assert_eq!(lnd_run_state_get(ni, &mut state), lnd_error::LND_OK);
        }
    }
    assert_eq!(state, lnd_run_state::LND_QUIESCENT as u32);
    assert_eq!((host.reported.get(), host.bugs.get()), (1, host.sent.get()));
    // SAFETY: the memory is still there, the NI is not.
    unsafe {
        assert_eq!(lnd_withdraw(ni, transfer, 100), lnd_error::LND_E_STALE);
        assert_eq!(lnd_ni_destroy(ni), lnd_error::LND_OK);
        assert_eq!(lnd_ni_destroy(ni), lnd_error::LND_E_NI);
        assert_eq!(lnd_run(ni, 1, 1, null_mut()), lnd_error::LND_E_NI);
    }
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
