// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The serial line, and the end of the machine.

use lnd_fw::print::Text;

use crate::hart;

const SERIAL: usize = 0x1000_0000;
/// SiFive's test device: a word that ends the machine, with a status.
const TEST: usize = 0x0010_0000;
const PASS: u32 = 0x5555;
const FAIL: u32 = 0x3333 | 1 << 16;

/// The serial line; it has no state of its own. Context: any of hart 0.
#[derive(Debug)]
pub struct Console;

impl Console {
    /// Reports an unexpected trap.
    pub fn fault(&mut self, cause: u32) -> ! {
        self.text("wrong: trap ");
        self.number(cause);
        self.text("\n");
        self.end(false)
    }

    /// Ends the machine with a status for the host.
    pub fn end(&mut self, good: bool) -> ! {
        self.text(if good { "end: good\n" } else { "end: bad\n" });
        // SAFETY: the test device; no code runs after it.
        unsafe { hart::write(TEST, if good { PASS } else { FAIL }) };
        loop {
            hart::wait();
        }
    }
}

impl Text for Console {
    fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            // SAFETY: the transmit register of a 16550; QEMU's is always ready.
            unsafe { hart::write_byte(SERIAL, byte) };
        }
    }
}
