// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The library for an image in C: the C ABI (`lnd.h`), and the hardware in software for a board
//! without (`hw.h`). A real board links the former only.
#![no_std]
#![allow(clippy::missing_safety_doc)]

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::ptr::NonNull;

use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::Instant;
use lnd_dma::memory::LinkMemory;
use lnd_fw::engines::{Engines, Switches, Wires};
use lnd_fw::memory::Window;

pub use lnd_ffi;

/// The engines in their place. State 0: absent; 1: present, no context inside; 2: a context is
/// inside.
struct Hardware {
    engines: UnsafeCell<MaybeUninit<Engines>>,
    state: AtomicU32,
}

// SAFETY: only the context that changes the state from 1 to 2 enters the cell.
unsafe impl Sync for Hardware {}

static HARDWARE: Hardware =
    Hardware { engines: UnsafeCell::new(MaybeUninit::uninit()), state: AtomicU32::new(0) };
static SWITCHES: Switches = Switches::new();

/// C's description of one node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side {
    ring: *mut u8,
    ring_len: usize,
    window: *mut u8,
    window_len: usize,
}

impl Side {
    /// # Safety
    /// The contract of `hw_begin`.
    unsafe fn connect(&self) -> Option<(LinkMemory<'static>, Window)> {
        let ring = NonNull::new(self.ring)?;
        let window = NonNull::new(self.window)?;
        // SAFETY: the library's own, formatted, for ever (contract).
        let memory = unsafe { LinkMemory::attach(ring, self.ring_len) }.ok()?;
        // SAFETY: payload memory, for ever (contract).
        Some((memory, unsafe { Window::over(window, self.window_len) }))
    }
}

/// Connects the engines; 0, or 1 if they are already or the ring memory is not formatted.
///
/// # Safety
/// Both sides' memory stays for ever; the rings were formatted by `lnd_ring_format`.
#[no_mangle]
pub unsafe extern "C" fn hw_begin(a: *const Side, b: *const Side) -> u32 {
    // SAFETY: null or a side (contract).
    let (Some(a), Some(b)) = (unsafe { a.as_ref() }, unsafe { b.as_ref() }) else { return 1 };
    // SAFETY: the caller's contract is the same.
    let a = unsafe { a.connect() };
    // SAFETY: the contract of `connect` is this call's own contract.
    let b = unsafe { b.connect() };
    let (Some((memory_a, window_a)), Some((memory_b, window_b))) = (a, b) else { return 1 };
    // Relaxed: only decides which caller continues; the Release below publishes.
    if HARDWARE.state.compare_exchange(0, 2, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return 1;
    }
    let wires = Wires {
        memories: [memory_a, memory_b],
        windows: [window_a, window_b],
        switches: &SWITCHES,
    };
    // SAFETY: the state was 0 and is 2: no other context is inside.
    unsafe { (*HARDWARE.engines.get()).write(Engines::new(wires)) };
    // Release: partner is the Acquire in `hw_step`.
    HARDWARE.state.store(1, Ordering::Release);
    0
}

/// One step of both engines. Bits: 0 and 1, completions of nodes 0 and 1; 8: step again soon.
#[no_mangle]
pub extern "C" fn hw_step(now: u64) -> u32 {
    // Acquire: partner is the Release below and in `hw_begin`.
    if HARDWARE.state.compare_exchange(1, 2, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return 0;
    }
    // SAFETY: the state was 1 and is 2: no other context is inside.
    let engines = unsafe { &mut *HARDWARE.engines.get() };
    // SAFETY: they were written before the state became 1.
    let engines = unsafe { engines.assume_init_mut() };
    let stepped = engines.step(Instant::from_nanos(now));
    HARDWARE.state.store(1, Ordering::Release);
    stepped.completions | u32::from(stepped.more) << 8
}

/// Holds a node's pulls, or lets them continue.
#[no_mangle]
pub extern "C" fn hw_stall(node: u32, stalled: u32) {
    SWITCHES.stall(node, stalled != 0);
}

/// Requests that a node's engine stop for ever.
#[no_mangle]
pub extern "C" fn hw_kill(node: u32) {
    SWITCHES.kill(node);
}

/// 1 once it has.
#[no_mangle]
pub extern "C" fn hw_is_dead(node: u32) -> u32 {
    u32::from(SWITCHES.is_dead(node))
}

extern "C" {
    /// There is no such function: an image in which anything can panic does not link.
    fn lnd_panic_is_unreachable() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never linked.
    unsafe { lnd_panic_is_unreachable() }
}
