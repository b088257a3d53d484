// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The memory under a fabric: a file, or memory of this process alone.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::ptr::NonNull;
use std::{fmt, io};

use lnd_soft::{AttachError, Region};
use memmap2::{MmapOptions, MmapRaw};

use super::{Fabric, Shape};

/// A fabric that cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The file cannot be opened, grown or mapped.
    Io(io::Error),
    /// It is no fabric, or cannot become one.
    Fabric(AttachError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Fabric(AttachError::Foreign) => {
                f.write_str("not a fabric file (wrong magic number)")
            }
            Self::Fabric(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<AttachError> for OpenError {
    fn from(error: AttachError) -> Self {
        Self::Fabric(error)
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
        if !path.exists() {
            match Self::create(path, shape, shape.bytes_needed() as u64) {
                // Somebody else was faster.
                Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
        }
        Self::open(path)
    }

    /// Makes a fabric file of `bytes` bytes. Made under another name and then linked, so that nobody
    /// ever sees half a fabric.
    ///
    /// # Errors
    /// [`OpenError`]; a file that exists is left alone.
    pub fn create(path: &Path, shape: Shape, bytes: u64) -> Result<(), OpenError> {
        shape.offsets().map_err(AttachError::Shape)?;
        let temporary = path.with_extension(format!("new-{}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&temporary)?;
        let made = file.set_len(bytes).map_err(OpenError::Io).and_then(|()| {
            let mapping = Self { map: MmapOptions::new().map_raw(&file)?, file: None };
            Fabric::format(&mapping, shape)?;
            Ok(std::fs::hard_link(&temporary, path)?)
        });
        std::fs::remove_file(&temporary)?;
        made
    }

    /// A file that is a fabric.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        // An empty file cannot be mapped, and is no fabric.
        if file.metadata()?.len() == 0 {
            return Err(AttachError::Foreign.into());
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

    /// The memory as a fabric's region.
    pub(super) fn region(&self) -> Region<'_> {
        let base = NonNull::new(self.map.as_mut_ptr());
        // SAFETY: mapped for as long as `self` lives, initialised as pages are, and nobody in this
        // process knows the address but what is made of this region.
        let region = base.and_then(|base| unsafe { Region::new(base, self.len()) });
        match region {
            Some(region) => region,
            None => unreachable!("mappings begin at pages and never at zero"),
        }
    }
}
