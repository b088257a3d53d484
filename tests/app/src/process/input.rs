// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What `lnd put` reads and `lnd get` writes: files, standard input and standard output.

use std::fs::{self, File, FileType};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::Broken;
use crate::files::{FileSink, FileSource, Sink};

/// Files without a block on a disk are read to their end if they are not longer: files of `/proc`
/// and `/sys` do not say how long they are.
const SPOOLED: u64 = 1 << 20;

/// What a file is, if it is not a regular one.
pub(super) fn oddity(kind: FileType) -> Option<&'static str> {
    match kind {
        _ if kind.is_file() => None,
        _ if kind.is_dir() => Some("a directory"),
        _ if kind.is_fifo() => Some("a FIFO"),
        _ if kind.is_socket() => Some("a socket"),
        _ => Some("a device"),
    }
}

/// Opens what is to be sent: `-` is standard input.
pub(super) fn source(path: &Path) -> Result<FileSource, Broken> {
    if path == Path::new("-") {
        let input = io::stdin();
        refuse_closed(&input, "standard input")?;
        return spooled(input, "standard input");
    }
    let named = |error: io::Error| format!("{}: {error}", path.display());
    let found = fs::metadata(path).map_err(named)?;
    let is_fifo = found.file_type().is_fifo();
    if let Some(what) = oddity(found.file_type()).filter(|_| !is_fifo) {
        let hint =
            if found.is_dir() { "" } else { "; to send what it yields: lnd put - --name NAME" };
        return Err(format!("{}: is {what}{hint}", path.display()).into());
    }
    let file = File::open(path).map_err(named)?;
    let unsized_file = found.blocks() == 0 && found.len() <= SPOOLED;
    if is_fifo || unsized_file {
        return spooled(file, &path.display().to_string());
    }
    Ok(FileSource::of(file).map_err(named)?)
}

/// A standard stream that the caller has closed is an error, not an empty file. Rust's runtime
/// opens `/dev/null` in its place, for reading and writing; a user who means that device opens it
/// for one of them.
fn refuse_closed(stream: &impl AsRawFd, name: &str) -> Result<(), Broken> {
    let null = fs::metadata("/dev/null")?.rdev();
    // SAFETY: asks for the flags of a descriptor that is open.
    let flags = unsafe { libc::fcntl(stream.as_raw_fd(), libc::F_GETFL) };
    let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: writes the structure, which is there.
    if unsafe { libc::fstat(stream.as_raw_fd(), found.as_mut_ptr()) } != 0 || flags < 0 {
        return Err(format!("{name}: {}", io::Error::last_os_error()).into());
    }
    // SAFETY: the call has succeeded.
    let found = unsafe { found.assume_init() };
    let device = found.st_mode & libc::S_IFMT == libc::S_IFCHR && found.st_rdev == null;
    if device && flags & libc::O_ACCMODE == libc::O_RDWR {
        return Err(format!("{name} is closed").into());
    }
    Ok(())
}

/// Reads to the end, into a file without a name: a PUT says first how long the file is.
fn spooled(mut from: impl io::Read, name: &str) -> Result<FileSource, Broken> {
    let place = std::env::temp_dir();
    let in_place = |error| format!("{}, into which {name} is read: {error}", place.display());
    let mut file = nameless().map_err(in_place)?;
    let mut piece = vec![0; 64 << 10];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(FileSource::of(file).map_err(in_place)?),
            Ok(read) => file.write_all(&piece[..read]).map_err(in_place)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("{name}: {error}").into()),
        }
    }
}

/// A file that is gone when it is closed.
fn nameless() -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true);
    let place = std::env::temp_dir();
    if let Ok(file) = options.clone().custom_flags(libc::O_TMPFILE).mode(0o600).open(&place) {
        return Ok(file);
    }
    let name = format!(".lnd-{}-{:08x}", std::process::id(), lnd_sim::runtime::random_word());
    let path = place.join(name);
    let file = options.create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// Where a fetched file goes.
#[derive(Debug)]
pub(super) enum Out {
    /// A regular file.
    File(FileSink),
    /// Standard output, which gets the file when all of it has been verified.
    Stdout(File),
}

impl Out {
    /// `-` is standard output.
    pub fn open(path: &Path) -> Result<Self, Broken> {
        if path == Path::new("-") {
            let place = std::env::temp_dir();
            let named = |error| format!("{}: {error}", place.display());
            refuse_closed(&io::stdout(), "standard output")?;
            return Ok(Self::Stdout(nameless().map_err(named)?));
        }
        if let Some(what) = fs::metadata(path).ok().and_then(|it| oddity(it.file_type())) {
            let hint =
                if path.is_dir() { "name the file in it" } else { "use --out - and redirect" };
            return Err(format!("{}: is {what}; {hint}", path.display()).into());
        }
        let sink = FileSink::create(path);
        Ok(Self::File(sink.map_err(|error| format!("{}: {error}", path.display()))?))
    }
}

impl Out {
    /// What [`deliver`] is to write once the file has been fetched.
    pub fn for_stdout(&self) -> io::Result<Option<File>> {
        match self {
            Self::File(_) => Ok(None),
            Self::Stdout(file) => file.try_clone().map(Some),
        }
    }
}

impl Sink for Out {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(sink) => sink.write(offset, bytes),
            Self::Stdout(file) => {
                file.seek(SeekFrom::Start(offset))?;
                file.write_all(bytes)
            }
        }
    }

    fn finish(&mut self, size: u64) -> io::Result<()> {
        match self {
            Self::File(sink) => sink.finish(size),
            Self::Stdout(file) => file.set_len(size),
        }
    }
}

/// Writes to standard output what has been fetched for it. Context: no node runs any more, for the
/// reader may take its time; a signal ends the process.
pub(super) fn deliver(mut fetched: File) -> Result<(), Broken> {
    let named = |error: io::Error| format!("standard output: {error}");
    fetched.rewind().map_err(named)?;
    let mut out = io::stdout().lock();
    io::copy(&mut fetched, &mut out).and_then(|_| out.flush()).map_err(named)?;
    Ok(())
}
