// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A host with one thread, so without lock and `self_id`, whose interrupts run on another processor
//! (docs/c-abi.md, Contexts).
#![allow(clippy::unwrap_used)]

use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{mpsc, Mutex};

use lnd_ffi::abi::*;
use lnd_ffi::interrupts::lnd_interrupt;
use lnd_ffi::run::lnd_run;

use host::{config, no_ops, Ni};

#[allow(dead_code)] // other tests use the rest
mod host;

#[derive(Default)]
struct Host {
    bugs: AtomicU32,
    /// Of the next register read: it says that it has begun, and waits.
    halt: Mutex<Option<(mpsc::Sender<()>, mpsc::Receiver<()>)>>,
}

unsafe fn host<'a>(ctx: *mut c_void) -> &'a Host {
    // SAFETY: the context is the test's host, which outlives the NI.
    unsafe { &*ctx.cast::<Host>() }
}

unsafe extern "C" fn send(_: *mut c_void, _: *const lnd_frame) -> u32 {
    lnd_send::LND_SEND_DONE as u32
}

unsafe extern "C" fn finalize(_: *mut c_void, _: *const lnd_report) {}

unsafe extern "C" fn bug(ctx: *mut c_void, _: *const c_char) {
    // SAFETY: see `host`.
    unsafe { host(ctx) }.bugs.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn reg_read(ctx: *mut c_void, _: u32, _: u32) -> u32 {
    // SAFETY: see `host`.
    let halt = unsafe { host(ctx) }.halt.lock().unwrap().take();
    if let Some((begun, go_on)) = halt {
        begun.send(()).unwrap();
        go_on.recv().unwrap();
    }
    0
}

unsafe extern "C" fn reg_write(_: *mut c_void, _: u32, _: u32, _: u32) {}

#[test]
fn an_interrupt_on_another_processor_is_no_call_from_inside() {
    let ops = lnd_ops {
        send: Some(send),
        finalize: Some(finalize),
        bug: Some(bug),
        reg_read32: Some(reg_read),
        reg_write32: Some(reg_write),
        ..no_ops()
    };
    let host = Host::default();
    // SAFETY: operations and host outlive the NI.
    let it = unsafe { Ni::new(config(), &ops, &host) };
    let ni = it.ni as usize;
    let (begun, has_begun) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    *host.halt.lock().unwrap() = Some((begun, may_go_on));
    std::thread::scope(|scope| {
        // SAFETY: the NI is alive, and one interrupt of the link is under way.
        scope.spawn(move || unsafe { lnd_interrupt(ni as *mut _, 0, 4, 1, null_mut()) });
        has_begun.recv().unwrap();
        // SAFETY: the NI is alive, and no other thread makes calls for threads.
        let run = unsafe { lnd_run(it.ni, 1, 4, null_mut()) };
        go_on.send(()).unwrap();
        assert_eq!((run, host.bugs.load(Ordering::Relaxed)), (lnd_error::LND_OK, 0));
    });
}
