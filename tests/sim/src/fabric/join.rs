// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Joining a fabric, leaving it, and the proof that somebody has died.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::{fmt, thread, time};

use lnd_core::id::{Incarnation, LinkId};
use lnd_core::ports::Features;
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_dma::descriptor::State;
use lnd_dma::memory::{LayoutError, LinkMemory};
use lnd_dma::regs::{Control, LinkBits, Register, RegisterAccess};

use super::Fabric;

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Never joined, or left in good order.
    Absent,
    /// Preparing its memory.
    Joining,
    /// At work.
    Alive,
    /// Proven dead: none of its threads touches memory any more.
    Dead,
}

impl NodeState {
    const fn from_word(word: u32) -> Self {
        match word {
            1 => Self::Joining,
            2 => Self::Alive,
            3 => Self::Dead,
            _ => Self::Absent,
        }
    }
}

/// Why a node cannot join.
#[derive(Debug)]
pub enum JoinError {
    /// The fabric has no such node.
    NoSuchNode,
    /// Somebody else is this node.
    Taken,
    /// A peer's engine does not let go of this node's former memory.
    Busy,
    /// The memory is damaged.
    Layout(LayoutError),
    /// The lock cannot be had.
    Io(io::Error),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNode => f.write_str("the fabric has no such node"),
            Self::Taken => f.write_str("another process is this node"),
            Self::Busy => f.write_str("a peer still reads this node's former memory"),
            Self::Layout(error) => write!(f, "link memory: {error:?}"),
            Self::Io(error) => write!(f, "lock: {error}"),
        }
    }
}

impl std::error::Error for JoinError {}

/// Words of a node table entry.
const STATE: usize = 0;
const LIFE_LOW: usize = 4;
const LIFE_HIGH: usize = 8;
const LIVES: usize = 12;

/// The bytes of the file whose locks stand for nodes lie far behind its content.
const LOCKS: i64 = 1 << 50;

