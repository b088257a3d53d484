// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Writes text into a caller's buffer, whole lines only. `core::fmt` can panic; this cannot.

use core::mem::MaybeUninit;

/// A buffer while it is filled.
#[derive(Debug)]
pub(crate) struct Text<'b> {
    buffer: &'b mut [MaybeUninit<u8>],
    /// Bytes of whole lines.
    kept: usize,
    /// Bytes written; those beyond `kept` are an unfinished line.
    at: usize,
    full: bool,
}

impl<'b> Text<'b> {
    pub fn new(buffer: &'b mut [MaybeUninit<u8>]) -> Self {
        Self { buffer, kept: 0, at: 0, full: false }
    }

    /// Bytes of whole lines.
    pub const fn len(&self) -> usize {
        self.kept
    }

    /// Ends a line. Returns whether it fits; a line that does not is removed.
    pub fn end_line(&mut self) -> bool {
        self.str("\n");
        let fits = !self.full;
        if fits {
            self.kept = self.at;
        }
        self.at = self.kept;
        self.full = false;
        fits
    }

    pub fn str(&mut self, text: &str) -> &mut Self {
        text.bytes().for_each(|byte| self.byte(byte));
        self
    }

    /// The same in lower case.
    pub fn lower(&mut self, text: &str) -> &mut Self {
        text.bytes().for_each(|byte| self.byte(byte.to_ascii_lowercase()));
        self
    }

    fn byte(&mut self, byte: u8) {
        match self.buffer.get_mut(self.at) {
            Some(place) => {
                place.write(byte);
                self.at += 1;
            }
            None => self.full = true,
        }
    }

    pub fn dec(&mut self, number: u64) -> &mut Self {
        let mut power = 1_u64;
        while number / 10 >= power {
            power = power.wrapping_mul(10);
        }
        while power > 0 {
            self.digit((number / power.max(1) % 10) as u8);
            power /= 10;
        }
        self
    }

    pub fn hex(&mut self, number: u64) -> &mut Self {
        self.str("0x");
        let digits = (67 - (number | 1).leading_zeros()) / 4;
        for place in (0..digits).rev() {
            self.digit((number >> (4 * (place & 15)) & 15) as u8);
        }
        self
    }

    fn digit(&mut self, digit: u8) {
        let digit = [if digit < 10 { b'0' + digit } else { b'a' - 10 + digit }];
        self.str(core::str::from_utf8(&digit).unwrap_or("?"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;

    fn text_of(buffer: &[MaybeUninit<u8>]) -> String {
        // SAFETY: the callers pass only bytes that have been written.
        let bytes = buffer.iter().map(|byte| unsafe { byte.assume_init() });
        String::from_utf8(bytes.collect()).unwrap()
    }

    fn written(write: impl FnOnce(&mut Text<'_>)) -> String {
        let mut buffer = [MaybeUninit::uninit(); 64];
        let mut text = Text::new(&mut buffer);
        write(&mut text);
        assert!(text.end_line());
        let len = text.len();
        text_of(&buffer[..len - 1])
    }

    #[test]
    fn numbers_are_written_as_by_everybody() {
        let numbers =
            [0, 1, 9, 10, 11, 15, 16, 99, 100, 101, 255, 256, 1 << 32, u64::MAX - 1, u64::MAX];
        for number in numbers {
            let dec = written(|text| {
                text.dec(number);
            });
            let hex = written(|text| {
                text.hex(number);
            });
            assert_eq!((dec, hex), (format!("{number}"), format!("{number:#x}")));
        }
    }

    #[test]
    fn a_line_is_whole_or_not_there() {
        let mut buffer = [MaybeUninit::uninit(); 8];
        let mut text = Text::new(&mut buffer);
        text.str("abc");
        assert!(text.end_line());
        text.str("defg");
        assert!(!text.end_line());
        text.str("def");
        assert!(text.end_line());
        assert_eq!(text.len(), 8);
        assert_eq!(text_of(&buffer), "abc\ndef\n");
    }
}
