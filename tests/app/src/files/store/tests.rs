// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What every store does, and what only a directory does.

use super::*;
use crate::files::hash::hash;
use std::sync::atomic::{AtomicU32, Ordering};

const BAD: [&str; 19] = [
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
    ".owner",
    "n/.owner",
    "n/.owner/x",
    "a/b/.drafts",
    "n/.drafts/0",
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
    let mut sum = Hash::new();
    store.hash_back(&mut draft, 2, 3, &mut sum).unwrap();
    store.hash_back(&mut draft, 5, 1, &mut sum).unwrap();
    assert_eq!(sum.finish(), hash(b"cdef"));
    assert!(store.hash_back(&mut draft, 5, 2, &mut sum).is_err(), "behind its end");
    assert!(store.write(&mut draft, 5, b"xx").is_err(), "behind its end");
    assert!(store.write_bytes(&mut draft, 5, &Bytes::from(&b"xx"[..])).is_err(), "behind its end");
    assert_eq!(store.look_up("sub/dir/a"), Err(StoreError::NotFound), "not yet");
    store.commit(draft).unwrap();
    let first = store.look_up("sub/dir/a").unwrap();
    assert_eq!(first.size, 6);
    let mut part = [0; 2];
    store.read("sub/dir/a", 4, &mut part).unwrap();
    assert_eq!(&part, b"ef");
    assert!(store.read("sub/dir/a", 5, &mut part).is_err(), "behind its end");
    pieces_are_the_file(&mut store);

    drop(store.create("b", 10).unwrap());
    assert_eq!(store.look_up("b"), Err(StoreError::NotFound), "a dropped draft is nothing");
    for name in [".dot", "b", "c"] {
        let draft = store.create(name, 0).unwrap();
        store.commit(draft).unwrap();
        assert_eq!(store.look_up(name).unwrap().size, 0);
    }
    assert_eq!(store.names("", 10).unwrap(), [".dot", "b", "c", "long", "sub/dir/a"]);
    assert_eq!(store.names(".dot", 2).unwrap(), ["b", "c"]);

    let mut draft = store.create("sub/dir/a", 7).unwrap();
    store.write(&mut draft, 0, b"another").unwrap();
    assert_eq!(store.look_up("sub/dir/a").unwrap(), first, "the old file stays till the end");
    store.commit(draft).unwrap();
    let second = store.look_up("sub/dir/a").unwrap();
    assert_eq!(second.size, 7);
    assert_ne!(second.version, first.version);
}

/// A file that is longer than what is read or written at a time, from memory that is not a slice.
fn pieces_are_the_file(store: &mut impl Store) {
    let bytes: Vec<u8> = (0..100_003_u32).flat_map(u32::to_le_bytes).collect();
    let (half, size) = (150_001, bytes.len());
    let mut draft = store.create("long", size as u64).unwrap();
    store.write_bytes(&mut draft, half as u64, &Bytes::from(&bytes[half..])).unwrap();
    store.write_bytes(&mut draft, 0, &Bytes::from(&bytes[..half])).unwrap();
    let mut sum = Hash::new();
    store.hash_back(&mut draft, 0, size, &mut sum).unwrap();
    assert_eq!(sum.finish(), hash(&bytes));
    store.commit(draft).unwrap();
    let mut read = Vec::new();
    let length = size as u32 - 7;
    store.read_pieces("long", 7, length, &mut |piece| read.extend_from_slice(piece)).unwrap();
    assert!(read == bytes[7..], "in order, and nothing else");
    let beyond = store.read_pieces("long", 8, length, &mut |_| {});
    assert!(beyond.is_err(), "behind its end");
    assert_eq!(store.read_pieces("none", 0, 1, &mut |_| {}), Err(StoreError::NotFound));
}

