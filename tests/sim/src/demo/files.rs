// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the demonstration sends.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::rng::Rng;

/// A file to send.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is called at the server.
    pub name: String,
    /// Its size when it was found.
    pub size: u64,
    /// Bytes of a message's payload.
    pub chunk: u32,
}

/// Directories that are not looked into: build output and version control.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// Every regular file below `dir`, in order of names; links are not followed.
///
/// # Errors
/// A directory cannot be read.
pub fn collect(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && !left_out {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes a set of files of `total` bytes below `dir`, the same every time: sizes from one byte up,
/// most of the bytes in large files. A set that is there already is used again.
///
/// # Errors
/// Files cannot be written.
pub fn generate(dir: &Path, total: u64) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let mut rng = Rng::new(total);
    let (mut left, mut number) = (total, 0);
    while left > 0 {
        let size = match number % 4 {
            0 => rng.between(1, 300),
            1 => rng.between(3_000, 70_000),
            2 => rng.between(1 << 18, 2 << 20),
            _ => rng.between(8 << 20, 48 << 20),
        };
        let size = size.min(left);
        left -= size;
        let path = dir.join(format!("{number:04}.bin"));
        if fs::metadata(&path).map(|m| m.len()).ok() != Some(size) {
            write_noise(&path, size, &mut rng.fork())?;
        } else {
            rng.fork();
        }
        number += 1;
    }
    Ok(())
}

fn write_noise(path: &Path, size: u64, rng: &mut Rng) -> io::Result<()> {
    let mut file = io::BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut left = size as usize;
    while left > 0 {
        let bytes = rng.next().to_le_bytes();
        let part = left.min(bytes.len());
        file.write_all(&bytes[..part])?;
        left -= part;
    }
    file.flush()
}

/// Gives every file its name at the server and the size of its messages: from one byte to 4 MiB.
pub fn items(root: &str, base: &Path, paths: &[PathBuf], rng: &mut Rng) -> Vec<Item> {
    let mut items = Vec::new();
    for path in paths {
        let Ok(metadata) = fs::metadata(path) else { continue };
        let size = metadata.len();
        let relative = path.strip_prefix(base).unwrap_or(path);
        let name = format!("{root}/{}", relative.to_string_lossy());
        let chunk = match size {
            0..=64 => 1 + rng.below(64) as u32,
            65..=65_536 => 1 << rng.between(9, 16),
            65_537..=1_048_576 => 1 << rng.between(12, 20),
            _ => 1 << rng.between(16, 22),
        };
        items.push(Item { path: path.clone(), name, size, chunk });
    }
    items
}
