// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the proof that nothing moves in a stop domain.

use super::Connection;
use crate::base::id::LinkId;

/// Proof that a stop domain has stopped: the engine of one link, or one connection of it (INV-3,
/// R11, S0-10).
///
/// Only with this proof may descriptors be taken away from the device and completed without it
/// (R12, R19). The proof is neither `Copy` nor `Clone`: the reset of the domain uses it up.
///
/// It guarantees two things. All work of the domain has ended, *and* no key that the domain gave to
/// a peer is valid. A connection with drained queues may leave a key behind by which another
/// connection reads the memory. Such an engine invalidates its keys before it reports stopped.
///
/// An engine makes the proof where it sees that it has stopped, and nowhere else:
///
/// ```
/// use lnd_core::id::LinkId;
/// use lnd_core::link::Quiesced;
///
/// /// The engine's registers: its identification and its status.
/// fn quiesced(link: LinkId, identification: u32, status: u32) -> Option<Quiesced> {
///     // A device that is gone reads all ones, "stopped" included.
///     let stopped = identification == 0x4c4e_4401 && status & 1 != 0;
///     // SAFETY: the device is there and has stopped; only `Engine::reset` starts it again.
///     stopped.then(|| unsafe { Quiesced::assert_stopped(link) })
/// }
///
/// let link = LinkId::new(0).unwrap();
/// assert!(quiesced(link, u32::MAX, u32::MAX).is_none());
/// assert_eq!(quiesced(link, 0x4c4e_4401, 1).unwrap().link(), link);
/// ```
#[derive(Debug)]
#[must_use = "the domain stays stopped until the proof is spent on its reset"]
pub struct Quiesced {
    domain: Stopped,
}

#[derive(Debug)]
enum Stopped {
    Link(LinkId),
    Connection(Connection),
}

impl Quiesced {
    /// Asserts that the engine of `link` has stopped.
    ///
    /// # Safety
    /// The engine has stopped, and it cannot start again before
    /// [`Engine::reset`](crate::ports::Engine::reset): it reads and writes no memory of this node,
    /// and no other node's engine reads or writes this node's memory through this link, by whatever
    /// key. An engine that identifies itself and whose registers report stopped is one such proof.
    /// A platform that knows it by other means is another: the slot has no power, or the device is
    /// cut off from memory. A register that reads all ones is none.
    pub unsafe fn assert_stopped(link: LinkId) -> Self {
        Self { domain: Stopped::Link(link) }
    }

    /// Asserts that one connection has stopped.
    ///
    /// # Safety
    /// No work of the connection is under way, and none starts before
    /// [`Engine::reset`](crate::ports::Engine::reset): for the transfers that were posted with this
    /// peer by this link, neither engine reads or writes this node's memory, by this connection or
    /// by another, and no key that was made for them is valid.
    pub unsafe fn assert_connection_stopped(connection: Connection) -> Self {
        Self { domain: Stopped::Connection(connection) }
    }

    /// The link that has stopped, or whose connection has.
    pub const fn link(&self) -> LinkId {
        match self.domain {
            Stopped::Link(link) => link,
            Stopped::Connection(connection) => connection.link,
        }
    }

    /// The connection that has stopped; `None`: the whole link has.
    pub const fn connection(&self) -> Option<Connection> {
        match self.domain {
            Stopped::Link(_) => None,
            Stopped::Connection(connection) => Some(connection),
        }
    }
}

static_assertions::assert_not_impl_any!(Quiesced: Clone, Copy);
