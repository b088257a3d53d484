// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Joining a fabric from a process: the lock that holds an incarnation, and its end as the proof of
//! death.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::{fmt, thread, time};

use lnd_core::id::Incarnation;
use lnd_core::ports::Features;
use lnd_soft::{DeclareError, Join, NodeFlags};

use super::{Fabric, Mapping};

/// Why a node cannot join.
#[derive(Debug)]
pub enum JoinError {
    /// Another process is this node.
    Taken,
    /// The fabric refuses.
    Fabric(lnd_soft::JoinError),
    /// The lock cannot be had.
    Io(io::Error),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("another process is this node"),
            Self::Fabric(error) => write!(f, "{error}"),
            Self::Io(error) => write!(f, "lock: {error}"),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<lnd_soft::JoinError> for JoinError {
    fn from(error: lnd_soft::JoinError) -> Self {
        match error {
            lnd_soft::JoinError::Taken => Self::Taken,
            other => Self::Fabric(other),
        }
    }
}

/// The bytes of the file whose locks stand for nodes lie far behind its content.
const LOCKS: i64 = 1 << 50;
/// Looks, a millisecond apart, at whether peers' engines still read a former incarnation's memory.
const PATIENCE: u32 = 2000;

impl<'m> Fabric<'m> {
    /// Becomes node `node`: takes its lock, lets the former incarnation's affairs end, formats its
    /// link memories and begins a new incarnation.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join(&'m self, node: u32, random: u32) -> Result<Membership<'m>, JoinError> {
        let Join { features, start, .. } = Join::new(random);
        self.join_with(node, random, features, start)
    }

    /// As [`join`](Self::join), with engines that can do less, and with free-running indices that
    /// begin at `start`.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join_with(
        &'m self,
        node: u32,
        random: u32,
        features: Features,
        start: u32,
    ) -> Result<Membership<'m>, JoinError> {
        let lock = Lock::of_node(self.mapping, node)?;
        let mut flags = NodeFlags::LEASES;
        if lock.is_some() {
            flags |= NodeFlags::LOCKED;
            // The former holder of this lock has it no more.
            self.soft.probe_death(node, || true);
        }
        let mut joining = self.soft.claim(node, &Join { random, features, start, flags })?;
        for _ in 0..PATIENCE {
            match joining.finish() {
                Ok(soft) => return Ok(Membership { fabric: self, soft, lock }),
                Err((lnd_soft::JoinError::Busy, again)) => joining = again,
                Err((error, joining)) => {
                    joining.abandon();
                    return Err(error.into());
                }
            }
            thread::sleep(time::Duration::from_millis(1));
        }
        joining.abandon();
        Err(lnd_soft::JoinError::Busy.into())
    }

    /// Declares a node dead whose process, if it is one, has ended: its lock is held meanwhile, so
    /// that no process can be the node. The caller has the proof that none of its engines runs any
    /// more.
    ///
    /// # Errors
    /// [`JoinError::Taken`]: a process has the node's lock; [`JoinError::Io`]. Nothing was changed.
    /// What the table says against it is the inner result.
    pub fn declare_ended(
        &self,
        node: u32,
        incarnation: Option<Incarnation>,
    ) -> Result<Result<(), DeclareError>, JoinError> {
        let lock = self.mapping.backing().map(|file| Lock::take(file, node, F_RDLCK)).transpose();
        let _lock = lock.map_err(taken)?;
        Ok(self.soft.declare_dead(node, incarnation))
    }

    /// Declares a node dead. The caller has the proof that none of its engines runs any more.
    pub fn declare_dead(&self, node: u32) {
        // One that has left, or that never was, needs no declaration.
        let _ = self.soft.declare_dead(node, None);
    }

    /// Looks whether a node that counts as alive has lost its lock, which proves its death; then
    /// declares it dead. Only with a file. Returns whether the node is dead.
    pub fn probe_death(&self, node: u32) -> bool {
        // The lock is let go at once: the node's next incarnation may want it.
        let is_free = || match self.mapping.backing() {
            Some(file) => Lock::take(file, node, F_RDLCK).is_ok(),
            None => false,
        };
        self.soft.probe_death(node, is_free)
    }
}

fn taken(error: io::Error) -> JoinError {
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => JoinError::Taken,
        _ => JoinError::Io(error),
    }
}

const F_WRLCK: i32 = libc::F_WRLCK;
const F_RDLCK: i32 = libc::F_RDLCK;

/// A lock on one byte of the fabric's file, held by an open file description: it ends with the last
/// thread of the process that holds it.
#[derive(Debug)]
struct Lock {
    file: File,
    number: u32,
}

impl Lock {
    /// The lock that stands for a node's incarnation; `None` without a file.
    fn of_node(mapping: &Mapping, node: u32) -> Result<Option<Self>, JoinError> {
        let Some(file) = mapping.backing() else { return Ok(None) };
        // A node that probes for our former incarnation's death may hold it for a moment.
        let mut tried = Self::take(file, node, F_WRLCK);
        for _ in 0..3 {
            if tried.is_err() {
                thread::sleep(time::Duration::from_millis(1));
                tried = Self::take(file, node, F_WRLCK);
            }
        }
        tried.map(Some).map_err(taken)
    }

    fn take(file: &File, number: u32, kind: i32) -> io::Result<Self> {
        // A description of our own, so that locks of this process exclude each other too.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let file = File::options().read(true).write(true).open(path)?;
        set_lock(&file, number, kind)?;
        Ok(Self { file, number })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Cannot fail for a lock that is held; closing the file would release it as well.
        let _ = set_lock(&self.file, self.number, libc::F_UNLCK);
    }
}

fn set_lock(file: &File, number: u32, kind: i32) -> io::Result<()> {
    // SAFETY: all-zero is a valid flock structure.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = LOCKS + i64::from(number);
    lock.l_len = 1;
    // SAFETY: the descriptor is open and the structure outlives the call.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) };
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// A node's place in the fabric, from joining to leaving. Dropping it without leaving is a crash:
/// peers find out by the lock.
#[derive(Debug)]
pub struct Membership<'m> {
    fabric: &'m Fabric<'m>,
    soft: lnd_soft::Membership<'m>,
    lock: Option<Lock>,
}

impl<'m> Membership<'m> {
    /// The node's number.
    pub const fn node(&self) -> u32 {
        self.soft.node()
    }

    /// This incarnation.
    pub const fn incarnation(&self) -> Incarnation {
        self.soft.incarnation()
    }

    /// The fabric.
    pub const fn fabric(&self) -> &'m Fabric<'m> {
        self.fabric
    }

    /// What outbox and inbox are made of.
    pub(super) const fn soft(&self) -> &lnd_soft::Membership<'m> {
        &self.soft
    }

    /// The channel and the inbox are attached: from now on the node counts as alive.
    pub fn announce(&self) {
        self.soft.announce();
    }

    /// Whether the node is still ours: it was not declared dead.
    pub fn is_ours(&self) -> bool {
        self.soft.is_ours()
    }

    /// Leaves in good order: engines have stopped, peers were told.
    pub fn leave(self) {
        self.soft.leave();
        drop(self.lock);
    }
}
