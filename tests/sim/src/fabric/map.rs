// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The memory under a fabric: a file, or memory of this process alone.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::ptr::NonNull;
use std::{fmt, io};

use lnd_core::sync::{AtomicU32, Ordering};
use memmap2::{MmapOptions, MmapRaw};

use super::layout::{Shape, ShapeError};
use super::{Fabric, MAGIC, VERSION};

/// A fabric that cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The file cannot be opened, grown or mapped.
    Io(io::Error),
    /// Not a fabric: another magic number.
    Foreign,
    /// A fabric of another version.
    Version(u32),
    /// The header's numbers do not fit its check: the file is damaged.
    Damaged,
    /// Impossible numbers.
    Shape(ShapeError),
    /// The file is shorter than its header says.
    TooSmall {
        /// Bytes there are.
        have: usize,
        /// Bytes there should be.
        need: usize,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Foreign => f.write_str("not a fabric file (wrong magic number)"),
            Self::Version(v) => write!(f, "fabric version {v}, this program speaks {VERSION}"),
            Self::Damaged => f.write_str("fabric header is damaged (check does not match)"),
            Self::Shape(error) => write!(f, "fabric header makes no sense: {error:?}"),
            Self::TooSmall { have, need } => {
                write!(f, "fabric file has {have} bytes and needs {need}")
            }
        }
    }
}

impl std::error::Error for OpenError {}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Mapped memory, shared with whoever maps the same file.
#[derive(Debug)]
pub struct Mapping {
    map: MmapRaw,
    file: Option<File>,
}

impl Mapping {
    /// Memory of this process alone.
    ///
    /// # Errors
    /// There is not enough.
    pub fn anonymous(bytes: usize) -> io::Result<Self> {
        let map = MmapOptions::new().len(bytes).map_anon()?;
        Ok(Self { map: map.into(), file: None })
    }

    /// A file; made with `shape` if there is none, else checked.
    ///
    /// # Errors
    /// [`OpenError`]. A file that exists is never changed by this call.
    pub fn file(path: &Path, shape: Shape) -> Result<Self, OpenError> {
        shape.check().map_err(OpenError::Shape)?;
        // Made under another name and then linked, so that nobody ever sees half a fabric.
        if !path.exists() {
            let temporary = path.with_extension(format!("new-{}", std::process::id()));
            let file =
                OpenOptions::new().read(true).write(true).create_new(true).open(&temporary)?;
            file.set_len(shape.bytes_needed() as u64)?;
            let mapping = Self { map: MmapOptions::new().map_raw(&file)?, file: Some(file) };
            let made = Fabric::format(&mapping, shape).map(|_| ());
            let linked = made.and_then(|()| match std::fs::hard_link(&temporary, path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                other => other.map_err(OpenError::Io),
            });
            std::fs::remove_file(&temporary)?;
            linked?;
        }
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let length = file.metadata()?.len();
        if length < 4096 {
            return Err(OpenError::Foreign);
        }
        let mapping = Self { map: MmapOptions::new().map_raw(&file)?, file: Some(file) };
        Fabric::attach(&mapping)?;
        Ok(mapping)
    }

    /// The file, if there is one.
    pub const fn backing(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Bytes mapped.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the shape out of the header.
    pub(super) fn probe(&self) -> Result<Shape, OpenError> {
        if self.len() < 4096 {
            return Err(OpenError::Foreign);
        }
        // Acquire: partner is the Release in `Fabric::format`.
        let magic = self.word(0).load(Ordering::Acquire);
        if [magic, self.word(4).load(Ordering::Relaxed)] != MAGIC {
            return Err(OpenError::Foreign);
        }
        let version = self.word(8).load(Ordering::Relaxed);
        if version != VERSION {
            return Err(OpenError::Version(version));
        }
        let mut words = [0; 11];
        for (at, word) in words.iter_mut().enumerate() {
            *word = self.word(16 + at * 4).load(Ordering::Relaxed);
        }
        let shape = Shape::from_words(words);
        if self.word(12).load(Ordering::Relaxed) != shape.digest() {
            return Err(OpenError::Damaged);
        }
        shape.check().map_err(OpenError::Shape)?;
        Ok(shape)
    }

    /// The word at a byte offset that the layout gives.
    pub(super) fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4), "layout: offset {offset}");
        // SAFETY: `place` has checked the bounds; aligned; an atomic is valid for every bit
        // pattern, and everybody accesses these bytes through atomics.
        unsafe { self.place(offset, 4).cast().as_ref() }
    }

    /// Where `len` bytes at a byte offset lie.
    pub(super) fn place(&self, offset: usize, len: usize) -> NonNull<u8> {
        assert!(offset.checked_add(len).is_some_and(|end| end <= self.len()), "layout: bounds");
        // SAFETY: within the mapping, just checked.
        let place = unsafe { self.map.as_mut_ptr().add(offset) };
        // SAFETY: a mapping is never at address zero.
        unsafe { NonNull::new_unchecked(place) }
    }
}
