// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! QEMU's `virt` board for the script: a serial line, a clock and cables.

use lnd_core::counters::Counters;
use lnd_core::time::Instant;
use lnd_fw::memory::stack_used;
use lnd_fw::print::Text;
use lnd_fw::script::Board;

use crate::console::Console;
use crate::{engines, hart, interrupt};

extern "C" {
    static stack0_end: u32;
    static stack0_start: u32;
    static stack1_end: u32;
    static stack1_start: u32;
}

/// The board.
#[derive(Debug)]
pub struct Virt(());

impl Virt {
    /// The board; it has no state of its own.
    pub const fn new() -> Self {
        Self(())
    }

    /// Prints how much of the stacks was used.
    pub fn stacks(&mut self) {
        let ends = [
            (&raw const stack0_end, &raw const stack0_start),
            (&raw const stack1_end, &raw const stack1_start),
        ];
        for (hart, (end, start)) in (0..).zip(ends) {
            self.text("stack");
            self.field("hart", hart);
            // SAFETY: the linker's own symbols: the two ends of a painted stack.
            let used = unsafe { stack_used(end, start) };
            self.field("used", used);
            self.field("of", (start as usize).wrapping_sub(end as usize) as u32);
            self.text("\n");
        }
    }
}

impl Text for Virt {
    fn text(&mut self, text: &str) {
        Console.text(text);
    }
}

impl Board for Virt {
    fn now(&mut self) -> Instant {
        Instant::from_nanos(hart::nanoseconds())
    }

    fn sleep(&mut self, until: Instant) {
        interrupt::sleep(until);
    }

    fn cable(&mut self, node: u32, plugged: bool) {
        engines::cable(node, plugged);
        if !plugged {
            interrupt::link_failed(node);
        }
    }

    fn stall(&mut self, node: u32, stalled: bool) {
        engines::stall(node, stalled);
    }

    fn kill(&mut self, node: u32) {
        engines::kill(node);
    }

    fn interrupts(&mut self, node: u32) -> (Counters, u32) {
        interrupt::counted(node as usize)
    }
}
