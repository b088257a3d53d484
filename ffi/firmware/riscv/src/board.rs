// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! QEMU's `virt` board as the story needs it: a serial line, a clock, cables, and an end.

use lnd_core::counters::Counters;
use lnd_core::time::Instant;
use lnd_fw::memory::stack_used;
use lnd_fw::print::Text;
use lnd_fw::story::Board;

use crate::{engines, hart, interrupt};

const SERIAL: usize = 0x1000_0000;
/// SiFive's test device: a word that ends the machine, with a status.
const TEST: usize = 0x0010_0000;
const PASS: u32 = 0x5555;
const FAIL: u32 = 0x3333 | 1 << 16;

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

    /// Prints how deep the stacks have been.
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

    /// A trap that nobody expects.
    pub fn fault(&mut self, cause: u32) {
        self.text("wrong: trap ");
        self.number(cause);
        self.text("\n");
        self.end(false)
    }

    /// Ends the machine with a status that the host sees.
    pub fn end(&mut self, good: bool) -> ! {
        self.text(if good { "end: good\n" } else { "end: bad\n" });
        // SAFETY: the test device; nothing of us goes on.
        unsafe { hart::write(TEST, if good { PASS } else { FAIL }) };
        loop {
            hart::wait();
        }
    }
}

impl Text for Virt {
    fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            // SAFETY: the transmit register of a 16550; QEMU's is always ready.
            unsafe { hart::write_byte(SERIAL, byte) };
        }
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
