// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A store that can be broken.

use std::ops::Deref;
use std::sync::Mutex;

use super::*;

/// Files in memory, and a switch. A clone is another handle to the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    files: MemoryStore,
    broken: Arc<Mutex<Option<std::io::ErrorKind>>>,
    /// What a file becomes just before it is read next.
    swap: Arc<Mutex<Option<Vec<u8>>>>,
    aside: Arc<Mutex<Aside>>,
}

/// How drafts are read back: at once, or when the test says so. Then there is one draft at a time.
#[derive(Debug, Default)]
struct Aside {
    on: bool,
    /// Parts that may still be read.
    allowed: u32,
    part: Option<(u64, usize, Hash)>,
}

impl Disk {
    /// From now on every access fails, or none.
    pub fn set_broken(&self, broken: bool) {
        self.set_error(broken.then_some(std::io::ErrorKind::Other));
    }

    /// From now on every access fails so, or none.
    pub fn set_error(&self, error: Option<std::io::ErrorKind>) {
        *self.broken.lock().unwrap() = error;
    }

    /// The next file that is read has this content by then.
    pub fn swap_before_read(&self, content: &[u8]) {
        *self.swap.lock().unwrap() = Some(content.to_vec());
    }

    /// From now on drafts are read back aside, and of their parts so many more come to their end.
    pub fn read_aside(&self, parts: u32) {
        let mut aside = self.aside.lock().unwrap();
        (aside.on, aside.allowed) = (true, aside.allowed + parts);
    }

    fn check(&self) -> Result<(), StoreError> {
        self.broken.lock().unwrap().map_or(Ok(()), |kind| Err(StoreError::Io(kind)))
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

    fn reads_aside(&self, _: &Self::Draft) -> bool {
        self.aside.lock().unwrap().on
    }

    fn start_hash_back(
        &mut self,
        draft: &mut Self::Draft,
        offset: u64,
        length: usize,
        mut hash: Hash,
    ) -> ReadBack {
        let mut aside = self.aside.lock().unwrap();
        if aside.on {
            assert!(aside.part.replace((offset, length, hash)).is_none(), "one part at a time");
            return ReadBack::UnderWay;
        }
        drop(aside);
        let read = self.hash_back(draft, offset, length, &mut hash);
        ReadBack::Done(read.map(|()| hash))
    }

    fn poll_hash_back(&mut self, draft: &mut Self::Draft) -> ReadBack {
        let mut aside = self.aside.lock().unwrap();
        assert!(aside.part.is_some(), "nothing is read");
        if aside.allowed == 0 {
            return ReadBack::UnderWay;
        }
        aside.allowed -= 1;
        let part = aside.part.take();
        drop(aside);
        let (offset, length, mut hash) = part.unwrap();
        let read = self.hash_back(draft, offset, length, &mut hash);
        ReadBack::Done(read.map(|()| hash))
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
        if let Some(content) = self.swap.lock().unwrap().take() {
            let mut files = self.files.clone();
            let mut draft = files.create(name, content.len() as u64)?;
            files.write(&mut draft, 0, &content)?;
            files.commit(draft)?;
        }
        self.files.read(name, offset, into)
    }

    fn names(&self, after: &str, count: usize) -> Result<Vec<String>, StoreError> {
        self.check()?;
        self.files.names(after, count)
    }
}
