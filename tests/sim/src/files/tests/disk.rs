// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A store that can be broken.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Files in memory, and a switch. A clone is another handle to the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    files: MemoryStore,
    broken: Arc<AtomicBool>,
}

impl Disk {
    /// From now on every access fails, or none.
    pub fn set_broken(&self, broken: bool) {
        // One thread only.
        self.broken.store(broken, Ordering::Relaxed);
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.broken.load(Ordering::Relaxed) {
            true => Err(StoreError::Io(std::io::ErrorKind::Other)),
            false => Ok(()),
        }
    }
}

impl Deref for Disk {
    type Target = MemoryStore;

    fn deref(&self) -> &MemoryStore {
        &self.files
    }
}

impl Store for Disk {
    type Draft = <MemoryStore as Store>::Draft;

    fn create(&mut self, name: &str, size: u64) -> Result<Self::Draft, StoreError> {
        self.check()?;
        self.files.create(name, size)
    }

    fn write(&mut self, draft: &mut Self::Draft, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        self.check()?;
        self.files.write(draft, at, bytes)
    }

    fn read_back(
        &mut self,
        draft: &mut Self::Draft,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), StoreError> {
        self.check()?;
        self.files.read_back(draft, offset, into)
    }

    fn commit(&mut self, draft: Self::Draft) -> Result<(), StoreError> {
        self.check()?;
        self.files.commit(draft)
    }

    fn look_up(&self, name: &str) -> Result<Info, StoreError> {
        self.check()?;
        self.files.look_up(name)
    }

    fn read(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.check()?;
        self.files.read(name, offset, into)
    }

    fn names(&self, after: &str, count: usize) -> Result<Vec<String>, StoreError> {
        self.check()?;
        self.files.names(after, count)
    }
}