/// What is verified is what the file system has, whatever was written.
#[test]
fn a_draft_that_was_cut_or_changed_is_not_what_was_written() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    let mut draft = store.create("a", 4).unwrap();
    store.write(&mut draft, 0, b"AAAA").unwrap();
    let drafts = std::fs::read_dir(scratch.0.join(".drafts")).unwrap();
    let place = drafts.map(|entry| entry.unwrap().path()).next().unwrap();
    std::fs::write(&place, b"AABA").unwrap();
    let mut sum = Hash::new();
    store.hash_back(&mut draft, 0, 4, &mut sum).unwrap();
    assert_eq!(sum.finish(), hash(b"AABA"));
    std::fs::write(&place, b"AA").unwrap();
    let cut = store.hash_back(&mut draft, 0, 4, &mut Hash::new());
    assert_eq!(cut, Err(StoreError::Io(ErrorKind::UnexpectedEof)));
}

/// What is put after a cleaner has removed the directory of drafts is stored all the same.
#[test]
fn drafts_have_a_directory_also_after_it_was_removed() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    std::fs::remove_dir(scratch.0.join(".drafts")).unwrap();
    let mut draft = store.create("a", 4).unwrap();
    store.write(&mut draft, 0, b"AAAA").unwrap();
    store.commit(draft).unwrap();
    assert_eq!(std::fs::read(scratch.0.join("a")).unwrap(), b"AAAA");
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
    assert_eq!(again.names("", 10).unwrap(), [".dot", "b", "c", "long", "sub/dir/a"]);
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
    drop(store);
    drop(DirStore::open(&scratch.0).unwrap());
    assert_eq!(drafts(), 0);
}

#[test]
fn a_directory_is_no_file_and_a_file_no_directory() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    let draft = store.create("d/f", 0).unwrap();
    store.commit(draft).unwrap();
    assert_eq!(store.create("d", 1).err(), Some(StoreError::NotAFile));
    assert_eq!(store.create("d/f/g", 1).err(), Some(StoreError::NotAFile));
    assert_eq!(store.look_up("d"), Err(StoreError::NotAFile));
}

/// A FIFO is neither read, which may take for ever, nor replaced.
#[test]
fn a_fifo_is_no_file() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    let draft = store.create("a", 0).unwrap();
    let fifo = scratch.0.join("a");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert_eq!(store.commit(draft), Err(StoreError::NotAFile), "not there when it was begun");
    assert_eq!(store.create("a", 1).err(), Some(StoreError::NotAFile));
    assert_eq!(store.look_up("a"), Err(StoreError::NotAFile));
    assert!(!std::fs::metadata(&fifo).unwrap().is_file());
    let lock = scratch.0.join("d/.owner");
    std::fs::create_dir(scratch.0.join("d")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&lock).status().unwrap().success());
    assert_eq!(store.look_up("d/f"), Err(StoreError::NotFound), "no one is waited for");
}

#[test]
fn links_do_not_lead_out_of_the_directory() {
    let (scratch, outside) = (Scratch::new(), Scratch::new());
    std::fs::create_dir_all(&outside.0).unwrap();
    std::fs::write(outside.0.join("secret"), "secret").unwrap();
    let mut store = DirStore::open(&scratch.0).unwrap();
    std::os::unix::fs::symlink(&outside.0, scratch.0.join("out")).unwrap();
    std::os::unix::fs::symlink(outside.0.join("secret"), scratch.0.join("s")).unwrap();
    for name in ["out/secret", "s"] {
        assert_eq!(store.look_up(name), Err(StoreError::NotAFile), "{name}");
        assert_eq!(store.read(name, 0, &mut [0]), Err(StoreError::NotAFile), "{name}");
        assert_eq!(store.create(name, 1).err(), Some(StoreError::NotAFile), "{name}");
    }
    assert_eq!(store.names("", 10).unwrap(), Vec::<String>::new());
}

/// Two owners of one directory would write and remove each other's drafts.
#[test]
fn a_second_owner_is_refused_and_told_who_is_the_first() {
    let scratch = Scratch::new();
    let first = DirStore::open_as(&scratch.0, "1@soft0, process 17", 5).unwrap();
    let refused = DirStore::open_as(&scratch.0, "2@soft0, process 18", 6).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::WouldBlock);
    assert!(refused.to_string().contains("in use by 1@soft0, process 17"), "{refused}");
    drop(first);
    drop(DirStore::open_as(&scratch.0, "2@soft0, process 18", 6).unwrap());
}

