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

/// The right to write to a directory: a lock (`flock`) on a file in it, which says whose it is. The
/// kernel takes the lock back when the process ends.
#[derive(Debug)]
pub(super) struct Owner {
    file: File,
    path: PathBuf,
}

impl Owner {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] with the owner's name if there is an owner, or what the file system
    /// says.
    pub fn of(root: &Path, name: &str) -> io::Result<Self> {
        let path = root.join(OWNER);
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.custom_flags(libc::O_NOFOLLOW).open(&path)?;
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            let error = Error::last_os_error();
            if error.kind() != ErrorKind::WouldBlock {
                return Err(error);
            }
            let mut owner = String::new();
            // The name is for the message only.
            let _ = file.take(NAME_MAX).read_to_string(&mut owner);
            let owner = if owner.is_empty() { "another process" } else { owner.trim_end() };
            let text = format!("in use by {owner}; a directory has one server at a time");
            return Err(Error::new(ErrorKind::WouldBlock, text));
        }
        let this = Self { file, path };
        this.check()?;
        this.sign(name)?;
        Ok(this)
    }

    /// Checks that the lock file is the one that is locked: a directory that was removed and made
    /// again may have another owner.
    ///
    /// # Errors
    /// [`ErrorKind::ResourceBusy`], or what the file system says.
    pub fn check(&self) -> io::Result<()> {
        let (ours, found) = (self.file.metadata()?, std::fs::symlink_metadata(&self.path)?);
        if (ours.dev(), ours.ino()) == (found.dev(), found.ino()) {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::ResourceBusy, "the lock file was replaced"))
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
