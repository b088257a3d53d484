// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where control sockets lie: beside the fabric file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lnd_core::id::Nid;

use super::system::connect;
use crate::process::Broken;

/// The control socket of a node of a fabric: `lnd.fabric.1.control` of 1@soft.
pub fn default_path(fabric: &Path, nid: Nid) -> PathBuf {
    let mut name = OsString::from(fabric.as_os_str());
    name.push(format!(".{}.control", nid.address()));
    name.into()
}

/// The control socket of a node, or of the only node of this machine that is at one.
///
/// # Errors
/// There is none, or there are several.
pub fn find(fabric: &Path, nid: Option<Nid>) -> Result<PathBuf, Broken> {
    if let Some(nid) = nid {
        return Ok(default_path(fabric, nid));
    }
    let mut found = sockets(fabric)?;
    if found.len() > 1 {
        found.retain(|path| answers(path));
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(none(fabric)),
        several => {
            let names: Vec<String> =
                several.iter().map(|path| path.display().to_string()).collect();
            let why = format!("several nodes ({}): --node 1@soft says which", names.join(", "));
            Err(format!("{}: {why}", fabric.display()).into())
        }
    }
}

/// The control sockets of all nodes of this machine that are at one.
///
/// # Errors
/// There is none.
pub fn find_all(fabric: &Path) -> Result<Vec<PathBuf>, Broken> {
    let mut found = sockets(fabric)?;
    found.retain(|path| answers(path));
    if found.is_empty() {
        return Err(none(fabric));
    }
    Ok(found)
}

fn none(fabric: &Path) -> Broken {
    let barred = |path: &PathBuf| {
        let found = shortened(path).and_then(|(_dir, short)| is_taken(&short));
        found.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    };
    if let Some(path) = sockets(fabric).ok().and_then(|all| all.into_iter().find(barred)) {
        return format!("{}: only the user who runs the node may connect", path.display()).into();
    }
    let why = "no node here has a control socket; `lnd node` makes one";
    format!("{}: {why}", fabric.display()).into()
}

/// What lies beside the fabric and looks like a control socket, by the nodes' numbers.
fn sockets(fabric: &Path) -> Result<Vec<PathBuf>, Broken> {
    let dir = fabric.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Bytes: a file's name need not be text.
    let prefix = fabric.file_name().unwrap_or_default().as_bytes();
    let number = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let behind = name.as_bytes().strip_prefix(prefix)?;
        let number = behind.strip_prefix(b".")?.strip_suffix(b".control")?;
        let number = std::str::from_utf8(number).ok()?.parse::<u32>().ok()?;
        entry.file_type().is_ok_and(|kind| kind.is_socket()).then_some(number)
    };
    let entries = fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let named = |entry: fs::DirEntry| Some((number(&entry)?, dir.join(entry.file_name())));
    let mut found: Vec<(u32, PathBuf)> = entries.flatten().filter_map(named).collect();
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Whether a node is at its control socket: one that was killed has left its file behind.
fn answers(path: &Path) -> bool {
    shortened(path).and_then(|(_dir, short)| is_taken(&short)).unwrap_or(false)
}

/// Whether a process is at a socket, although it may stand still.
///
/// # Errors
/// Of another kind than that none is.
pub(super) fn is_taken(short: &Path) -> io::Result<bool> {
    // It is there if the kernel has to hold this up.
    match connect(short, Duration::from_millis(1)).map_err(|error| (error.kind(), error)) {
        Ok(_) | Err((io::ErrorKind::WouldBlock, _)) => Ok(true),
        Err((io::ErrorKind::ConnectionRefused, _)) => Ok(false),
        Err((_, error)) => Err(error),
    }
}

/// A path to the same place that is short enough for a socket's address, for as long as the file is
/// held.
pub fn shortened(path: &Path) -> io::Result<(File, PathBuf)> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let dir = File::open(dir)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd())).join(name);
    Ok((dir, short))
}
