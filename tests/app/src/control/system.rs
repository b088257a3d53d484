// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the standard library has no calls for: a socket that is private from its first moment, a
//! connection that is not waited for without an end, and a peer that has closed its end.

use std::ffi::c_int;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

/// Connections that wait to be taken.
const BACKLOG: c_int = 16;

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// A socket without an address.
fn socket() -> io::Result<OwnedFd> {
    // SAFETY: it takes numbers and returns a number.
    let raw =
        checked(unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the descriptor was just made, and is this value's alone.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// The address of a path, and its length.
fn address(path: &Path) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: all-zero is a valid address.
    let mut address: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    // The last byte stays zero, and a name has none.
    if bytes.len() >= address.sun_path.len() || bytes.contains(&0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    Ok((address, size_of::<libc::sockaddr_un>() as libc::socklen_t))
}

/// The process that listens at the other end.
pub(super) fn listener(stream: &UnixStream) -> io::Result<u32> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    let raw = stream.as_raw_fd();
    // SAFETY: the structure is as long as is said, and outlives the call.
    checked(unsafe {
        let to = (&raw mut found).cast();
        libc::getsockopt(raw, libc::SOL_SOCKET, libc::SO_PEERCRED, to, &mut length)
    })?;
    u32::try_from(found.pid).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Listens at a path that only this process's user may use. A file that gets its mode when it is
/// there already can be opened before that; here the socket has its mode before it has a name, and
/// its file gets that mode.
pub(super) fn listen_privately(path: &Path) -> io::Result<UnixListener> {
    let socket = File::from(socket()?);
    socket.set_permissions(Permissions::from_mode(0o600))?;
    let (address, length) = address(path)?;
    let raw = socket.as_raw_fd();
    // SAFETY: the address is as long as is said, and outlives the call.
    checked(unsafe { libc::bind(raw, (&raw const address).cast(), length) })?;
    // SAFETY: it takes numbers and returns a number.
    checked(unsafe { libc::listen(raw, BACKLOG) })?;
    Ok(OwnedFd::from(socket).into())
}

/// Connects. A process that stands still takes no connection, and the kernel holds up those that
/// are more than it keeps for it.
///
/// # Errors
/// What the system says; [`io::ErrorKind::WouldBlock`] after `patience`, which is not zero.
pub(super) fn connect(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    let (address, length) = address(path)?;
    let stream = UnixStream::from(socket()?);
    stream.set_write_timeout(Some(patience))?;
    // SAFETY: the address is as long as is said, and outlives the call.
    checked(unsafe { libc::connect(stream.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(stream)
}

/// Whether the other end is closed. One that has only ended its own sending still reads.
pub(super) fn has_hung_up(stream: &UnixStream) -> bool {
    let mut looked = libc::pollfd { fd: stream.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: one structure, which outlives the call; it does not wait.
    unsafe { libc::poll(&raw mut looked, 1, 0) };
    looked.revents & libc::POLLHUP != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn a_process_that_takes_no_connection_is_not_waited_for_without_an_end() {
        let path = std::env::temp_dir().join(format!("lnd-full-{}", std::process::id()));
        let _listener = listen_privately(&path).unwrap();
        let (sender, ended) = mpsc::channel();
        let to = path.clone();
        thread::spawn(move || {
            let patience = Duration::from_millis(10);
            let mut open = Vec::new();
            let error = loop {
                match connect(&to, patience) {
                    Ok(stream) => open.push(stream),
                    Err(error) => break error.kind(),
                }
            };
            sender.send((open.len(), error))
        });
        let (open, error) = ended.recv_timeout(Duration::from_secs(60)).expect("it ends");
        assert_eq!(error, io::ErrorKind::WouldBlock);
        assert!(open >= BACKLOG as usize, "{open}");
        // Another process is there: what it has is not replaced.
        let told = super::super::Socket::open(&path).expect_err("it is in use").to_string();
        assert!(told.contains("another process has its control socket there"), "{told}");
        std::fs::remove_file(&path).unwrap();
    }
}
