// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files of text that people write: plans, descriptions.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Most bytes of such a file.
const MOST: u64 = 1 << 20;

/// The text of a file, which may also be a device or a pipe without an end.
///
/// # Errors
/// It cannot be read, is no text, or has more than 1 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::new(ErrorKind::InvalidData, "it has more than 1 MiB"));
    }
    // As all of it is there, an error is about its characters.
    bytes.as_slice().read_to_string(&mut text)?;
    Ok(text)
}