impl<'m> Fabric<'m> {
    fn entry(&self, node: u32, word: usize) -> &'m AtomicU32 {
        self.word(self.offsets.nodes + node as usize * 64 + word)
    }

    /// Where a node stands.
    pub fn state_of(&self, node: u32) -> NodeState {
        if node >= self.shape.nodes {
            return NodeState::Absent;
        }
        // Acquire: partner is the Release in `set_state`.
        NodeState::from_word(self.entry(node, STATE).load(Ordering::Acquire))
    }

    fn set_state(&self, node: u32, state: NodeState) {
        let word = match state {
            NodeState::Absent => 0,
            NodeState::Joining => 1,
            NodeState::Alive => 2,
            NodeState::Dead => 3,
        };
        // Release: partner is the Acquire in `state_of`.
        self.entry(node, STATE).store(word, Ordering::Release);
    }

    /// The life that a node had when it joined last.
    pub fn life_of(&self, node: u32) -> Option<Incarnation> {
        let low = self.entry(node, LIFE_LOW).load(Ordering::Relaxed);
        let high = self.entry(node, LIFE_HIGH).load(Ordering::Relaxed);
        Incarnation::from_raw(u64::from(high) << 32 | u64::from(low))
    }

    /// Becomes node `node`: takes its lock, lets the former life's affairs end, formats its link
    /// memories and begins a new life.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join(&'m self, node: u32, random: u32) -> Result<Membership<'m>, JoinError> {
        let features = Features::REMOTE_COMPLETION | Features::KNOWS_UNTOUCHED;
        self.join_with(node, random, features, 0)
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
        if node >= self.shape.nodes {
            return Err(JoinError::NoSuchNode);
        }
        let lock = self.lock(node, F_WRLCK)?;
        let everybody = self.lock_wait(self.shape.nodes)?;
        self.set_state(node, NodeState::Joining);
        self.let_go_of_others(node);
        self.wait_for_pullers(node)?;
        for link in 0..self.shape.links as usize {
            let Some(link) = LinkId::new(link) else { continue };
            self.format_link(node, link, features, start)?;
        }
        self.oracle().forget(node);
        let lives = self.entry(node, LIVES).load(Ordering::Relaxed).wrapping_add(1).max(1);
        self.entry(node, LIVES).store(lives, Ordering::Relaxed);
        self.entry(node, LIFE_LOW).store(lives, Ordering::Relaxed);
        self.entry(node, LIFE_HIGH).store(random, Ordering::Relaxed);
        drop(everybody);
        let life = self.life_of(node).ok_or(JoinError::NoSuchNode)?;
        Ok(Membership { fabric: self, node, life, lock })
    }

    fn format_link(
        &self,
        node: u32,
        link: LinkId,
        features: Features,
        start: u32,
    ) -> Result<(), JoinError> {
        let (base, len) = self.link_place(node, link);
        let (geometry, features) = (self.shape.geometry(), features.bits());
        // SAFETY: this node's lock is held, so it has no engine at work, and `wait_for_pullers` has
        // seen that no other node's engine works on these descriptors; new claims find none.
        let memory = unsafe { LinkMemory::format(base, len, geometry, node, features, start) }
            .map_err(JoinError::Layout)?;
        set_link(&memory, true);
        Ok(())
    }

    /// A former life of this node may have held descriptors of others when it died: they go back.
    fn let_go_of_others(&self, node: u32) {
        for other in (0..self.shape.nodes).filter(|&n| n != node) {
            for link in (0..self.shape.links as usize).filter_map(LinkId::new) {
                let Ok(memory) = self.link_memory(other, link) else { continue };
                for index in 0..self.shape.descriptors {
                    let Some(descriptor) = memory.descriptor(index) else { continue };
                    let own = descriptor.own();
                    let held = own.is(State::Busy) && own.puller() == node;
                    if held && descriptor.swap(own, own.into(State::Touched)) {
                        memory.dones().set(index);
                    }
                }
            }
        }
    }

    /// Stops the former life's links, and waits until no live engine reads from them.
    fn wait_for_pullers(&self, node: u32) -> Result<(), JoinError> {
        let memories: Vec<_> = (0..self.shape.links as usize)
            .filter_map(LinkId::new)
            .filter_map(|link| self.link_memory(node, link).ok())
            .collect();
        for memory in &memories {
            memory.write(Register::Control, Control::STOP.bits());
        }
        for _ in 0..2000 {
            let held = memories.iter().any(|memory| {
                (0..self.shape.descriptors).filter_map(|i| memory.descriptor(i)).any(|d| {
                    let own = d.own();
                    own.is(State::Busy) && self.state_of(own.puller()) == NodeState::Alive
                })
            });
            if !held {
                return Ok(());
            }
            thread::sleep(time::Duration::from_millis(1));
        }
        Err(JoinError::Busy)
    }

    /// Sets the link register of one node's link: the cable is pulled or put back.
    pub fn set_link(&self, node: u32, link: LinkId, up: bool) {
        if let Ok(memory) = self.link_memory(node, link) {
            set_link(&memory, up);
        }
    }

    /// Declares a node dead. The caller has the proof that none of its engines runs any more.
    pub fn declare_dead(&self, node: u32) {
        self.set_state(node, NodeState::Dead);
    }

    /// Looks whether a node that counts as alive has lost its lock, which proves its death; then
    /// declares it dead. Only with a file. Returns whether the node is dead.
    pub fn probe_death(&self, node: u32) -> bool {
        if self.state_of(node) == NodeState::Alive {
            if let Ok(Some(lock)) = self.lock(node, F_RDLCK) {
                if self.state_of(node) == NodeState::Alive {
                    self.set_state(node, NodeState::Dead);
                }
                drop(lock);
            }
        }
        self.state_of(node) == NodeState::Dead
    }

    fn lock(&self, number: u32, kind: i32) -> Result<Option<Lock>, JoinError> {
        let Some(file) = self.mapping.backing() else { return Ok(None) };
        Lock::take(file, number, kind, false).map(Some).map_err(|error| {
            match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EACCES) => JoinError::Taken,
                _ => JoinError::Io(error),
            }
        })
    }

    fn lock_wait(&self, number: u32) -> Result<Option<Lock>, JoinError> {
        let Some(file) = self.mapping.backing() else { return Ok(None) };
        Lock::take(file, number, F_WRLCK, true).map(Some).map_err(JoinError::Io)
    }
}

fn set_link(memory: &LinkMemory<'_>, up: bool) {
    let bits = if up { LinkBits::UP.bits() } else { 0 };
    memory.write(Register::Link, bits);
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
    fn take(file: &File, number: u32, kind: i32, wait: bool) -> io::Result<Self> {
        // A description of our own, so that locks of this process exclude each other too.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let file = File::options().read(true).write(true).open(path)?;
        set_lock(&file, number, kind, wait)?;
        Ok(Self { file, number })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Cannot fail for a lock that is held; closing the file would release it as well.
        let _ = set_lock(&self.file, self.number, libc::F_UNLCK, false);
    }
}

fn set_lock(file: &File, number: u32, kind: i32, wait: bool) -> io::Result<()> {
    // SAFETY: all-zero is a valid flock structure.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = LOCKS + i64::from(number);
    lock.l_len = 1;
    let command = if wait { libc::F_OFD_SETLKW } else { libc::F_OFD_SETLK };
    // SAFETY: the descriptor is open and the structure outlives the call.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), command, &lock) };
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
    node: u32,
    life: Incarnation,
    lock: Option<Lock>,
}

impl<'m> Membership<'m> {
    /// The node's number.
    pub const fn node(&self) -> u32 {
        self.node
    }

    /// This life.
    pub const fn life(&self) -> Incarnation {
        self.life
    }

    /// The fabric.
    pub const fn fabric(&self) -> &'m Fabric<'m> {
        self.fabric
    }

    /// The channel and the inbox are attached: from now on the node counts as alive.
    pub fn announce(&self) {
        self.fabric.set_state(self.node, NodeState::Alive);
    }

    /// Leaves in good order: engines have stopped, peers were told.
    pub fn leave(self) {
        self.fabric.set_state(self.node, NodeState::Absent);
        drop(self.lock);
    }
}
