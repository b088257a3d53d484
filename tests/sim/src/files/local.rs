// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A client's own end of a file: where a PUT reads and where a GET writes.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
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
}

/// What a GET writes. It sees verified bytes only, from the front to the end; if the file changes at
/// the server on the way, it is written from the front again.
pub trait Sink: Send {
    /// Writes a part. Offset zero begins anew.
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
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok(Self { file, size })
    }
}

impl Source for FileSource {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(into)
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
/// Dropped before, it leaves nothing.
#[derive(Debug)]
pub struct FileSink {
    file: File,
    draft: PathBuf,
    path: PathBuf,
}

impl FileSink {
    /// Begins a file, and the directories above it. Two sinks for one path are no good at a time.
    ///
    /// # Errors
    /// What the file system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
        let mut draft = OsString::from(".");
        draft.push(name);
        draft.push(format!(".{}.part", std::process::id()));
        let draft = path.with_file_name(draft);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        Ok(Self { file: File::create(&draft)?, draft, path: path.to_owned() })
    }
}

impl Sink for FileSink {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)
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
