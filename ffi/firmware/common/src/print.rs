// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Text without `core::fmt`, which is larger than everything else in these images.

use crate::log::Log;

/// The output: a serial line, or the debugger.
pub trait Text {
    /// Writes characters.
    fn text(&mut self, text: &str);

    /// Writes a number in decimal.
    fn number(&mut self, number: u32) {
        let mut divisor = 1_000_000_000;
        let mut begun = false;
        while divisor > 0 {
            let digit = number / divisor % 10;
            begun |= digit > 0 || divisor == 1;
            if begun {
                self.digit(digit);
            }
            divisor /= 10;
        }
    }

    /// Writes a signed number in decimal.
    fn signed(&mut self, number: i32) {
        if number < 0 {
            self.text("-");
        }
        self.number(number.unsigned_abs());
    }

    /// Writes a byte as two hexadecimal digits.
    fn byte(&mut self, byte: u8) {
        self.digit(u32::from(byte >> 4));
        self.digit(u32::from(byte & 15));
    }

    /// Writes one hexadecimal digit.
    fn digit(&mut self, digit: u32) {
        let digits = "0123456789abcdef";
        let at = (digit & 15) as usize;
        if let Some(digit) = digits.get(at..at + 1) {
            self.text(digit);
        }
    }

    /// Writes a name and a number after a space.
    fn field(&mut self, name: &str, number: u32) {
        self.text(" ");
        self.text(name);
        self.text(" ");
        self.number(number);
    }

    /// Writes a log, 32 bytes a line, and the number of overwritten records.
    fn log<const N: usize>(&mut self, log: &Log<N>)
    where
        Self: Sized,
    {
        let mut column = 0;
        for byte in log.bytes() {
            if column == 0 {
                self.text("trace ");
            }
            self.byte(byte);
            column += 1;
            if column == 32 {
                self.text("\n");
                column = 0;
            }
        }
        if column > 0 {
            self.text("\n");
        }
        self.text("trace end");
        self.field("lost", log.lost());
        self.text("\n");
    }
}
