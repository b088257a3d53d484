// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A client's own end of a file: where a PUT reads and where a GET writes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What a PUT reads. It is read from the front to the end, once for each attempt at the whole file.
pub trait Source: Send {
    /// Bytes in all.
    fn size(&self) -> u64;

    /// Reads a part within the size.
    ///
    /// # Errors
    /// Any; the job has failed.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Another number when the content may have changed. One that does not change has one number.
    ///
    /// # Errors
    /// Any; the job has failed.
    fn version(&self) -> io::Result<u64> {
        Ok(0)
    }
}

/// What a GET writes, from the front to the end. A part that has proven wrong, or whose server was
/// lost, is written again from an earlier offset; if the file changes at the server on the way,
/// from the front. All has been verified when [`finish`](Self::finish) is called, and nothing is
/// meant for others before.
pub trait Sink: Send {
    /// Writes a part. What was written at its offset and behind it before is void.
    ///
    /// # Errors
    /// Any; the job has failed.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// The whole file of `size` bytes has been written.
    ///
    /// # Errors
    /// Any; the job has failed.
    fn finish(&mut self, size: u64) -> io::Result<()>;
}

/// Bytes in memory, shared: a job that is begun again needs no copy.
impl Source for Arc<Vec<u8>> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let part = start.and_then(|start| self.get(start..)?.get(..into.len()));
        into.copy_from_slice(part.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// A file to be sent. Its size is what it is when it is opened.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    size: u64,
}

impl FileSource {
    /// Opens a file.
    ///
    /// # Errors
    /// What the file system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(File::open(path)?)
    }

    /// A file that is open.
    ///
    /// # Errors
    /// What the file system says.
    pub fn of(file: File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(Self { file, size })
    }
}

impl Source for FileSource {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }

    /// The time of the last change, whose steps are those of the system's clock: milliseconds.
    fn version(&self) -> io::Result<u64> {
        let found = self.file.metadata()?;
        Ok((found.mtime() as u64).wrapping_mul(1_000_000_000) ^ found.mtime_nsec() as u64)
    }
}

/// A sink that only counts: the job's checksum is all that is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl Sink for Discard {
    fn write(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// A sink in memory; a clone is another handle to the same bytes.
#[derive(Clone, Debug, Default)]
pub struct SharedSink(Arc<Mutex<Vec<u8>>>);

impl SharedSink {
    /// The bytes so far; the sink is empty then.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink for SharedSink {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut content = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        content.truncate(usize::try_from(offset).unwrap_or(usize::MAX));
        if content.len() as u64 != offset {
            return Err(ErrorKind::InvalidInput.into());
        }
        content.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(&mut self, size: u64) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).truncate(size as usize);
        Ok(())
    }
}

/// A file to be received: written beside its place under a name of its own, and renamed at the end.
/// Dropped before, it leaves nothing. What a process leaves that is killed is removed by the next
/// one that begins a file in the same directory.
#[derive(Debug)]
pub struct FileSink {
    file: File,
    draft: PathBuf,
    path: PathBuf,
}

impl FileSink {
    /// Begins a file. One that is there is replaced at the end, and its permissions stay; of a
    /// symbolic link the file that it leads to is replaced. Directories are not made.
    ///
    /// # Errors
    /// What the file system says; there is something that is no regular file.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(ErrorKind::IsADirectory.into());
        }
        let path = target(path)?;
        let there = match fs::metadata(&path) {
            Ok(found) if !found.is_file() => {
                return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
            }
            Ok(found) => {
                // What must not be written must not be replaced, either.
                File::options().write(true).open(&path)?;
                Some(found.permissions())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        remove_leftovers(&path);
        let (file, draft) = draft_beside(&path)?;
        let sink = Self { file, draft, path };
        there.map_or(Ok(()), |permissions| sink.file.set_permissions(permissions))?;
        Ok(sink)
    }
}

/// Most bytes of a file's name in its draft's: a name has 255, of which the rest takes 26.
const DRAFT_NAME: usize = 229;

