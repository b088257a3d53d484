// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The processor: interrupts on and off, the generic timer, the interrupt controller (GIC-400), and
//! the debugger's end of the line (semihosting).

use core::arch::asm;
use core::ptr::with_exposed_provenance_mut;

/// Distributor and processor interface.
const GICD: usize = 0xf901_0000;
const GICC: usize = 0xf902_0000;
/// The virtual timer's interrupt.
pub const TIMER: u32 = 27;
/// The software interrupt for completions and failed links.
pub const COMPLETIONS: u32 = 1;
/// Nanoseconds per tick: the board's counter runs at 100 MHz, a few ppm less.
const TICK: u64 = 10;

fn write(address: usize, value: u32) {
    // SAFETY: only called with registers of the interrupt controller, which touches no memory.
    unsafe { with_exposed_provenance_mut::<u32>(address).write_volatile(value) };
}

fn read(address: usize) -> u32 {
    // SAFETY: only called with registers of the interrupt controller, which touches no memory.
    unsafe { with_exposed_provenance_mut::<u32>(address).read_volatile() }
}

/// Enables an interrupt.
pub fn enable(interrupt: u32) {
    let (word, bit) = (interrupt as usize / 32 * 4, 1 << (interrupt % 32));
    write(GICD + 0x100 + word, bit);
    // Shared interrupts go to core 0: a byte each.
    let place = GICD + 0x800 + interrupt as usize / 4 * 4;
    write(place, read(place) | 1 << (interrupt % 4 * 8));
}

/// Enables the controller: every priority, the timer, and our own software interrupt.
pub fn begin() {
    write(GICC + 0x4, 0xff);
    write(GICC, 1);
    write(GICD, 1);
    enable(COMPLETIONS);
    enable(TIMER);
}

/// The interrupt to serve.
pub fn acknowledge() -> u32 {
    read(GICC + 0xc)
}

/// Marks an interrupt as served.
pub fn served(interrupt: u32) {
    write(GICC + 0x10, interrupt);
}

/// Raises our own software interrupt.
pub fn signal() {
    // SAFETY: a barrier: earlier writes are visible in the handler.
    unsafe { asm!("dsb sy") };
    write(GICD + 0xf00, 2 << 24 | COMPLETIONS);
}

/// Runs `act` with interrupts off, and enables them afterwards if they were on.
pub fn masked<R>(act: impl FnOnce() -> R) -> R {
    let before: u64;
    // SAFETY: interrupts are masked; nothing else changes.
    unsafe { asm!("mrs {}, daif", "msr daifset, #2", out(reg) before) };
    let result = act();
    // SAFETY: the flags that were read above: nothing else changes.
    unsafe { asm!("msr daif, {}", in(reg) before) };
    result
}

/// Enables interrupts.
pub fn unmask() {
    // SAFETY: the vectors are installed, and so is the handler's state.
    unsafe { asm!("msr daifclr, #2") };
}

/// Nanoseconds since the machine started.
pub fn nanoseconds() -> u64 {
    let ticks: u64;
    // SAFETY: the counter.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks) };
    ticks.saturating_mul(TICK)
}

/// Sets the timer's interrupt; `None` disables it.
pub fn alarm(nanoseconds: Option<u64>) {
    let at = nanoseconds.map_or(u64::MAX, |n| (n / TICK).saturating_add(1));
    let on = u64::from(nanoseconds.is_some());
    // SAFETY: the timer's compare and control registers.
    unsafe { asm!("msr cntv_cval_el0, {}", "msr cntv_ctl_el0, {}", "isb", in(reg) at, in(reg) on) };
}

/// Sleeps until an interrupt is pending, taken or not.
pub fn wait() {
    // SAFETY: only time passes.
    unsafe { asm!("dsb sy", "wfi") };
}

fn debugger(operation: u64, parameter: u64) {
    // SAFETY: the debugger reads what `parameter` points to, which the callers keep alive.
    unsafe { asm!("hlt #0xf000", inout("x0") operation => _, in("x1") parameter) };
}

/// Writes text to the debugger's console.
pub fn say(text: &str) {
    for part in text.as_bytes().chunks(63) {
        let mut line = [0_u8; 64];
        for (to, from) in line.iter_mut().zip(part) {
            *to = *from;
        }
        // SYS_WRITE0: up to a zero.
        debugger(0x04, line.as_ptr() as usize as u64);
    }
}

/// Ends the machine with a status for the host.
pub fn end(status: u64) -> ! {
    // SYS_EXIT, "the application ends", and its status.
    let block = [0x2_0026_u64, status];
    debugger(0x18, block.as_ptr() as usize as u64);
    loop {
        wait();
    }
}
