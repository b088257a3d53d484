// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Defects found from outside: files stored wrongly and reported OK; a fabric file after a kill.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_app::files::{DirStore, Store};
use lnd_sim::fabric::{Mapping, Shape};

fn scratch(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Two servers on one directory (`lnd node --dir DIR` started twice): the first must not commit the
/// second's draft under its own file's name.
#[test]
fn two_servers_on_one_directory_do_not_mix_files() {
    let dir = scratch("two");
    let mut one = DirStore::open(&dir).unwrap();
    let mut a = one.create("a", 4).unwrap();
    one.write(&mut a, 0, b"AAAA").unwrap();
    // The second server starts, and takes a file of its own.
    let mut two = match DirStore::open(&dir) {
        Ok(two) => two,
        Err(refused) => {
            assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
            assert_eq!(one.commit(a), Ok(()));
            assert_eq!(std::fs::read(dir.join("a")).unwrap(), b"AAAA");
            return;
        }
    };
    let mut b = two.create("b", 4).unwrap();
    two.write(&mut b, 0, b"BBBB").unwrap();
    // The first verifies its file, and commits it.
    let mut back = [0; 4];
    one.read_back(&mut a, 0, &mut back).unwrap();
    assert_eq!(&back, b"AAAA");
    let committed = one.commit(a);
    let stored = std::fs::read(dir.join("a")).unwrap_or_default();
    assert!(committed.is_err() || stored == b"AAAA", "reported OK, and holds {stored:?}");
}

/// `lnd node` started a second time by mistake must not throw away the drafts of the one that
/// serves.
#[test]
fn a_second_start_that_fails_does_not_end_the_puts_of_the_first() {
    let dir = scratch("second");
    let mut one = DirStore::open(&dir).unwrap();
    let mut a = one.create("a", 4).unwrap();
    one.write(&mut a, 0, b"AAAA").unwrap();
    drop(DirStore::open(&dir)); // the second start
    assert_eq!(one.commit(a), Ok(()), "the client is told NotFound, which ends its job");
}

/// A process was killed while it made the fabric file; the next one has the same process number, as
/// in a container.
#[test]
fn a_fabric_can_be_made_after_a_kill_with_the_same_pid() {
    let dir = scratch("pid");
    let path = dir.join("fabric");
    let left = path.with_extension(format!("new-{}", std::process::id()));
    std::fs::write(left, b"half").unwrap();
    let shape = Shape::new(2, 1, 16, 1 << 16);
    assert!(Mapping::file(&path, shape).is_ok());
}

/// Two fabrics of one stem, made at once by one process.
#[test]
fn fabrics_of_one_stem_do_not_share_a_temporary() {
    let dir = scratch("stem");
    let a = Mapping::temporary(&dir.join("f.one"));
    let b = Mapping::temporary(&dir.join("f.two"));
    assert_ne!(a, b);
    let shape = Shape::new(2, 1, 16, 1 << 16);
    std::thread::scope(|scope| {
        for name in ["f.one", "f.two"] {
            let path = dir.join(name);
            scope.spawn(move || Mapping::file(&path, shape).unwrap());
        }
    });
}
