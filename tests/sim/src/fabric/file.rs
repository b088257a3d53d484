// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The file under a fabric: made without a name, with room on the disk, and locked.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Error, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::OpenError;
use crate::runtime::random_word;

/// A file that is being made: without a name where the file system can do that. Dropped before it
/// [has one](Self::name), it is gone.
#[derive(Debug)]
pub(super) struct Fresh {
    file: File,
    temporary: Option<PathBuf>,
}

impl Fresh {
    /// A file that will lie at `path`.
    ///
    /// # Errors
    /// What the file system says.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true);
        let unnamed = options.clone().custom_flags(libc::O_TMPFILE).open(directory(path));
        match unnamed {
            Ok(file) => Ok(Self { file, temporary: None }),
            Err(error) if cannot_do_without_a_name(&error) => {
                let temporary = temporary(path);
                let file = options.create_new(true).open(&temporary)?;
                Ok(Self { file, temporary: Some(temporary) })
            }
            Err(error) => Err(error),
        }
    }

    /// The file.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`], or what the file system says.
    pub fn name(self, path: &Path) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            return fs::hard_link(temporary, path);
        }
        let from = CString::new(format!("/proc/self/fd/{}", self.file.as_raw_fd()))?;
        let to = CString::new(path.as_os_str().as_bytes())?;
        let (at, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        // SAFETY: both are strings that end with a zero byte and outlive the call.
        let done = unsafe { libc::linkat(at, from.as_ptr(), at, to.as_ptr(), follow) };
        if done == 0 {
            Ok(())
        } else {
            Err(Error::last_os_error())
        }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

fn cannot_do_without_a_name(error: &Error) -> bool {
    // Old kernels open the directory itself, which cannot be written.
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL))
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    }
}

/// A name beside `path` that no other process has, nor another call.
pub(super) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (pid, random) = (std::process::id(), random_word());
    directory(path).join(format!(".{name}.{pid}-{random:08x}.new"))
}

/// Takes the lock that all who map a fabric's file share.
///
/// # Errors
/// [`OpenError::Locked`] if another program has it for itself.
pub(super) fn lock_shared(file: &File) -> Result<(), OpenError> {
    // SAFETY: the descriptor is open.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) } == 0 {
        return Ok(());
    }
    match Error::last_os_error() {
        error if error.kind() == ErrorKind::WouldBlock => Err(OpenError::Locked),
        error => Err(error.into()),
    }
}

/// Takes the lock for this process alone, in place of the shared one. Returns whether it could.
pub(super) fn lock_alone(file: &File) -> bool {
    // SAFETY: the descriptor is open.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Reserves room for the first `bytes` bytes of a file that no one has mapped yet.
///
/// # Errors
/// [`OpenError::NoSpace`], or what the file system says.
pub(super) fn reserve_new(file: &File, bytes: u64) -> Result<(), OpenError> {
    if free_bytes(file)?.is_some_and(|free| free < bytes) {
        // A disk is not filled to find out that it is too small.
        return Err(OpenError::NoSpace(bytes));
    }
    let length = i64::try_from(bytes).map_err(|_| OpenError::NoSpace(bytes))?;
    // SAFETY: the descriptor is open.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
        0 => Ok(()),
        libc::ENOSPC | libc::EFBIG | libc::EDQUOT => Err(OpenError::NoSpace(bytes)),
        code => Err(Error::from_raw_os_error(code).into()),
    }
}

/// Reserves what the first `bytes` bytes of a fabric's file lack of room. Its content stays, and
/// other processes may have it mapped.
///
/// # Errors
/// [`OpenError::NoSpace`], [`OpenError::Sparse`], or what the file system says.
pub(super) fn reserve(file: &File, bytes: u64) -> Result<(), OpenError> {
    let length = i64::try_from(bytes).map_err(|_| OpenError::NoSpace(bytes))?;
    let has_room = |blocks: u64| blocks.saturating_mul(512) >= bytes;
    if has_room(file.metadata()?.blocks()) {
        return Ok(());
    }
    // Not posix_fallocate: where the file system cannot reserve, that writes to pages which others
    // use. SAFETY: the descriptor is open.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, length) } == 0 {
        return Ok(());
    }
    let error = Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => Err(OpenError::NoSpace(bytes)),
        // A device's memory, such as a BAR in sysfs, has a header and takes no block of any disk.
        Some(libc::EOPNOTSUPP | libc::ENODEV) if file.metadata()?.blocks() == 0 => Ok(()),
        Some(libc::EOPNOTSUPP | libc::ENODEV) => Err(OpenError::Sparse),
        _ => Err(error.into()),
    }
}

