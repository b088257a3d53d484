// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Text that a caller takes in pieces: the checks that all such calls share.

use core::ffi::c_char;

use crate::abi::lnd_error;
use crate::input::{given, place, put, room, value};
use crate::text::Text;

/// Where a caller takes a piece of text.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub cursor: *mut u32,
    pub buf: *mut c_char,
    pub len: usize,
    pub written: *mut usize,
}

/// Checks the places, lets `write` fill the text from the cursor on, and stores how far it came.
/// `write` returns where to continue, and whether that is the end. If it fails, nothing is stored.
///
/// # Safety
/// Each pointer is null or valid for its use: the cursor to be read and written, `len` bytes of the
/// buffer and the number to be written. Nothing else uses them meanwhile.
pub(crate) unsafe fn fill(
    piece: Piece,
    write: impl FnOnce(u32, &mut Text<'_>) -> Result<(u32, bool), lnd_error>,
) -> Result<(), lnd_error> {
    let Piece { cursor, buf, len, written } = piece;
    place(cursor)?;
    place(written)?;
    let mut text = Text::new(given!(room(buf, len))?);
    let (at, end) = write(given!(value(cursor))?, &mut text)?;
    given!(put(cursor, at))?;
    given!(put(written, text.len()))?;
    if end {
        Err(lnd_error::LND_E_END)
    } else {
        Ok(())
    }
}
