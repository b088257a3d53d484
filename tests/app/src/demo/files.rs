// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the demonstration sends.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lnd_sim::fabric::{free_bytes, Mapping};
use lnd_sim::rng::Rng;

use crate::files::{parts, Hash};
use crate::process::remove_leftovers;

/// A file to send.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is called at the server.
    pub name: String,
    /// Its size when it was found.
    pub size: u64,
    /// Bytes of a message's payload.
    pub chunk: u32,
    /// When it had been written last when it was found; `None`: its file system does not say.
    pub written: Option<SystemTime>,
}

impl Item {
    /// Whether the file has been written, or is gone, since it was found.
    pub fn has_changed(&self) -> bool {
        !fs::metadata(&self.path)
            .is_ok_and(|now| now.len() == self.size && now.modified().ok() == self.written)
    }
}

/// Directories that are not looked into: build output and version control.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// Asked between pieces of what is done before the traffic begins: an error ends it.
pub type GoOn<'a> = &'a dyn Fn() -> io::Result<()>;

/// Every regular file below `dir`, in order of names; links are not followed. A fabric is left
/// out: it is memory of nodes that may run. `go_on` is asked before each entry.
///
/// # Errors
/// A directory cannot be read, or `go_on` says so.
pub fn collect(dir: &Path, go_on: GoOn<'_>) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir)? {
            go_on()?;
            let entry = entry?;
            let kind = entry.file_type()?;
            let left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && !left_out {
                open.push(entry.path());
            } else if kind.is_file() && !Mapping::is_fabric(&entry.path()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A set of files that was made for one run, in a directory of its own; removed when it is dropped.
#[derive(Debug)]
pub struct Generated {
    dir: PathBuf,
}

/// Begins the name of every directory of generated files; the number of the process follows.
const PREFIX: &str = "lnd-demo-";
/// What stays free on the file system.
const MARGIN: u64 = 64 << 20;

impl Generated {
    /// Makes an empty directory below `place`, which is there, and removes those of processes that
    /// were killed.
    ///
    /// # Errors
    /// The directory cannot be made, its file system has no room for `total` bytes, or `go_on` says
    /// so.
    pub fn begin(place: &Path, total: u64, go_on: GoOn<'_>) -> io::Result<Self> {
        remove_leftovers(place, PREFIX, go_on)?;
        if let Some(free) = free_bytes(&File::open(place)?)? {
            if free < total.saturating_add(MARGIN) {
                let (total, free) = (total >> 20, free >> 20);
                let why =
                    format!("no room for {total} MiB of generated files: {free} MiB are free");
                return Err(io::Error::new(io::ErrorKind::StorageFull, why));
            }
        }
        let dir = place.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&dir)?;
        Ok(Self { dir })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes files of `total` bytes, the same every time: sizes from one byte up, most of the
    /// bytes in large files. `go_on` is asked between pieces.
    ///
    /// # Errors
    /// Files cannot be written, or `go_on` says so.
    pub fn fill(&self, total: u64, go_on: GoOn<'_>) -> io::Result<()> {
        let mut rng = Rng::new(total);
        let (mut left, mut number) = (total, 0);
        while left > 0 {
            let size = match number % 4 {
                0 => rng.between(1, 300),
                1 => rng.between(3_000, 70_000),
                2 => rng.between(1 << 18, 2 << 20),
                _ => rng.between(8 << 20, 48 << 20),
            };
            let size = size.min(left);
            left -= size;
            let path = self.dir.join(format!("{number:04}.bin"));
            write_noise(&path, size, &mut rng.fork(), go_on)?;
            number += 1;
        }
        Ok(())
    }
}

impl Drop for Generated {
    fn drop(&mut self) {
        // There is no place to report that it could not be removed; the next run tries again.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn write_noise(path: &Path, size: u64, rng: &mut Rng, go_on: GoOn<'_>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let mut piece = vec![0; (size as usize).next_multiple_of(8).min(1 << 20)];
    let mut left = size as usize;
    while left > 0 {
        go_on()?;
        let (words, _) = piece.as_chunks_mut::<8>();
        words.iter_mut().for_each(|word| *word = rng.next().to_le_bytes());
        let part = left.min(piece.len());
        file.write_all(&piece[..part])?;
        left -= part;
    }
    Ok(())
}

/// Gives every file its name at the server and the size of its messages: from one byte to 4 MiB. A
/// file whose own name no server takes, or that is no text, gets a number instead.
pub fn items(root: &str, base: &Path, paths: &[PathBuf], rng: &mut Rng) -> Vec<Item> {
    let mut items = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let Ok(metadata) = fs::metadata(path) else { continue };
        let size = metadata.len();
        let relative = path.strip_prefix(base).unwrap_or(path).to_str();
        let name = relative.map(|relative| format!("{root}/{relative}"));
        let name = name.filter(|name| parts(name).is_some());
        let name = name.unwrap_or_else(|| format!("{root}-numbers/{number}"));
        let chunk = match size {
            0..=64 => 1 + rng.below(64) as u32,
            65..=65_536 => 1 << rng.between(9, 16),
            65_537..=1_048_576 => 1 << rng.between(12, 20),
            _ => 1 << rng.between(16, 22),
        };
        let written = metadata.modified().ok();
        items.push(Item { path: path.clone(), name, size, chunk, written });
    }
    items
}

/// The checksum of a file as it lies on disk. `go_on` is asked between pieces.
///
/// # Errors
/// `go_on` says so. The inner error is the file's.
pub fn checksum(path: &Path, go_on: GoOn<'_>) -> io::Result<io::Result<u64>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    let (mut hash, mut buffer) = (Hash::new(), vec![0; 1 << 20]);
    loop {
        go_on()?;
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Ok(hash.finish())),
            Ok(read) => hash.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("lnd-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        place
    }

    fn begin(place: &Path, total: u64) -> io::Result<Generated> {
        Generated::begin(place, total, &|| Ok(()))
    }

    fn left_in(place: &Path) -> Vec<String> {
        let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn generated_files_are_as_many_bytes_as_asked_for_and_are_removed() {
        let place = place("generated");
        let set = begin(&place, 3 << 20).unwrap();
        set.fill(3 << 20, &|| Ok(())).unwrap();
        let paths = collect(set.dir(), &|| Ok(())).unwrap();
        let sizes: Vec<u64> = paths.iter().map(|path| fs::metadata(path).unwrap().len()).collect();
        assert_eq!(sizes.iter().sum::<u64>(), 3 << 20);
        assert!(sizes.len() >= 3 && sizes.iter().any(|size| *size <= 300), "{sizes:?}");
        let noise = fs::read(paths.last().unwrap()).unwrap();
        assert!(noise.iter().any(|byte| *byte != noise[0]));
        drop(set);
        assert_eq!(left_in(&place), Vec::<String>::new());
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn what_is_stopped_in_the_middle_leaves_nothing() {
        let place = place("stopped");
        let pieces = Cell::new(0);
        let stop_at_third = || {
            pieces.set(pieces.get() + 1);
            if pieces.get() < 3 {
                return Ok(());
            }
            Err(io::Error::other("stopped"))
        };
        let set = begin(&place, 64 << 20).unwrap();
        let error = set.fill(64 << 20, &stop_at_third).unwrap_err();
        assert_eq!((error.to_string(), pieces.get()), ("stopped".to_owned(), 3));
        drop(set);
        assert_eq!(left_in(&place), Vec::<String>::new());
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn a_set_that_does_not_fit_is_not_begun() {
        let place = place("full");
        let error = begin(&place, u64::MAX).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(left_in(&place), Vec::<String>::new());
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn leftovers_of_killed_runs_are_removed_and_nothing_else_is() {
        let place = place("leftovers");
        // No process has such a number.
        let killed = format!("{PREFIX}4294967295");
        let others = ["lnd-demo-1", "lnd-demo-x", "4294967295"];
        for name in others.iter().copied().chain([killed.as_str()]) {
            fs::create_dir_all(place.join(name)).unwrap();
            fs::write(place.join(name).join("0000.bin"), "left").unwrap();
        }
        let set = begin(&place, 1).unwrap();
        assert_eq!(
            collect(set.dir(), &|| Ok(())).unwrap(),
            Vec::<PathBuf>::new(),
            "nothing old is sent"
        );
        drop(set);
        let mut left = left_in(&place);
        left.sort();
        let mut others = others.map(str::to_owned).to_vec();
        others.sort();
        assert_eq!(left, others);
        fs::remove_dir_all(&place).unwrap();
    }

    /// What is asked of the disk before the traffic ends when it is told to, piece by piece.
    #[test]
    fn looking_for_files_and_reading_them_can_be_stopped() {
        let place = place("stoppable");
        for name in ["a", "b", "c"] {
            fs::write(place.join(name), vec![7; 2 << 20]).unwrap();
        }
        let asked = Cell::new(0);
        let stop_at = |last: u32| {
            asked.set(0);
            let asked = &asked;
            move || {
                asked.set(asked.get() + 1);
                if asked.get() < last {
                    return Ok(());
                }
                Err(io::Error::other("stopped"))
            }
        };
        let stopped = |error: io::Error| (error.to_string(), asked.get());
        let error = collect(&place, &stop_at(2)).unwrap_err();
        assert_eq!(stopped(error), ("stopped".to_owned(), 2));
        let error = checksum(&place.join("a"), &stop_at(2)).unwrap_err();
        assert_eq!(stopped(error), ("stopped".to_owned(), 2));
        let error = Generated::begin(&place, 1, &stop_at(2)).unwrap_err();
        assert_eq!(stopped(error), ("stopped".to_owned(), 2));
        let sum = checksum(&place.join("a"), &|| Ok(())).unwrap().unwrap();
        assert_eq!(sum, crate::files::hash(&vec![7; 2 << 20]));
        let missing = checksum(&place.join("none"), &|| Ok(())).unwrap().unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(&place).unwrap();
    }

    /// Every file has a name of its own that a server takes, whatever it is called here.
    #[test]
    fn files_with_names_that_no_server_takes_are_sent_under_others() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let place = place("names");
        let odd: [&[u8]; 6] =
            [b"line\nfeed", b"back\\slash", b"\xff", b"\xfe", b".owner", b"plain"];
        for name in odd {
            fs::write(place.join(OsStr::from_bytes(name)), name).unwrap();
        }
        let paths = collect(&place, &|| Ok(())).unwrap();
        let items = items("dir", &place, &paths, &mut Rng::new(1));
        let mut names: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
        assert!(names.iter().all(|name| parts(name).is_some()), "{names:?}");
        assert!(names.contains(&"dir/plain"), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), odd.len());
        fs::remove_dir_all(&place).unwrap();
    }
}