/// The directory was removed and made again under a server: another one may own it now.
#[test]
fn a_store_whose_directory_was_made_again_writes_nothing_there() {
    let scratch = Scratch::new();
    let mut first = DirStore::open_as(&scratch.0, "first", 5).unwrap();
    let mut draft = first.create("a", 4).unwrap();
    first.write(&mut draft, 0, b"AAAA").unwrap();
    std::fs::remove_dir_all(&scratch.0).unwrap();
    let mut second = DirStore::open_as(&scratch.0, "second", 5).unwrap();
    // Of the same incarnation and number, thus of the same name.
    let mut other = second.create("b", 4).unwrap();
    second.write(&mut other, 0, b"BBBB").unwrap();
    assert_eq!(first.create("new/c", 1).err(), Some(StoreError::Disowned));
    assert!(!scratch.0.join("new").exists(), "no directory was made, either");
    assert_eq!(first.commit(draft), Err(StoreError::Disowned));
    second.commit(other).unwrap();
    assert_eq!(std::fs::read(scratch.0.join("b")).unwrap(), b"BBBB");
    assert_eq!(second.names("", 10).unwrap(), ["b"]);
}

/// Without the lock file another may take the directory at any time.
#[test]
fn a_store_whose_lock_file_was_removed_says_so_and_stores_nothing() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    let whole = store.create("whole", 0).unwrap();
    store.commit(whole).unwrap();
    let draft = store.create("a", 0).unwrap();
    std::fs::remove_file(scratch.0.join(".owner")).unwrap();
    assert_eq!(store.create("b", 1).err(), Some(StoreError::Disowned));
    assert_eq!(store.commit(draft), Err(StoreError::Disowned));
    assert_eq!(store.look_up("whole").unwrap().size, 0, "what is there can be read");
    assert_eq!(store.names("", 10).unwrap(), ["whole"]);
}

/// Two servers must not write one directory, by whatever names they come to it.
#[test]
fn a_store_within_another_is_refused() {
    let scratch = Scratch::new();
    let mut outer = DirStore::open_as(&scratch.0, "1@soft0, process 17", 5).unwrap();
    let draft = outer.create("d/e/f", 0).unwrap();
    outer.commit(draft).unwrap();
    for name in ["d", "d/e", "new", "d/new/newer"] {
        let refused = DirStore::open(&scratch.0.join(name)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::WouldBlock, "{name}");
        let notified = refused.to_string();
        assert!(
            notified.starts_with("lies within ") && notified.contains("1@soft0, process 17"),
            "{notified}"
        );
        assert!(!scratch.0.join(name).join(".owner").exists(), "{name}");
    }
    assert!(!scratch.0.join("new").exists(), "nothing was made");
    assert_eq!(outer.names("", 10).unwrap(), ["d/e/f"]);
    drop(outer);
    drop(DirStore::open(&scratch.0.join("d/e")).unwrap());
}

#[test]
fn a_store_above_another_leaves_it_alone_while_it_is_open() {
    let scratch = Scratch::new();
    let mut inner = DirStore::open(&scratch.0.join("d")).unwrap();
    let draft = inner.create("e/f", 0).unwrap();
    inner.commit(draft).unwrap();
    let draft = inner.create("e/g", 0).unwrap();
    let mut outer = DirStore::open(&scratch.0).unwrap();
    for name in ["d/e/f", "d/f", "d/e/new/f"] {
        assert_eq!(outer.create(name, 1).err(), Some(StoreError::Foreign), "{name}");
        assert_eq!(outer.look_up(name), Err(StoreError::Foreign), "{name}");
        assert_eq!(outer.read(name, 0, &mut [0]), Err(StoreError::Foreign), "{name}");
    }
    assert_eq!(outer.names("", 10).unwrap(), Vec::<String>::new());
    inner.commit(draft).unwrap();
    drop(inner);
    assert_eq!(outer.names("", 10).unwrap(), ["d/e/f", "d/e/g"]);
    let draft = outer.create("d/e/f", 0).unwrap();
    outer.commit(draft).unwrap();
}

