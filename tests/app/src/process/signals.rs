// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Signals: an end in good order, and a fabric file that was cut under its users.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;

static STOP: AtomicBool = AtomicBool::new(false);
/// Where the fabric is mapped: its first byte, and one past its last.
static MAPPED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
/// What is said when it is cut.
static CUT: OnceLock<String> = OnceLock::new();

/// From now on SIGINT, SIGTERM and SIGHUP ask for an end in good order; a second one is obeyed at
/// once. Where `nohup` has SIGHUP ignored, it stays ignored.
pub fn catch() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler uses an atomic and `_exit`, which are allowed in a signal handler.
        let before = unsafe { libc::signal(signal, on_stop as *const () as libc::sighandler_t) };
        if signal == libc::SIGHUP && before == libc::SIG_IGN {
            // SAFETY: as it was.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }
}

/// From now on they end the process at once.
pub(super) fn release() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the default action takes the place of our handler; what is ignored stays so.
        let before = unsafe { libc::signal(signal, libc::SIG_DFL) };
        if before == libc::SIG_IGN {
            // SAFETY: as it was.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }
}

/// Whether the end was asked for.
pub fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// From now on the process ends with a message when `length` bytes at `base`, where the file `path`
/// is mapped, are not there any more.
pub(super) fn guard(path: &Path, base: usize, length: usize) {
    let text = format!(
        "lnd: {}: the fabric file was cut, or its file system has failed; stopped\n",
        path.display()
    );
    // One process maps one fabric; a second call is for the same file.
    let _ = CUT.set(text);
    for (word, value) in MAPPED.iter().zip([base, base.saturating_add(length)]) {
        word.store(value, Ordering::Relaxed);
    }
    // SAFETY: all-zero is a valid sigaction.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = on_bus as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the structure outlives the call, and the handler does what is allowed in one.
    unsafe { libc::sigaction(libc::SIGBUS, &action, core::ptr::null_mut()) };
}

extern "C" fn on_stop(_signal: libc::c_int) {
    if STOP.swap(true, Ordering::Relaxed) {
        // SAFETY: allowed in a signal handler.
        unsafe { libc::_exit(1) };
    }
}

extern "C" fn on_bus(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure.
    let info = unsafe { &*info };
    // SAFETY: for SIGBUS it has an address.
    let address = unsafe { info.si_addr() } as usize;
    let [base, end] = [&MAPPED[0], &MAPPED[1]].map(|word| word.load(Ordering::Relaxed));
    match CUT.get() {
        Some(text) if (base..end).contains(&address) => {
            // SAFETY: the text lives for ever; writing is allowed in a signal handler.
            unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
            // SAFETY: allowed in a signal handler.
            unsafe { libc::_exit(1) };
        }
        // Not ours: the access is done again, and its signal is not caught.
        // SAFETY: allowed in a signal handler.
        _ => unsafe {
            libc::signal(libc::SIGBUS, libc::SIG_DFL);
        },
    }
}
