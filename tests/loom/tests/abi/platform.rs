// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table of operations of a host.

use core::cell::Cell;
use core::ffi::{c_char, c_void};

use lnd_core::sync::Ordering;
use lnd_ffi::abi::{lnd_event, lnd_frame, lnd_ops, lnd_report, lnd_send};
use loom::sync::MutexGuard;

use super::host::Host;

loom::thread_local! {
    /// Number of the context that runs.
    static ME: Cell<u32> = Cell::new(1);
}

/// The context that runs has this number from now on.
pub fn is(me: u32) {
    ME.with(|number| number.set(me));
}

/// The table, with a lock that excludes or with one that does not.
pub fn ops(excludes: bool) -> lnd_ops {
    // SAFETY: integers and optional function pointers: zero is valid.
    let none: lnd_ops = unsafe { core::mem::zeroed() };
    // Pointers of one and the same type.
    let lock: unsafe extern "C" fn(*mut c_void) = lock;
    let unlock: unsafe extern "C" fn(*mut c_void) = unlock;
    let nothing: unsafe extern "C" fn(*mut c_void) = nothing;
    lnd_ops {
        size: size_of::<lnd_ops>() as u32,
        lock: Some(if excludes { lock } else { nothing }),
        unlock: Some(if excludes { unlock } else { nothing }),
        self_id: Some(self_id),
        send: Some(send),
        mem_read: Some(mem_read),
        mem_write: Some(mem_write),
        finalize: Some(finalize),
        wake: Some(wake),
        bug: Some(bug),
        event: Some(event),
        ..none
    }
}

unsafe fn host<'a>(ctx: *mut c_void) -> &'a Host {
    // SAFETY: the context pointer is the host's, which outlives the NI's every call.
    unsafe { &*ctx.cast::<Host>() }
}

unsafe extern "C" fn lock(ctx: *mut c_void) {
    // SAFETY: see `host`.
    let host = unsafe { host(ctx) };
    let guard = host.lock.as_ref().unwrap().lock().unwrap();
    // SAFETY: only the lifetime changes: `held` is empty before the lock goes.
    let guard =
        unsafe { core::mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'static, ()>>(guard) };
    *host.held.borrow_mut() = Some(guard);
    host.order.borrow_mut().push(ME.with(Cell::get));
}

unsafe extern "C" fn unlock(ctx: *mut c_void) {
    // SAFETY: see `host`.
    let guard = unsafe { host(ctx) }.held.borrow_mut().take();
    drop(guard.expect("unlocked without having been locked"));
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// Every way into the NI asks for it: a place to take turns.
unsafe extern "C" fn self_id(ctx: *mut c_void) -> u32 {
    // SAFETY: see `host`.
    unsafe { host(ctx) }.turn();
    ME.with(Cell::get)
}

unsafe extern "C" fn send(ctx: *mut c_void, frame: *const lnd_frame) -> u32 {
    // SAFETY: see `host`; the library's own frame.
    let (host, frame) = unsafe { (host(ctx), &*frame) };
    // SAFETY: as many bytes as it says.
    let bytes = unsafe { core::slice::from_raw_parts(frame.bytes.cast(), frame.len as usize) };
    host.said.borrow_mut().push((bytes.to_vec(), frame.message));
    lnd_send::LND_SEND_DONE as u32
}

unsafe extern "C" fn mem_read(_: *mut c_void, _: u64, _: *mut c_void, _: u32) -> u32 {
    1
}

/// What came with a frame is copied out of it, where it was lent.
unsafe extern "C" fn mem_write(ctx: *mut c_void, _: u64, _: *const c_void, _: u32) -> u32 {
    // SAFETY: see `host`.
    let frame = unsafe { host(ctx) }.frame.get();
    assert_eq!(frame, 1, "copied out of a frame that is not lent");
    0
}

unsafe extern "C" fn finalize(ctx: *mut c_void, report: *const lnd_report) {
    // SAFETY: see `host`; the library's own report.
    let (host, report) = unsafe { (host(ctx), &*report) };
    host.turn();
    host.reports.borrow_mut().push(report.user);
}

unsafe extern "C" fn event(ctx: *mut c_void, _event: *const lnd_event) {
    // SAFETY: see `host`.
    unsafe { host(ctx) }.turn();
}

unsafe extern "C" fn wake(ctx: *mut c_void) {
    // SAFETY: see `host`.
    // Release: partner is `take_wake`, as a semaphore's would be.
    unsafe { host(ctx) }.woken.store(1, Ordering::Release);
}

unsafe extern "C" fn bug(ctx: *mut c_void, _: *const c_char) {
    // SAFETY: see `host`.
    let host = unsafe { host(ctx) };
    host.bugs.set(host.bugs.get() + 1);
}
