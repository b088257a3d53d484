// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where a server keeps its files.

mod directory;
mod memory;

pub use directory::DirStore;
pub use memory::MemoryStore;

use std::io::ErrorKind;

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

    /// Makes the draft the file of its name, at once.
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

    /// At most `count` names behind `after`, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    fn names(&self, after: &str, count: usize) -> Result<Vec<String>, StoreError>;
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
    /// The place has failed.
    Io(ErrorKind),
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::NotFound,
            kind => Self::Io(kind),
        }
    }
}

/// Where a directory keeps its drafts. No file of any store can have this name.
const DRAFTS: &str = ".drafts";

/// The parts of a name, which are separated by `/`; `None` if no file may have the name, here or in
/// a directory: nothing leads up or to the root, or looks like another thing to another system.
pub fn parts(name: &str) -> Option<Vec<&str>> {
    let strange = |c: char| c.is_control() || c == '\\';
    let sound = |part: &&str| !matches!(*part, "" | "." | "..") && part.len() <= 255;
    if name.len() > MAX_NAME || name.contains(strange) {
        return None;
    }
    let parts: Vec<&str> = name.split('/').collect();
    (parts.first() != Some(&DRAFTS) && parts.iter().all(sound)).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const BAD: [&str; 14] = [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../up",
        "a/../../up",
        "a/./b",
        "a//b",
        "a/",
        "nul\0byte",
        "line\nfeed",
        "..\\up",
        ".drafts",
        ".drafts/0",
    ];

    /// A directory of its own for each test; removed at its end.
    struct Scratch(std::path::PathBuf);

    impl Scratch {
        fn new() -> Self {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            // Only the difference matters.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("lnd-files-test-{}-{number}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// What every store has to do.
    fn behaves(mut store: impl Store) {
        assert_eq!(store.look_up("a"), Err(StoreError::NotFound));
        for name in BAD {
            assert_eq!(parts(name), None, "{name:?}");
            assert_eq!(store.create(name, 1).err(), Some(StoreError::BadName), "{name:?}");
            assert_eq!(store.look_up(name), Err(StoreError::BadName), "{name:?}");
            assert_eq!(store.read(name, 0, &mut []), Err(StoreError::BadName), "{name:?}");
        }
        let mut draft = store.create("sub/dir/a", 6).unwrap();
        store.write(&mut draft, 3, b"def").unwrap();
        store.write(&mut draft, 0, b"abc").unwrap();
        let mut back = [0; 4];
        store.read_back(&mut draft, 1, &mut back).unwrap();
        assert_eq!(&back, b"bcde");
        assert!(store.write(&mut draft, 5, b"xx").is_err(), "behind its end");
        assert_eq!(store.look_up("sub/dir/a"), Err(StoreError::NotFound), "not yet");
        store.commit(draft).unwrap();
        let first = store.look_up("sub/dir/a").unwrap();
        assert_eq!(first.size, 6);
        let mut part = [0; 2];
        store.read("sub/dir/a", 4, &mut part).unwrap();
        assert_eq!(&part, b"ef");
        assert!(store.read("sub/dir/a", 5, &mut part).is_err(), "behind its end");

        drop(store.create("b", 10).unwrap());
        assert_eq!(store.look_up("b"), Err(StoreError::NotFound), "a dropped draft is nothing");
        for name in [".dot", "b", "c"] {
            let draft = store.create(name, 0).unwrap();
            store.commit(draft).unwrap();
            assert_eq!(store.look_up(name).unwrap().size, 0);
        }
        assert_eq!(store.names("", 10).unwrap(), [".dot", "b", "c", "sub/dir/a"]);
        assert_eq!(store.names(".dot", 2).unwrap(), ["b", "c"]);

        let mut draft = store.create("sub/dir/a", 7).unwrap();
        store.write(&mut draft, 0, b"another").unwrap();
        assert_eq!(store.look_up("sub/dir/a").unwrap(), first, "the old file stays till the end");
        store.commit(draft).unwrap();
        let second = store.look_up("sub/dir/a").unwrap();
        assert_eq!(second.size, 7);
        assert_ne!(second.version, first.version);
    }

    #[test]
    fn a_store_in_memory_behaves_and_outlives_its_owner() {
        let store = MemoryStore::new();
        behaves(store.clone());
        assert_eq!(*store.contents("sub/dir/a").unwrap(), b"another");
    }

    #[test]
    fn a_store_in_a_directory_behaves_and_leaves_no_draft() {
        let scratch = Scratch::new();
        let store = DirStore::open(&scratch.0).unwrap();
        behaves(store);
        let again = DirStore::open(&scratch.0).unwrap();
        assert_eq!(again.names("", 10).unwrap(), [".dot", "b", "c", "sub/dir/a"]);
        let drafts = std::fs::read_dir(scratch.0.join(".drafts")).unwrap().count();
        assert_eq!(drafts, 0);
    }

    #[test]
    fn drafts_of_a_killed_process_are_removed() {
        let scratch = Scratch::new();
        let mut store = DirStore::open(&scratch.0).unwrap();
        std::mem::forget(store.create("a", 5).unwrap());
        let drafts = || std::fs::read_dir(scratch.0.join(".drafts")).unwrap().count();
        assert_eq!(drafts(), 1);
        drop(DirStore::open(&scratch.0).unwrap());
        assert_eq!(drafts(), 0);
    }

    #[test]
    fn a_directory_is_no_file_and_a_file_no_directory() {
        let scratch = Scratch::new();
        let mut store = DirStore::open(&scratch.0).unwrap();
        let draft = store.create("d/f", 0).unwrap();
        store.commit(draft).unwrap();
        assert_eq!(store.create("d", 1).err(), Some(StoreError::BadName));
        assert_eq!(store.create("d/f/g", 1).err(), Some(StoreError::BadName));
        assert_eq!(store.look_up("d"), Err(StoreError::NotFound));
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_the_directory() {
        let (scratch, outside) = (Scratch::new(), Scratch::new());
        std::fs::create_dir_all(&outside.0).unwrap();
        std::fs::write(outside.0.join("secret"), "secret").unwrap();
        let mut store = DirStore::open(&scratch.0).unwrap();
        std::os::unix::fs::symlink(&outside.0, scratch.0.join("out")).unwrap();
        std::os::unix::fs::symlink(outside.0.join("secret"), scratch.0.join("s")).unwrap();
        for name in ["out/secret", "s"] {
            assert_eq!(store.look_up(name), Err(StoreError::BadName), "{name}");
            assert_eq!(store.read(name, 0, &mut [0]), Err(StoreError::BadName), "{name}");
            assert_eq!(store.create(name, 1).err(), Some(StoreError::BadName), "{name}");
        }
        assert_eq!(store.names("", 10).unwrap(), Vec::<String>::new());
    }
}
