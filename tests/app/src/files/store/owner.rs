// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The lock by which a directory has one store at a time.

use std::fs::File;
use std::io::{self, Error, ErrorKind, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::OWNER;

/// Bytes of an owner's name that are read.
const NAME_MAX: u64 = 200;

/// The right to write to a directory: a lock of an open file description on a file in it, which
/// says whose it is. The kernel takes the lock back when the process ends.
#[derive(Debug)]
pub(super) struct Owner {
    file: File,
    path: PathBuf,
}

/// The first byte of the lock file, to be locked for writing.
fn first_byte() -> libc::flock {
    // SAFETY: all-zero is a valid flock structure: the lock of all bytes from the first on.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as i16;
    lock.l_whence = libc::SEEK_SET as i16;
    lock.l_len = 1;
    lock
}

/// Whose a directory is now, by the lock in it; `None` if it is no one's. Asking takes no lock, so
/// it is in the way of no one who wants the directory.
///
/// # Errors
/// What the file system says.
pub(super) fn owner_of(directory: &Path) -> io::Result<Option<String>> {
    let mut options = File::options();
    // A FIFO of this name is no lock file, and is not waited for.
    let options = options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = match options.open(directory.join(OWNER)) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut lock = first_byte();
    // SAFETY: the descriptor is open, and the structure outlives the call.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) } != 0 {
        return Err(Error::last_os_error());
    }
    Ok((i32::from(lock.l_type) != libc::F_UNLCK).then(|| signature(file)))
}

/// Refuses a directory that lies within one which has an owner. The directory need not be there.
/// What cannot be seen from below is not found: a directory that cannot be read, or that lies
/// elsewhere by a mount.
///
/// # Errors
/// [`ErrorKind::WouldBlock`] with the directory above and its owner's name, or what the file system
/// says.
pub(super) fn check_above(root: &Path) -> io::Result<()> {
    let root = std::path::absolute(root)?;
    let Some(there) = root.ancestors().find(|above| above.exists()) else { return Ok(()) };
    let own = usize::from(there == root);
    for above in there.canonicalize()?.ancestors().skip(own) {
        if let Ok(Some(owner)) = owner_of(above) {
            let text = format!("lies within {}, in use by {owner}", above.display());
            return Err(Error::new(ErrorKind::WouldBlock, text));
        }
    }
    Ok(())
}

/// The name in a lock file; for messages only.
fn signature(file: File) -> String {
    let mut owner = String::new();
    let _ = file.take(NAME_MAX).read_to_string(&mut owner);
    if owner.is_empty() {
        "another process".into()
    } else {
        owner.trim_end().into()
    }
}

impl Owner {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] with the owner's name if there is an owner, or what the file
    /// system says.
    pub fn of(root: &Path, name: &str) -> io::Result<Self> {
        let path = root.join(OWNER);
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.custom_flags(libc::O_NOFOLLOW).open(&path)?;
        let lock = first_byte();
        // SAFETY: the descriptor is open, and the structure outlives the call.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) } != 0 {
            let error = Error::last_os_error();
            if !matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) {
                return Err(error);
            }
            let owner = signature(file);
            let text = format!("in use by {owner}; a directory has one server at a time");
            return Err(Error::new(ErrorKind::WouldBlock, text));
        }
        let this = Self { file, path };
        if !this.holds()? {
            return Err(Error::new(ErrorKind::ResourceBusy, "the lock file was replaced"));
        }
        this.sign(name)?;
        Ok(this)
    }

    /// Whether the lock file is the one that is locked: a directory whose lock file was removed, or
    /// that was made again itself, may have another owner.
    ///
    /// # Errors
    /// What the file system says.
    pub fn holds(&self) -> io::Result<bool> {
        match std::fs::symlink_metadata(&self.path) {
            Ok(found) => {
                let ours = self.file.metadata()?;
                Ok((ours.dev(), ours.ino()) == (found.dev(), found.ino()))
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn sign(&self, name: &str) -> io::Result<()> {
        let mut file = &self.file;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(name.as_bytes())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // The name of an owner that is gone is worth nothing; the lock ends with the descriptor.
        let _ = self.file.set_len(0);
    }
}