/// Free bytes of a file's file system, if it knows.
///
/// # Errors
/// Those of `fstatvfs`.
pub fn free_bytes(file: &File) -> io::Result<Option<u64>> {
    let mut found = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the descriptor is open, and there is room for the answer.
    if unsafe { libc::fstatvfs(file.as_raw_fd(), found.as_mut_ptr()) } != 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so it is filled.
    let found = unsafe { found.assume_init() };
    // File systems without a size, such as ramfs, have no blocks.
    Ok((found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Mapping, Shape};

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("lnd-fabric-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn shape() -> Shape {
        Shape::new(2, 1, 16, 1 << 20)
    }

    #[test]
    fn all_of_a_fabric_has_room_on_the_disk() {
        let scratch = Scratch::new("room");
        let path = scratch.0.join("f");
        let bytes = shape().bytes_needed() as u64;
        Mapping::create(&path, shape(), bytes.next_power_of_two()).unwrap();
        let found = fs::metadata(&path).unwrap();
        assert_eq!(found.len(), bytes.next_power_of_two());
        assert!(found.blocks() * 512 >= bytes);
        // A hole in it, as a copy may have: it gets its room before it is used.
        let copy = File::options().write(true).open(&path).unwrap();
        let hole = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (at, length) = (bytes as i64 - (1 << 20), 1 << 20);
        // SAFETY: the descriptor is open.
        assert_eq!(unsafe { libc::fallocate(copy.as_raw_fd(), hole, at, length) }, 0);
        assert!(fs::metadata(&path).unwrap().blocks() * 512 < bytes);
        Mapping::open(&path).unwrap();
        assert!(fs::metadata(&path).unwrap().blocks() * 512 >= bytes);
    }

    #[test]
    fn more_than_the_file_system_has_is_refused_before_anything_is_taken() {
        let scratch = Scratch::new("much");
        let path = scratch.0.join("f");
        let free = free_bytes(&File::open(&scratch.0).unwrap()).unwrap().unwrap();
        let window = (free / 2).next_multiple_of(4096) + (1 << 20);
        let refused = Mapping::create(&path, Shape { window, ..shape() }, 0).unwrap_err();
        assert!(matches!(refused, OpenError::NoSpace(bytes) if bytes > free), "{refused}");
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn a_fabric_is_locked_while_it_is_mapped() {
        let scratch = Scratch::new("lock");
        let path = scratch.0.join("f");
        let mapping = Mapping::file(&path, shape()).unwrap();
        drop(Mapping::open(&path).unwrap());
        let other = File::open(&path).unwrap();
        // SAFETY: the descriptor is open.
        let exclusive = || unsafe { libc::flock(other.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
        assert_ne!(exclusive(), 0, "in use");
        drop(mapping);
        assert_eq!(exclusive(), 0);
        assert!(matches!(Mapping::open(&path), Err(OpenError::Locked)));
    }

    #[test]
    fn a_file_that_was_cut_is_refused() {
        let scratch = Scratch::new("cut");
        let path = scratch.0.join("f");
        drop(Mapping::file(&path, shape()).unwrap());
        let bytes = shape().bytes_needed() as u64;
        for left in [bytes - 1, 1 << 20, 4096] {
            File::options().write(true).open(&path).unwrap().set_len(left).unwrap();
            let refused = Mapping::open(&path).unwrap_err().to_string();
            let wanted = format!("has {left} bytes, needs {bytes}");
            assert!(refused.contains(&wanted), "{refused}");
        }
    }

    /// What a file system without unnamed files leaves, if the process is killed, is in no other's
    /// way.
    #[test]
    fn a_file_with_a_temporary_name_becomes_the_fabric_and_leaves_none() {
        let scratch = Scratch::new("named");
        let path = scratch.0.join("f");
        let make = || {
            let temporary = temporary(&path);
            let file = File::options().write(true).create_new(true).open(&temporary).unwrap();
            Fresh { file, temporary: Some(temporary) }
        };
        make().name(&path).unwrap();
        assert_eq!(make().name(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        drop(make());
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
    }
}
