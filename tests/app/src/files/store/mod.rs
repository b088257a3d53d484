// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where a server keeps its files.

mod back;
mod directory;
mod memory;
mod owner;
#[cfg(test)]
mod tests;

pub use directory::DirStore;
pub use memory::MemoryStore;

use std::fmt;
use std::io::ErrorKind;

use super::bytes::Bytes;
use super::hash::Hash;
use super::rpc::MAX_NAME;

/// Names to files. A file changes as a whole: it is written as a draft, and a draft that is dropped
/// leaves no trace.
pub trait Store {
    /// A file that is being written.
    type Draft;

    /// Begins a file of `size` bytes. The file of that name, if there is one, stays as it is.
    ///
    /// # Errors
    /// [`StoreError`].
    fn create(&mut self, name: &str, size: u64) -> Result<Self::Draft, StoreError>;

    /// Writes a part of a draft, within its size. Parts may come in any order.
    ///
    /// # Errors
    /// [`StoreError`].
    fn write(
        &mut self,
        draft: &mut Self::Draft,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), StoreError>;

    /// Writes a part of a draft as [`write`](Self::write) does, from memory that others may change.
    ///
    /// # Errors
    /// [`StoreError`].
    fn write_bytes(
        &mut self,
        draft: &mut Self::Draft,
        offset: u64,
        bytes: &Bytes<'_>,
    ) -> Result<(), StoreError> {
        let mut copy = vec![0; bytes.len()];
        bytes.copy_to(0, &mut copy);
        self.write(draft, offset, &copy)
    }

    /// Reads back what has been written, to verify it.
    ///
    /// # Errors
    /// [`StoreError`].
    fn read_back(
        &mut self,
        draft: &mut Self::Draft,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), StoreError>;

    /// Reads back what has been written, and adds it to a checksum.
    ///
    /// # Errors
    /// [`StoreError`]; the checksum is of no use then.
    fn hash_back(
        &mut self,
        draft: &mut Self::Draft,
        offset: u64,
        length: usize,
        hash: &mut Hash,
    ) -> Result<(), StoreError> {
        let mut back = vec![0; length];
        self.read_back(draft, offset, &mut back)?;
        hash.update(&back);
        Ok(())
    }

    /// Whether [`start_hash_back`](Self::start_hash_back) reads a draft while others use the store.
    fn reads_aside(&self, _draft: &Self::Draft) -> bool {
        false
    }

    /// As [`hash_back`](Self::hash_back), but may go on after this call. No other part of the draft
    /// is read back meanwhile, and this part is not written.
    fn start_hash_back(
        &mut self,
        draft: &mut Self::Draft,
        offset: u64,
        length: usize,
        mut hash: Hash,
    ) -> ReadBack {
        let read = self.hash_back(draft, offset, length, &mut hash);
        ReadBack::Done(read.map(|()| hash))
    }

    /// How far [`start_hash_back`](Self::start_hash_back) is, if it was not done.
    fn poll_hash_back(&mut self, _draft: &mut Self::Draft) -> ReadBack {
        ReadBack::Done(Err(StoreError::Io(ErrorKind::InvalidInput)))
    }

    /// Makes the draft the file of its name, at once. A store that outlives its machine has it on
    /// the disk when this returns.
    ///
    /// # Errors
    /// [`StoreError`]; the draft is gone.
    fn commit(&mut self, draft: Self::Draft) -> Result<(), StoreError>;

    /// Size and version of a file.
    ///
    /// # Errors
    /// [`StoreError`].
    fn look_up(&self, name: &str) -> Result<Info, StoreError>;

    /// Reads a part of a file.
    ///
    /// # Errors
    /// [`StoreError`]; a part that is not there is an error.
    fn read(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<(), StoreError>;

    /// Reads `length` bytes of a file and passes them on in order, in pieces of any length.
    ///
    /// # Errors
    /// [`StoreError`]; some may have been passed on.
    fn read_pieces(
        &self,
        name: &str,
        offset: u64,
        length: u32,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        let mut bytes = vec![0; length as usize];
        self.read(name, offset, &mut bytes)?;
        take(&bytes);
        Ok(())
    }

    /// At most `count` names behind `after`, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    fn names(&self, after: &str, count: usize) -> Result<Vec<String>, StoreError>;
}

/// How far the reading back of a part is.
#[derive(Debug)]
pub enum ReadBack {
    /// It has ended: the checksum with the part, or why the part could not be read.
    Done(Result<Hash, StoreError>),
    /// It goes on.
    UnderWay,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its bytes.
    pub size: u64,
    /// Another number means another content.
    pub version: u64,
}

/// Why a store does not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// No such file.
    NotFound,
    /// A name that no file may have here.
    BadName,
    /// There is something of this name, or of a part of it, that is no regular file.
    NotAFile,
    /// The name leads into a directory that another store owns.
    Foreign,
    /// The store's own directory may belong to another by now.
    Disowned,
    /// The place has failed.
    Io(ErrorKind),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("no such file"),
            Self::BadName => f.write_str("no file may have this name"),
            Self::NotAFile => f.write_str("not a regular file"),
            Self::Foreign => f.write_str("in a directory that another server owns"),
            Self::Disowned => f.write_str(
                "not stored: the directory's .owner was removed or replaced; start the node anew",
            ),
            Self::Io(kind) => write!(f, "{kind}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::NotFound,
            kind => Self::Io(kind),
        }
    }
}

/// Where a directory keeps its drafts. No part of a name can be this, in any store: a directory of
/// a store may be a store itself at another time.
const DRAFTS: &str = ".drafts";
/// The lock of a directory's owner. No part of a name can be this, as for the drafts.
const OWNER: &str = ".owner";

/// The parts of a name, which are separated by `/`; `None` if no file may have the name, here or in
/// a directory: nothing leads up or to the root, or looks like another thing to another system.
pub fn parts(name: &str) -> Option<Vec<&str>> {
    let strange = |c: char| c.is_control() || c == '\\';
    let reserved = |part: &str| matches!(part, "" | "." | ".." | DRAFTS | OWNER);
    let sound = |part: &&str| !reserved(part) && part.len() <= 255;
    if name.len() > MAX_NAME || name.contains(strange) {
        return None;
    }
    let parts: Vec<&str> = name.split('/').collect();
    parts.iter().all(sound).then_some(parts)
}
