// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The harts' own registers, and the CLINT: software interrupts and the clock.

use core::arch::asm;
use core::ptr::with_exposed_provenance_mut;

const CLINT: usize = 0x0200_0000;
const TIME_LOW: usize = CLINT + 0xbff8;
const TIME_HIGH: usize = CLINT + 0xbffc;
/// Nanoseconds per tick of the 10 MHz clock.
const TICK: u64 = 100;

/// Reads a device register.
///
/// # Safety
/// There is a register at `address`, and reading it has no effect on memory.
pub unsafe fn read(address: usize) -> u32 {
    // SAFETY: a device register (contract).
    unsafe { with_exposed_provenance_mut::<u32>(address).read_volatile() }
}

/// Writes a device register.
///
/// # Safety
/// There is a register at `address`, and `value` makes it access no memory of the image.
pub unsafe fn write(address: usize, value: u32) {
    // SAFETY: a device register (contract).
    unsafe { with_exposed_provenance_mut::<u32>(address).write_volatile(value) };
}

/// Writes a device register of one byte.
///
/// # Safety
/// As for [`write`].
pub unsafe fn write_byte(address: usize, value: u8) {
    // SAFETY: a device register (contract).
    unsafe { with_exposed_provenance_mut::<u8>(address).write_volatile(value) };
}

/// Raises or clears the software interrupt of a hart. Earlier writes are visible to it.
pub fn signal(hart: usize, raised: bool) {
    // SAFETY: a fence between the memory and the device register.
    unsafe { asm!("fence rw, ow") };
    // SAFETY: the CLINT's word for this hart.
    unsafe { write(CLINT + 4 * hart, u32::from(raised)) };
    // SAFETY: a fence between the device register and the memory.
    unsafe { asm!("fence ow, rw") };
}

/// Nanoseconds since the machine started.
pub fn nanoseconds() -> u64 {
    loop {
        // SAFETY: the CLINT's clock, the upper half.
        let high = unsafe { read(TIME_HIGH) };
        // SAFETY: the lower half.
        let low = unsafe { read(TIME_LOW) };
        // SAFETY: the upper half.
        if unsafe { read(TIME_HIGH) } == high {
            return (u64::from(high) << 32 | u64::from(low)).saturating_mul(TICK);
        }
    }
}

/// Sets hart 0's timer interrupt.
pub fn alarm(nanoseconds: u64) {
    let ticks = (nanoseconds / TICK).saturating_add(1);
    // In an order that shows no earlier time in between.
    // SAFETY: the upper half of hart 0's compare register.
    unsafe { write(CLINT + 0x4004, u32::MAX) };
    // SAFETY: the lower half.
    unsafe { write(CLINT + 0x4000, ticks as u32) };
    // SAFETY: the upper half.
    unsafe { write(CLINT + 0x4004, (ticks >> 32) as u32) };
}

/// Enables hart 0's software and timer interrupts, or disables them.
pub fn interrupts(on: bool) {
    if on {
        // SAFETY: the handler is installed, and so is its state (`interrupt::begin`).
        unsafe { asm!(".option arch, +zicsr", "csrw mie, {}", "csrsi mstatus, 8", in(reg) 0x88) };
    } else {
        // SAFETY: interrupts are only disabled.
        unsafe { asm!(".option arch, +zicsr", "csrci mstatus, 8") };
    }
}

/// Sleeps until an interrupt is pending, taken or not.
pub fn wait() {
    // SAFETY: only time passes.
    unsafe { asm!("wfi") };
}
