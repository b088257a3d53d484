// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files in a directory.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::back::{BackReader, Reading};
use super::owner::{check_above, owner_of, Owner};
use super::{parts, Info, ReadBack, Store, StoreError, DRAFTS};
use crate::files::bytes::Bytes;
use crate::files::hash::{hash, Hash};

/// Bytes of a file that are read at a time: they stay in the processor's first caches on their way.
const PIECE: usize = 32 << 10;
/// Drafts that are longer are read back aside. A shorter one is read sooner than a thread wakes up.
const ASIDE: u64 = 2 << 20;

/// Files in a directory; `/` in a name is a subdirectory. Nothing outside the directory is reached:
/// names that lead out are refused, and so are symbolic links, wherever they lead.
///
/// A directory has one store at a time, by a lock, and a store within the directory of another is
/// refused. If the one above is opened later, it refuses all names that lead to the one below for
/// as long as that is open. A draft becomes a file by a rename, so a reader sees the old file or
/// the new one. The draft and the directories on the way to it are on the disk before
/// [`commit`](Store::commit) returns. A process that is killed leaves only drafts, which the next
/// one removes.
#[derive(Debug)]
pub struct DirStore {
    root: PathBuf,
    owner: Owner,
    /// In the names of all drafts of this store.
    incarnation: u64,
    next_draft: u64,
    /// Reads long drafts back.
    reader: Option<BackReader>,
}

/// A file that is being written; removed when it is dropped.
#[derive(Debug)]
pub struct DirDraft {
    file: Arc<File>,
    path: PathBuf,
    name: String,
    size: u64,
    /// A part that is being read back aside.
    reading: Option<Reading>,
}

impl DirDraft {
    /// Whether a part is within the file.
    fn check(&self, offset: u64, length: usize) -> Result<(), StoreError> {
        match offset.checked_add(length as u64) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(StoreError::Io(ErrorKind::UnexpectedEof)),
        }
    }

    /// Whether the draft's name still leads to the file that was written and verified.
    fn is_at_its_name(&self) -> std::io::Result<bool> {
        let (ours, found) = (self.file.metadata()?, fs::symlink_metadata(&self.path)?);
        Ok((ours.dev(), ours.ino()) == (found.dev(), found.ino()))
    }
}

impl Drop for DirDraft {
    fn drop(&mut self) {
        // Gone already if it has become a file. A name that leads to another file is not ours.
        if self.is_at_its_name().unwrap_or(false) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl DirStore {
    /// The store of a directory for this process; see [`open_as`](Self::open_as).
    ///
    /// # Errors
    /// As for [`open_as`](Self::open_as).
    pub fn open(root: &Path) -> std::io::Result<Self> {
        let incarnation = u64::from(lnd_sim::runtime::random_word());
        Self::open_as(root, &format!("process {}", std::process::id()), incarnation)
    }

    /// Makes the directory if there is none, takes its lock, and removes what an earlier owner was
    /// writing. `name` is what others are told who want the directory as well; `incarnation`
    /// differs from owner to owner.
    ///
    /// # Errors
    /// What the file system says, or [`ErrorKind::WouldBlock`] if the directory, or one above it,
    /// has an owner; then nothing was changed.
    pub fn open_as(root: &Path, name: &str, incarnation: u64) -> std::io::Result<Self> {
        let is_new = !root.exists();
        if !is_new && !root.is_dir() {
            return Err(std::io::Error::new(ErrorKind::NotADirectory, "is not a directory"));
        }
        check_above(root)?;
        fs::create_dir_all(root)?;
        let owner = Owner::of(root, name)?;
        let drafts = root.join(DRAFTS);
        if drafts.exists() {
            fs::remove_dir_all(&drafts)?;
        }
        fs::create_dir(&drafts)?;
        sync_directory(root)?;
        if is_new {
            // A relative path of one part has an empty parent: the working directory.
            let above = root.parent().filter(|above| !above.as_os_str().is_empty());
            sync_directory(above.unwrap_or(Path::new(".")))?;
        }
        Ok(Self { root: root.to_owned(), owner, incarnation, next_draft: 0, reader: None })
    }

    /// From now on long drafts are read back on a thread of their own.
    ///
    /// # Errors
    /// The system has no thread; then nothing has changed.
    pub fn read_back_aside(&mut self) -> std::io::Result<()> {
        self.reader = Some(BackReader::start()?);
        Ok(())
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes the directories from that of `target` up to the root to the disk: the names in them.
    fn sync_names(&self, target: &Path) -> std::io::Result<()> {
        for above in target.ancestors().skip(1) {
            sync_directory(above)?;
            if above == self.root {
                break;
            }
        }
        Ok(())
    }

    /// Whether the directory is still this store's.
    fn check_owner(&self) -> Result<(), StoreError> {
        if self.owner.holds()? {
            Ok(())
        } else {
            Err(StoreError::Disowned)
        }
    }

    /// The path of a name. No part of it is a link or belongs to another store, as far as it
    /// exists.
    fn path(&self, name: &str) -> Result<PathBuf, StoreError> {
        let parts = parts(name).ok_or(StoreError::BadName)?;
        let mut path = self.root.clone();
        for part in parts {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => return Err(StoreError::NotAFile),
                Ok(found) if found.is_dir() && owner_of(&path)?.is_some() => {
                    return Err(StoreError::Foreign);
                }
                _ => {}
            }
        }
        Ok(path)
    }

    /// The path of a name that a file has or may get.
    fn target(&self, name: &str) -> Result<PathBuf, StoreError> {
        let path = self.path(name)?;
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => Err(StoreError::NotAFile),
            _ => Ok(path),
        }
    }

    fn collect(&self, directory: &Path, names: &mut Vec<String>) -> Result<(), StoreError> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
            let Some(name) = name.filter(|name| parts(name).is_some()) else { continue };
            if kind.is_dir() {
                if !matches!(owner_of(&path), Ok(None)) {
                    continue;
                }
                self.collect(&path, names)?;
            } else if kind.is_file() {
                names.push(name.to_owned());
            }
        }
        Ok(())
    }
}

