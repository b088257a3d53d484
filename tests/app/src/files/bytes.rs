// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Bytes that others may change at any time, by where they lie in this process: payload memory that
//! engines write, and mapped files.
//!
//! There is never a reference to them. They are copied, here or by the kernel, and what was copied
//! is what counts.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};

use super::hash::Hash;

/// Bytes that are copied at a time to be looked at: they stay in the first cache.
const LOOK: usize = 4096;

/// Bytes that others may change.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'m> {
    place: NonNull<u8>,
    length: usize,
    memory: PhantomData<&'m [u8]>,
}

impl<'m> Bytes<'m> {
    /// The `length` bytes at `place`.
    ///
    /// # Safety
    /// They are initialised and may be read for as long as `'m`. Others may write them meanwhile.
    pub const unsafe fn new(place: NonNull<u8>, length: usize) -> Self {
        Self { place, length, memory: PhantomData }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where the byte at `offset` lies; the end if there is none.
    fn at(&self, offset: usize) -> *const u8 {
        // SAFETY: within the bytes, or one past the last.
        unsafe { self.place.as_ptr().add(offset.min(self.length)) }
    }

    /// Copies the bytes behind `offset` out, as many as there are room for. Returns how many.
    pub fn copy_to(&self, offset: usize, into: &mut [u8]) -> usize {
        let count = into.len().min(self.length.saturating_sub(offset));
        // SAFETY: so many bytes may be read there (contract of `new`), and as many written: `into`
        // is ours alone, and if it lies in the same memory the copy minds that.
        unsafe { ptr::copy(self.at(offset), into.as_mut_ptr(), count) };
        count
    }

    /// Adds the bytes to a checksum.
    pub fn hash_into(&self, hash: &mut Hash) {
        let mut look = [0; LOOK];
        for offset in (0..self.length).step_by(LOOK) {
            let count = self.copy_to(offset, &mut look);
            hash.update(&look[..count]);
        }
    }

    /// Writes the bytes to a file.
    ///
    /// # Errors
    /// What the file system says; a part may have been written.
    pub fn write_to(&self, file: &File, offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < self.length {
            let to = offset.checked_add(done as u64).and_then(|to| libc::off_t::try_from(to).ok());
            let to = to.ok_or(io::ErrorKind::FileTooLarge)?;
            // SAFETY: the descriptor is open, and so many bytes may be read there.
            let written = unsafe {
                libc::pwrite(file.as_raw_fd(), self.at(done).cast(), self.length - done, to)
            };
            match usize::try_from(written) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => done += written,
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }
}

impl<'m> From<&'m [u8]> for Bytes<'m> {
    fn from(bytes: &'m [u8]) -> Self {
        // SAFETY: a slice is initialised and may be read for as long as it is borrowed.
        unsafe { Self::new(NonNull::from(bytes).cast(), bytes.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::hash::hash;

    #[test]
    fn bytes_are_copied_from_their_place_and_never_from_behind_their_end() {
        let own: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let bytes = Bytes::from(&own[..]);
        let mut into = [0xee; 100];
        assert_eq!(bytes.copy_to(300, &mut into), 100);
        assert_eq!(into, own[300..400]);
        assert_eq!(bytes.copy_to(9_990, &mut into), 10);
        assert_eq!((&into[..10], &into[10..]), (&own[9_990..], &own[310..400]));
        assert_eq!(bytes.copy_to(10_000, &mut into), 0);
        assert_eq!(bytes.copy_to(usize::MAX, &mut into), 0);
    }

    #[test]
    fn a_checksum_and_a_file_get_all_of_them() {
        let own: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let bytes = Bytes::from(&own[..]);
        let mut sum = Hash::new();
        bytes.hash_into(&mut sum);
        assert_eq!(sum.finish(), hash(&own));
        let path = std::env::temp_dir().join(format!("lnd-bytes-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        bytes.write_to(&file, 5).unwrap();
        assert!(bytes.write_to(&file, u64::MAX - 5).is_err());
        let found = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((&found[..5], &found[5..]), (&[0; 5][..], &own[..]));
        assert!(bytes.write_to(&File::open("/dev/null").unwrap(), 0).is_err(), "not for writing");
    }
}