/// What was verified is what gets the name: not what was put at the draft's place since.
#[test]
fn a_draft_that_was_replaced_is_not_committed() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    let mut draft = store.create("a", 4).unwrap();
    store.write(&mut draft, 0, b"AAAA").unwrap();
    let drafts = std::fs::read_dir(scratch.0.join(".drafts")).unwrap();
    let place = drafts.map(|entry| entry.unwrap().path()).next().unwrap();
    let other = scratch.0.join(".drafts/other");
    std::fs::write(&other, b"BBBB").unwrap();
    std::fs::rename(&other, &place).unwrap();
    assert_eq!(store.commit(draft), Err(StoreError::Io(ErrorKind::ResourceBusy)));
    assert_eq!(store.look_up("a"), Err(StoreError::NotFound));
    assert!(place.exists(), "it belongs to another");
}

/// Reads a part back aside, and waits for the end.
fn read_aside(
    store: &mut DirStore,
    draft: &mut <DirStore as Store>::Draft,
    (offset, length): (u64, usize),
) -> Result<Hash, StoreError> {
    let mut read = store.start_hash_back(draft, offset, length, Hash::new());
    assert!(matches!(read, ReadBack::UnderWay));
    loop {
        match read {
            ReadBack::Done(hash) => return hash,
            ReadBack::UnderWay => std::thread::yield_now(),
        }
        read = store.poll_hash_back(draft);
    }
}

#[test]
fn a_long_draft_is_read_back_aside_as_the_file_system_has_it() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    let bytes: Vec<u8> = (0..1_000_003_u32).flat_map(u32::to_le_bytes).collect();
    let mut draft = store.create("a", bytes.len() as u64).unwrap();
    assert!(!store.reads_aside(&draft), "only when asked");
    store.read_back_aside().unwrap();
    assert!(store.reads_aside(&draft));
    store.write(&mut draft, 0, &bytes[..3_000_000]).unwrap();
    let sum = read_aside(&mut store, &mut draft, (1, 2_999_998)).unwrap();
    assert_eq!(sum.finish(), hash(&bytes[1..2_999_999]));
    let beyond = read_aside(&mut store, &mut draft, (1, 3_000_000)).err();
    assert_eq!(beyond, Some(StoreError::Io(ErrorKind::UnexpectedEof)), "not written yet");
    store.write(&mut draft, 3_000_000, &bytes[3_000_000..]).unwrap();
    let sum = read_aside(&mut store, &mut draft, (0, bytes.len())).unwrap();
    assert_eq!(sum.finish(), hash(&bytes));
    store.commit(draft).unwrap();
    assert!(std::fs::read(scratch.0.join("a")).unwrap() == bytes);
}

#[test]
fn a_draft_that_is_dropped_while_it_is_read_is_gone() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    store.read_back_aside().unwrap();
    let mut draft = store.create("a", 9 << 20).unwrap();
    store.write(&mut draft, 0, &[7; 4096]).unwrap();
    assert!(matches!(store.start_hash_back(&mut draft, 0, 4096, Hash::new()), ReadBack::UnderWay));
    drop(draft);
    let drafts = std::fs::read_dir(scratch.0.join(".drafts")).unwrap().count();
    assert_eq!(drafts, 0);
    drop(store);
    behaves(DirStore::open(&scratch.0).unwrap());
}

#[test]
fn a_short_draft_is_read_back_at_once() {
    let scratch = Scratch::new();
    let mut store = DirStore::open(&scratch.0).unwrap();
    store.read_back_aside().unwrap();
    let mut draft = store.create("a", 4).unwrap();
    store.write(&mut draft, 0, b"AAAA").unwrap();
    assert!(!store.reads_aside(&draft));
    match store.start_hash_back(&mut draft, 0, 4, Hash::new()) {
        ReadBack::Done(Ok(sum)) => assert_eq!(sum.finish(), hash(b"AAAA")),
        other => panic!("{other:?}"),
    }
}
