// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files in memory, which outlive the node that serves them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{parts, Info, Store, StoreError};
use crate::files::bytes::Bytes;
use crate::files::hash::Hash;

/// Files in memory. A clone is another handle to the same files: a restarted server finds them
/// again.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Files>>);

#[derive(Default)]
struct Files {
    by_name: BTreeMap<String, (u64, Arc<Vec<u8>>)>,
    versions: u64,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files", self.by_name.len())
    }
}

/// A file that is being written to memory.
#[derive(Debug)]
pub struct MemoryDraft {
    name: String,
    size: u64,
    /// As long as what has been written: an announced size takes no memory.
    bytes: Vec<u8>,
}

impl MemoryStore {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// The content of a file.
    pub fn contents(&self, name: &str) -> Option<Arc<Vec<u8>>> {
        self.files().by_name.get(name).map(|(_, bytes)| bytes.clone())
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files().by_name.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        // No panic can happen between two changes that belong together.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, name: &str) -> Result<(u64, Arc<Vec<u8>>), StoreError> {
        parts(name).ok_or(StoreError::BadName)?;
        self.files().by_name.get(name).cloned().ok_or(StoreError::NotFound)
    }
}

/// The positions of `length` bytes at `offset`, if they are within `size`.
fn range(offset: u64, length: usize, size: u64) -> Result<std::ops::Range<usize>, StoreError> {
    let end = offset.checked_add(length as u64).filter(|end| *end <= size);
    let end = end.and_then(|end| usize::try_from(end).ok());
    let end = end.ok_or(StoreError::Io(ErrorKind::UnexpectedEof))?;
    Ok(end - length..end)
}

impl Store for MemoryStore {
    type Draft = MemoryDraft;

    fn create(&mut self, name: &str, size: u64) -> Result<MemoryDraft, StoreError> {
        parts(name).ok_or(StoreError::BadName)?;
        Ok(MemoryDraft { name: name.to_owned(), size, bytes: Vec::new() })
    }

    fn write(
        &mut self,
        draft: &mut MemoryDraft,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let range = range(offset, bytes.len(), draft.size)?;
        if draft.bytes.len() == range.start {
            draft.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        if draft.bytes.len() < range.end {
            draft.bytes.resize(range.end, 0);
        }
        draft.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    fn write_bytes(
        &mut self,
        draft: &mut MemoryDraft,
        offset: u64,
        bytes: &Bytes<'_>,
    ) -> Result<(), StoreError> {
        let range = range(offset, bytes.len(), draft.size)?;
        if draft.bytes.len() < range.end {
            draft.bytes.resize(range.end, 0);
        }
        bytes.copy_to(0, &mut draft.bytes[range]);
        Ok(())
    }

    fn read_back(
        &mut self,
        draft: &mut MemoryDraft,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), StoreError> {
        let range = range(offset, into.len(), draft.bytes.len() as u64)?;
        into.copy_from_slice(&draft.bytes[range]);
        Ok(())
    }

    fn hash_back(
        &mut self,
        draft: &mut MemoryDraft,
        offset: u64,
        length: usize,
        hash: &mut Hash,
    ) -> Result<(), StoreError> {
        let range = range(offset, length, draft.bytes.len() as u64)?;
        hash.update(&draft.bytes[range]);
        Ok(())
    }

    fn commit(&mut self, draft: MemoryDraft) -> Result<(), StoreError> {
        let mut files = self.files();
        files.versions += 1;
        let file = (files.versions, Arc::new(draft.bytes));
        files.by_name.insert(draft.name, file);
        Ok(())
    }

    fn look_up(&self, name: &str) -> Result<Info, StoreError> {
        let (version, bytes) = self.find(name)?;
        Ok(Info { size: bytes.len() as u64, version })
    }

    fn read(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let (_, bytes) = self.find(name)?;
        into.copy_from_slice(&bytes[range(offset, into.len(), bytes.len() as u64)?]);
        Ok(())
    }

    fn read_pieces(
        &self,
        name: &str,
        offset: u64,
        length: u32,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        let (_, bytes) = self.find(name)?;
        take(&bytes[range(offset, length as usize, bytes.len() as u64)?]);
        Ok(())
    }

    fn names(&self, after: &str, count: usize) -> Result<Vec<String>, StoreError> {
        let files = self.files();
        let behind = (Bound::Excluded(after), Bound::Unbounded);
        Ok(files
            .by_name
            .range::<str, _>(behind)
            .take(count)
            .map(|(name, _)| name.clone())
            .collect())
    }
}
