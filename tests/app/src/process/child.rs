// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Processes that this one starts, and what is left of one that was killed.

use std::fs;
use std::io;
use std::os::unix::process::{parent_id, CommandExt};
use std::path::Path;
use std::process::Command;

/// The process ends in good order when this one has ended, however that was.
pub fn end_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        // SAFETY: this call with these arguments touches no memory of the process.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
        // A parent that ended before this sends no signal.
        if parent_id() == parent {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(libc::ESRCH))
        }
    };
    // SAFETY: between fork and exec it makes two system calls, and neither allocates nor locks.
    unsafe { command.pre_exec(ask) };
}

/// Removes directories below `place` whose names are `prefix` and the number of a process that is
/// gone. `go_on` is asked before each.
///
/// # Errors
/// `place` cannot be read, or `go_on` says so.
pub fn remove_leftovers(
    place: &Path,
    prefix: &str,
    go_on: &dyn Fn() -> io::Result<()>,
) -> io::Result<()> {
    for entry in fs::read_dir(place)?.flatten() {
        go_on()?;
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(prefix)?.parse::<u32>().ok());
        let over = pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists());
        if over && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}