/// The first bytes of a name, to the end of a character.
fn front(name: &[u8], most: usize) -> &[u8] {
    let is_inside = |at: usize| name.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let end = (0..=most.min(name.len())).rev().find(|end| !is_inside(*end));
    &name[..end.unwrap_or(0)]
}

/// A draft beside `path`, locked (`flock`) for as long as it is open.
fn draft_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let name = OsStr::from_bytes(front(name.as_bytes(), DRAFT_NAME));
    loop {
        let mut draft = OsString::from(".");
        draft.push(name);
        let (pid, random) = (std::process::id(), lnd_sim::runtime::random_word());
        draft.push(format!(".{pid}-{random:08x}.part"));
        let draft = path.with_file_name(draft);
        let file = File::options().write(true).create_new(true).open(&draft)?;
        // Where files cannot be locked, no one takes a draft for a leftover, either.
        let _ = lock(&file, libc::LOCK_EX);
        if file.metadata()?.nlink() > 0 {
            return Ok((file, draft));
        }
        // Another has taken it for a leftover before it was locked.
    }
}

fn lock(file: &File, how: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::flock(file.as_raw_fd(), how) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Removes the drafts in the directory of `path` whose writers were killed: those that no one has
/// locked. What cannot be looked at stays.
fn remove_leftovers(path: &Path) {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(above.unwrap_or(Path::new("."))) else { return };
    for entry in entries.flatten().filter(|entry| is_draft(&entry.file_name())) {
        let mut options = File::options();
        // What is no regular file is no draft, and is not waited for.
        let options = options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let Ok(file) = options.open(entry.path()) else { continue };
        let is_file = file.metadata().is_ok_and(|found| found.is_file());
        if is_file && lock(&file, libc::LOCK_EX | libc::LOCK_NB).is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a name is that of a draft: `.NAME.PID-RANDOM.part`.
fn is_draft(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let Some(name) = name.strip_prefix(b".").and_then(|name| name.strip_suffix(b".part")) else {
        return false;
    };
    let mut parts = name.rsplitn(2, |byte| *byte == b'.');
    let (Some(number), Some(_)) = (parts.next(), parts.next()) else { return false };
    let mut halves = number.splitn(2, |byte| *byte == b'-');
    let (Some(pid), Some(random)) = (halves.next(), halves.next()) else { return false };
    let is_pid = !pid.is_empty() && pid.iter().all(u8::is_ascii_digit);
    is_pid && random.len() == 8 && random.iter().all(u8::is_ascii_hexdigit)
}

/// The file that a path leads to, by whatever symbolic links; it need not be there.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            // An absolute link replaces the whole path.
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

impl Sink for FileSink {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn finish(&mut self, size: u64) -> io::Result<()> {
        self.file.set_len(size)?;
        fs::rename(&self.draft, &self.path)
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        // Gone already if it has been renamed.
        let _ = fs::remove_file(&self.draft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("lnd-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> =
                entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// A file that became shorter on the way is begun anew: what was longer before is cut.
    #[test]
    fn a_file_that_is_begun_anew_and_is_shorter_ends_where_it_ends() {
        let scratch = Scratch::new("shorter");
        let path = scratch.0.join("f");
        let mut sink = FileSink::create(&path).unwrap();
        sink.write(0, b"a long first content").unwrap();
        sink.write(0, b"short").unwrap();
        assert!(!path.exists(), "not before its end");
        sink.finish(5).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"short");
        drop(sink);
        assert_eq!(scratch.names(), ["f"]);
    }

    #[test]
    fn a_file_that_is_written_to_has_another_version() {
        let scratch = Scratch::new("version");
        let path = scratch.0.join("f");
        fs::write(&path, b"some").unwrap();
        let source = FileSource::open(&path).unwrap();
        let before = source.version().unwrap();
        assert_eq!(source.version().unwrap(), before);
        // A write may fall into the same step of the clock: the time is set here.
        let file = File::options().write(true).open(&path).unwrap();
        for later in [std::time::Duration::from_nanos(1), std::time::Duration::from_secs(1)] {
            let time = file.metadata().unwrap().modified().unwrap() + later;
            file.set_modified(time).unwrap();
            assert_ne!(source.version().unwrap(), before);
        }
    }

    /// A draft that has a writer stays, whosever it is; so does what only looks like one.
    #[test]
    fn drafts_of_killed_writers_are_removed_and_nothing_else_is() {
        let scratch = Scratch::new("drafts");
        let sink = FileSink::create(&scratch.0.join("f")).unwrap();
        let living = scratch.names();
        let others = [
            "f.1-0123abcd.part",
            ".f.part",
            ".f.x-0123abcd.part",
            ".f.1-0123abc.part",
            ".1-0123abcd.part",
        ];
        for name in
            [".f.1-0123abcd.part", ".other.name.4294967295-00000000.part"].iter().chain(&others)
        {
            fs::write(scratch.0.join(name), "left").unwrap();
        }
        fs::create_dir(scratch.0.join(".d.1-0123abcd.part")).unwrap();
        drop(FileSink::create(&scratch.0.join("g")).unwrap());
        let mut stay: Vec<_> = living.iter().map(String::as_str).chain(others).collect();
        stay.push(".d.1-0123abcd.part");
        stay.sort_unstable();
        assert_eq!(scratch.names(), stay);
        drop(sink);
    }

    /// A name of a file system's longest is one as any other, whatever its letters.
    #[test]
    fn a_file_may_have_the_longest_name() {
        let scratch = Scratch::new("longest");
        for name in ["n".repeat(255), "ä".repeat(127), format!("n{}", "ä".repeat(127))] {
            let mut sink = FileSink::create(&scratch.0.join(&name)).unwrap();
            let draft = sink.draft.file_name().unwrap().to_owned();
            assert!(is_draft(&draft) && draft.to_str().is_some(), "{draft:?}");
            sink.write(0, b"new").unwrap();
            sink.finish(3).unwrap();
            drop(sink);
            assert_eq!(scratch.names(), [&*name]);
            fs::remove_file(scratch.0.join(&name)).unwrap();
        }
    }

    #[test]
    fn a_link_stays_and_leads_to_the_new_file() {
        use std::os::unix::fs::{symlink, PermissionsExt};
        let scratch = Scratch::new("link");
        let place = |name: &str| scratch.0.join(name);
        fs::create_dir(place("d")).unwrap();
        fs::write(place("d/old"), b"old").unwrap();
        fs::set_permissions(place("d/old"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("d/middle", place("first")).unwrap();
        symlink("old", place("d/middle")).unwrap();
        symlink(place("d/new"), place("dangling")).unwrap();
        for (link, file) in [("first", "d/old"), ("dangling", "d/new")] {
            let mut sink = FileSink::create(&place(link)).unwrap();
            sink.write(0, b"new").unwrap();
            sink.finish(3).unwrap();
            assert!(fs::symlink_metadata(place(link)).unwrap().is_symlink(), "{link}");
            assert_eq!(fs::read(place(file)).unwrap(), b"new");
        }
        assert_eq!(fs::metadata(place("d/old")).unwrap().permissions().mode() & 0o777, 0o640);
        symlink("loop", place("loop")).unwrap();
        assert!(FileSink::create(&place("loop")).is_err());
    }

    #[test]
    fn nothing_but_regular_files_is_replaced_and_no_directory_is_made() {
        let scratch = Scratch::new("regular");
        fs::create_dir(scratch.0.join("d")).unwrap();
        for path in ["d", "missing/f"].map(|name| scratch.0.join(name)) {
            assert!(FileSink::create(&path).is_err(), "{}", path.display());
        }
        assert!(FileSink::create(Path::new("/dev/null")).is_err());
        drop(FileSink::create(&scratch.0.join("f")).unwrap());
        assert_eq!(scratch.names(), ["d"], "a file that was not finished leaves nothing");
    }
}
