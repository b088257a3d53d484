// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The memory under a fabric: a file, or memory of this process alone.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::{fmt, io};

use lnd_soft::{AttachError, SharedRegion};
use memmap2::{Advice, MmapOptions, MmapRaw};

use super::file::{self, Fresh};
use super::{Fabric, Shape};

/// A fabric that cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The file cannot be opened, grown or mapped.
    Io(io::Error),
    /// It is no fabric, or cannot become one.
    Fabric(AttachError),
    /// The file has this many bytes, fewer than every fabric.
    Short(u64),
    /// The file system has no room for this many bytes.
    NoSpace(u64),
    /// Another program has locked the file for itself.
    Locked,
    /// Parts of the file take no room on the disk, and the file system cannot reserve it.
    Sparse,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Fabric(AttachError::Foreign) => {
                f.write_str("not a fabric file (wrong magic number)")
            }
            Self::Fabric(error) => write!(f, "{error}"),
            Self::Short(bytes) => {
                write!(f, "not a fabric file (has {bytes} bytes, fewer than every fabric)")
            }
            Self::NoSpace(bytes) => {
                let mib = bytes.div_ceil(1 << 20);
                write!(f, "no space left: the fabric takes {mib} MiB of this file system")
            }
            Self::Locked => f.write_str("locked by another program"),
            Self::Sparse => {
                f.write_str("sparse: parts of it have no room on the disk; make it anew")
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

impl From<AttachError> for OpenError {
    fn from(error: AttachError) -> Self {
        Self::Fabric(error)
    }
}

/// Mapped memory, shared with every process that maps the same file.
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
        // A first touch of each small page would cost a simulated run more than all its copies.
        // Where the system has no large pages, small ones do.
        let _ = map.advise(Advice::HugePage);
        Ok(Self { map: map.into(), file: None })
    }

    /// A file; made with `shape` if there is none, else checked.
    ///
    /// # Errors
    /// [`OpenError`]. The content of a file that exists is never changed by this call.
    pub fn file(path: &Path, shape: Shape) -> Result<Self, OpenError> {
        Ok(Self::made_or_found(path, shape)?.0)
    }

    /// As [`file`](Self::file), and whether it was made by this call.
    ///
    /// # Errors
    /// As for [`file`](Self::file).
    pub fn made_or_found(path: &Path, shape: Shape) -> Result<(Self, bool), OpenError> {
        let mut made = false;
        if !path.exists() {
            match Self::create(path, shape, shape.bytes_needed() as u64) {
                // Another process was faster.
                Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => {
                    other?;
                    made = true;
                }
            }
        }
        Ok((Self::open(path)?, made))
    }

    /// Removes the file at `path`, if it is this one and no other process uses it. It cannot be
    /// removed from under another: that would have to lock it first.
    pub fn remove_unused(&self, path: &Path) {
        let Some(file) = &self.file else { return };
        let found = (file.metadata(), path.symlink_metadata());
        let (Ok(ours), Ok(there)) = found else { return };
        if (ours.dev(), ours.ino()) == (there.dev(), there.ino()) && file::lock_alone(file) {
            // What cannot be removed stays, as a fabric that can be used.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Makes a fabric file of `bytes` bytes. The fabric's own bytes are reserved on the file
    /// system. The file has no name until the fabric is whole, so that no other process sees half
    /// of one, and a process that is killed leaves nothing.
    ///
    /// # Errors
    /// [`OpenError`]; a file that exists is left alone.
    pub fn create(path: &Path, shape: Shape, bytes: u64) -> Result<(), OpenError> {
        let needed = shape.offsets().map_err(AttachError::Shape)?.end as u64;
        if path.symlink_metadata().is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
        }
        let fresh = Fresh::beside(path)?;
        file::reserve_new(fresh.file(), needed)?;
        fresh.file().set_len(bytes)?;
        let mapping = Self { map: MmapOptions::new().map_raw(fresh.file())?, file: None };
        Fabric::format(&mapping, shape)?;
        Ok(fresh.name(path)?)
    }

    /// The name of a fabric's file while it is made, on file systems that cannot make a file
    /// without a name: another one each time.
    pub fn temporary(path: &Path) -> PathBuf {
        file::temporary(path)
    }

    /// A file that is a fabric, held by a shared lock (`flock`) for as long as it is mapped.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let file = File::options().read(true).write(true).open(path)?;
        file::lock_shared(&file)?;
        // Before it is mapped: what has no room on the disk must not be touched.
        file::reserve(&file, bytes_needed(&file)?)?;
        let mapping = Self { map: MmapOptions::new().map_raw(&file)?, file: Some(file) };
        Fabric::attach(&mapping)?;
        Ok(mapping)
    }

    /// Whether the file at `path` is a fabric. It is read, and neither mapped nor locked.
    pub fn is_fabric(path: &Path) -> bool {
        File::open(path).is_ok_and(|file| bytes_needed(&file).is_ok())
    }

    /// The file, if there is one.
    pub const fn backing(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Bytes mapped.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Where it is mapped.
    pub fn address(&self) -> usize {
        self.map.as_ptr() as usize
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory as a fabric's region.
    pub(super) fn region(&self) -> SharedRegion<'_> {
        let base = NonNull::new(self.map.as_mut_ptr());
        // SAFETY: mapped for as long as `self` lives, initialised as pages are, and no thread in
        // this process knows the address but what is made of this region.
        let region = base.and_then(|base| unsafe { SharedRegion::new(base, self.len()) });
        match region {
            Some(region) => region,
            None => unreachable!("mappings begin at pages and never at zero"),
        }
    }
}

/// Bytes of the fabric in a file, by its header.
fn bytes_needed(file: &File) -> Result<u64, OpenError> {
    use std::os::unix::fs::FileExt;

    #[repr(C, align(4096))]
    struct Page([u8; 4096]);

    let mut page = Page([0; 4096]);
    let have = file.metadata()?.len();
    if have < size_of::<Page>() as u64 {
        return Err(OpenError::Short(have));
    }
    file.read_exact_at(&mut page.0, 0)?;
    let length = page.0.len();
    // SAFETY: initialised memory of this function, used by nothing else, longer than the region.
    let region = unsafe { SharedRegion::new(NonNull::from(&mut page).cast(), length) };
    let region = region.ok_or(AttachError::Foreign)?;
    // A fabric is longer than its first page, and a sound header says how long.
    match lnd_soft::SoftFabric::attach(region) {
        Err(AttachError::TooSmall { need, .. }) if need as u64 <= have => Ok(need as u64),
        Err(AttachError::TooSmall { need, .. }) => {
            let have = usize::try_from(have).unwrap_or(usize::MAX);
            Err(AttachError::TooSmall { have, need }.into())
        }
        Err(error) => Err(error.into()),
        Ok(_) => Err(AttachError::Foreign.into()),
    }
}