impl Store for DirStore {
    type Draft = DirDraft;

    fn create(&mut self, name: &str, size: u64) -> Result<DirDraft, StoreError> {
        let target = self.target(name)?;
        // Before a directory is made where it may be another's.
        self.check_owner()?;
        let above = target.parent().ok_or(StoreError::BadName)?;
        fs::create_dir_all(above).map_err(|error| match error.kind() {
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => StoreError::NotAFile,
            _ => error.into(),
        })?;
        let draft = format!("{:016x}-{}", self.incarnation, self.next_draft);
        let path = self.root.join(DRAFTS).join(draft);
        self.next_draft += 1;
        // A name that is taken is another owner's: two of them would write one file.
        let open = || File::options().read(true).write(true).create_new(true).open(&path);
        let file = open().or_else(|error| {
            // A cleaner of old files may have removed the directory while the node runs.
            if error.kind() != ErrorKind::NotFound {
                return Err(error);
            }
            fs::create_dir_all(self.root.join(DRAFTS))?;
            open()
        })?;
        let file = Arc::new(file);
        Ok(DirDraft { file, path, name: name.to_owned(), size, reading: None })
    }

    fn write(&mut self, draft: &mut DirDraft, offset: u64, bytes: &[u8]) -> Result<(), StoreError> {
        self.write_bytes(draft, offset, &Bytes::from(bytes))
    }

    fn write_bytes(
        &mut self,
        draft: &mut DirDraft,
        offset: u64,
        bytes: &Bytes<'_>,
    ) -> Result<(), StoreError> {
        draft.check(offset, bytes.len())?;
        Ok(bytes.write_to(&draft.file, offset)?)
    }

    fn read_back(
        &mut self,
        draft: &mut DirDraft,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), StoreError> {
        Ok(draft.file.read_exact_at(into, offset)?)
    }

    fn hash_back(
        &mut self,
        draft: &mut DirDraft,
        offset: u64,
        length: usize,
        hash: &mut Hash,
    ) -> Result<(), StoreError> {
        Ok(read_pieces(&draft.file, offset, length, &mut |piece| hash.update(piece))?)
    }

    fn reads_aside(&self, draft: &DirDraft) -> bool {
        self.reader.is_some() && draft.size > ASIDE
    }

    fn start_hash_back(
        &mut self,
        draft: &mut DirDraft,
        offset: u64,
        length: usize,
        mut hash: Hash,
    ) -> ReadBack {
        match &self.reader {
            Some(reader) if draft.size > ASIDE => {
                draft.reading = Some(reader.read(&draft.file, offset, length, hash));
                ReadBack::UnderWay
            }
            _ => {
                let read = self.hash_back(draft, offset, length, &mut hash);
                ReadBack::Done(read.map(|()| hash))
            }
        }
    }

    fn poll_hash_back(&mut self, draft: &mut DirDraft) -> ReadBack {
        let Some(reading) = &draft.reading else {
            return ReadBack::Done(Err(StoreError::Io(ErrorKind::InvalidInput)));
        };
        let Some(read) = reading.poll() else { return ReadBack::UnderWay };
        draft.reading = None;
        ReadBack::Done(read)
    }

    fn commit(&mut self, draft: DirDraft) -> Result<(), StoreError> {
        let target = self.target(&draft.name)?;
        draft.file.sync_all()?;
        // What is renamed is what was written through this descriptor and read back by it.
        self.check_owner()?;
        if !draft.is_at_its_name()? {
            return Err(StoreError::Io(ErrorKind::ResourceBusy));
        }
        fs::rename(&draft.path, &target)?;
        Ok(self.sync_names(&target)?)
    }

    fn look_up(&self, name: &str) -> Result<Info, StoreError> {
        let found = fs::metadata(self.path(name)?)?;
        if !found.is_file() {
            return Err(StoreError::NotAFile);
        }
        // The rename brings another inode, so two files of one moment differ, too.
        let since = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let mut marks = since.to_le_bytes().to_vec();
        marks.extend_from_slice(&found.len().to_le_bytes());
        marks.extend_from_slice(&found.ino().to_le_bytes());
        Ok(Info { size: found.len(), version: hash(&marks) })
    }

    fn read(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        Ok(File::open(self.path(name)?)?.read_exact_at(into, offset)?)
    }

    fn read_pieces(
        &self,
        name: &str,
        offset: u64,
        length: u32,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        let file = File::open(self.path(name)?)?;
        Ok(read_pieces(&file, offset, length as usize, take)?)
    }

    fn names(&self, after: &str, count: usize) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        self.collect(&self.root, &mut names)?;
        names.retain(|name| name.as_str() > after);
        names.sort_unstable();
        names.truncate(count);
        Ok(names)
    }
}

/// Reads a part of a file and passes it on in pieces.
pub(super) fn read_pieces(
    file: &File,
    offset: u64,
    length: usize,
    take: &mut dyn FnMut(&[u8]),
) -> std::io::Result<()> {
    let mut piece = vec![0; length.min(PIECE)];
    for done in (0..length).step_by(PIECE) {
        let piece = &mut piece[..(length - done).min(PIECE)];
        file.read_exact_at(piece, offset.saturating_add(done as u64))?;
        take(piece);
    }
    Ok(())
}

/// Writes the names in a directory to the disk.
fn sync_directory(directory: &Path) -> std::io::Result<()> {
    File::open(directory)?.sync_all()
}
