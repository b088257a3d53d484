// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files in a directory.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{parts, Info, Store, StoreError, DRAFTS};
use crate::files::hash::hash;

/// Files in a directory; `/` in a name is a subdirectory. Nothing outside the directory is reached:
/// names that lead out are refused, and so are symbolic links, wherever they lead.
///
/// A draft becomes a file by a rename, so a reader sees the old file or the new one, and a process
/// that is killed leaves only drafts, which the next one removes. One process at a time may have it.
#[derive(Debug)]
pub struct DirStore {
    root: PathBuf,
    next_draft: u64,
}

/// A file that is being written; removed when it is dropped.
#[derive(Debug)]
pub struct DirDraft {
    file: File,
    path: PathBuf,
    name: String,
    size: u64,
}

impl Drop for DirDraft {
    fn drop(&mut self) {
        // Gone already if it has become a file.
        let _ = fs::remove_file(&self.path);
    }
}

impl DirStore {
    /// Makes the directory if there is none, and removes what an earlier process was writing.
    ///
    /// # Errors
    /// What the file system says.
    pub fn open(root: &Path) -> std::io::Result<Self> {
        let drafts = root.join(DRAFTS);
        if drafts.exists() {
            fs::remove_dir_all(&drafts)?;
        }
        fs::create_dir_all(&drafts)?;
        Ok(Self { root: root.to_owned(), next_draft: 0 })
    }

    /// The path of a name. No part of it is a link, as far as it exists.
    fn path(&self, name: &str) -> Result<PathBuf, StoreError> {
        let parts = parts(name).ok_or(StoreError::BadName)?;
        let mut path = self.root.clone();
        for part in parts {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => return Err(StoreError::BadName),
                _ => {}
            }
        }
        Ok(path)
    }

    fn collect(&self, directory: &Path, names: &mut Vec<String>) -> Result<(), StoreError> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
            let Some(name) = name.filter(|name| parts(name).is_some()) else { continue };
            if kind.is_dir() {
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
        let target = self.path(name)?;
        if target.is_dir() {
            return Err(StoreError::BadName);
        }
        let above = target.parent().ok_or(StoreError::BadName)?;
        fs::create_dir_all(above).map_err(|error| match error.kind() {
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => StoreError::BadName,
            _ => error.into(),
        })?;
        let path = self.root.join(DRAFTS).join(self.next_draft.to_string());
        self.next_draft += 1;
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path)?;
        Ok(DirDraft { file, path, name: name.to_owned(), size })
    }

    fn write(&mut self, draft: &mut DirDraft, offset: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let end = offset.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > draft.size) {
            return Err(StoreError::Io(ErrorKind::UnexpectedEof));
        }
        draft.file.seek(SeekFrom::Start(offset))?;
        Ok(draft.file.write_all(bytes)?)
    }

    fn read_back(
        &mut self,
        draft: &mut DirDraft,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), StoreError> {
        draft.file.seek(SeekFrom::Start(offset))?;
        Ok(draft.file.read_exact(into)?)
    }

    fn commit(&mut self, draft: DirDraft) -> Result<(), StoreError> {
        let target = self.path(&draft.name)?;
        Ok(fs::rename(&draft.path, target)?)
    }

    fn look_up(&self, name: &str) -> Result<Info, StoreError> {
        let found = fs::metadata(self.path(name)?)?;
        if !found.is_file() {
            return Err(StoreError::NotFound);
        }
        // The rename brings another inode, so two files of one moment differ, too.
        let since = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let mut marks = since.to_le_bytes().to_vec();
        marks.extend_from_slice(&found.len().to_le_bytes());
        #[cfg(unix)]
        marks.extend_from_slice(&std::os::unix::fs::MetadataExt::ino(&found).to_le_bytes());
        Ok(Info { size: found.len(), version: hash(&marks) })
    }

    fn read(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let mut file = File::open(self.path(name)?)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(file.read_exact(into)?)
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
