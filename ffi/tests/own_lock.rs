// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A platform without a lock that names its callers: the library's own lock makes the second thread
//! wait until the first one has left.
#![allow(clippy::unwrap_used)]
// A sequence of calls under one argument reads better than one block a call.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;

use lnd_ffi::abi::*;
use lnd_ffi::lnd_ni;
use lnd_ffi::stats::{lnd_audit, lnd_counter};
use lnd_ffi::submit::lnd_submit;

use host::{config, no_ops, put, Ni, FRAG};

mod host;

/// How often the first thread looks whether the second one has come in.
const LOOKS: u32 = if cfg!(miri) { 100 } else { 10_000 };

thread_local! {
    /// Number of the thread that runs.
    static ME: Cell<u32> = const { Cell::new(1) };
}

/// What the two threads have done.
#[derive(Default)]
struct Host {
    /// The first one is inside, in `reaches()`.
    inside: AtomicBool,
    /// The second one is about to take the lock.
    coming: AtomicBool,
    /// The second one's call has ended.
    ended: AtomicBool,
    /// It had ended when the first one left `reaches()`.
    ended_meanwhile: AtomicBool,
    bugs: AtomicU32,
}

unsafe fn host<'a>(ctx: *mut c_void) -> &'a Host {
    // SAFETY: the context is the test's host, which outlives the NI.
    unsafe { &*ctx.cast::<Host>() }
}

unsafe extern "C" fn self_id(ctx: *mut c_void) -> u32 {
    let me = ME.with(Cell::get);
    if me == 2 {
        // SAFETY: see `host`.
        unsafe { host(ctx) }.coming.store(true, SeqCst);
    }
    me
}

/// Stays inside until the other thread has asked for the lock, and long enough for it to come in if
/// it could.
unsafe extern "C" fn reaches(ctx: *mut c_void, _: u64) -> u32 {
    // SAFETY: see `host`.
    let host = unsafe { host(ctx) };
    if !host.inside.swap(true, SeqCst) {
        while !host.coming.load(SeqCst) {
            thread::yield_now();
        }
        for _ in 0..LOOKS {
            if host.ended.load(SeqCst) {
                break;
            }
            thread::yield_now();
        }
        host.ended_meanwhile.store(host.ended.load(SeqCst), SeqCst);
    }
    1
}

unsafe extern "C" fn send(_: *mut c_void, _: *const lnd_frame) -> u32 {
    lnd_send::LND_SEND_DONE as u32
}

unsafe extern "C" fn finalize(_: *mut c_void, _: *const lnd_report) {}

unsafe extern "C" fn bug(ctx: *mut c_void, _: *const c_char) {
    // SAFETY: see `host`.
    unsafe { host(ctx) }.bugs.fetch_add(1, SeqCst);
}

fn ops() -> lnd_ops {
    lnd_ops {
        self_id: Some(self_id),
        reaches: Some(reaches),
        send: Some(send),
        finalize: Some(finalize),
        bug: Some(bug),
        ..no_ops()
    }
}

/// An NI that another thread may use.
#[derive(Clone, Copy)]
struct Shared(*mut lnd_ni);

// SAFETY: an NI is for all threads that its lock makes wait.
unsafe impl Send for Shared {}

impl Shared {
    /// The second thread: comes when the first one is inside.
    fn second(self, host: &Host) -> lnd_error {
        ME.with(|me| me.set(2));
        while !host.inside.load(SeqCst) {
            thread::yield_now();
        }
        // SAFETY: the NI is alive.
        let said = unsafe { lnd_audit(self.0) };
        host.ended.store(true, SeqCst);
        said
    }
}

#[test]
fn a_second_thread_waits_until_the_first_one_has_left() {
    let host = Host::default();
    // SAFETY: the host lives until the end of the test.
    let it = unsafe { Ni::new(config(), &ops(), &host) };
    let ni = it.ni;
    let shared = Shared(ni);
    let seen = &host;
    let second = thread::scope(|scope| {
        let second = scope.spawn(move || shared.second(seen));
        // SAFETY: everything is what it is said to be.
        let accepted = unsafe { lnd_submit(ni, &put(&FRAG, 0), 1, null_mut(), null_mut()) };
        assert_eq!(accepted, lnd_error::LND_OK);
        // It has asked whether it reaches the peer; if not, the second thread would wait for ever.
        let inside = host.inside.swap(true, SeqCst);
        (inside, second.join().unwrap())
    });
    assert_eq!(second, (true, lnd_error::LND_OK));
    assert!(!host.ended_meanwhile.load(SeqCst));
    assert_eq!(host.bugs.load(SeqCst), 0);

    // The lock is free for whichever thread comes next.
    let mut submitted = 0;
    // SAFETY: the NI is alive, and the place is there.
    assert_eq!(unsafe { lnd_counter(ni, 0, &mut submitted) }, lnd_error::LND_OK);
    assert_eq!(submitted, 1);
    it.shut_down();
    assert_eq!(it.destroy(), lnd_error::LND_OK);
}
