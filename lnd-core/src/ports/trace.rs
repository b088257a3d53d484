// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds events as values: one enum for the simulator, a kernel tracepoint and firmware
//! (R70).

pub mod compact;

use crate::base::id::{LinkId, Nid, Tag};
use crate::base::message::Lane;
use crate::machines::link::{Connection, LinkState};
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Effect, Event, Status, Word};

/// One event. Plain values: they can be hashed, compared and stored.
///
/// ```
/// use lnd_core::ports::Tracer;
/// use lnd_core::time::Instant;
/// use lnd_core::trace::Trace;
///
/// /// Keeps the number of the messages that were sent.
/// #[derive(Default)]
/// struct SentMessages(u64);
///
/// impl Tracer for SentMessages {
///     fn record(&mut self, _now: Instant, trace: Trace) {
///         self.0 += u64::from(matches!(trace, Trace::Sent { .. }));
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trace {
    /// A transfer was accepted.
    Accepted {
        /// The transfer.
        tag: Tag,
        /// The other side.
        peer: Nid,
        /// Payload bytes.
        length: u32,
    },
    /// An event was applied to a transfer.
    Step {
        /// The transfer.
        tag: Tag,
        /// The event.
        event: Event,
        /// The word before.
        before: Word,
        /// The word after.
        after: Word,
        /// What the caller had to do.
        effect: Effect,
    },
    /// A tag matched nothing.
    Stale {
        /// The tag.
        tag: Tag,
    },
    /// A descriptor was posted.
    Posted {
        /// The transfer.
        tag: Tag,
        /// Its link.
        link: LinkId,
    },
    /// The engine was asked to return a descriptor.
    Invalidated {
        /// The transfer.
        tag: Tag,
        /// Its link.
        link: LinkId,
    },
    /// A stopped engine's descriptor was reclaimed.
    Reclaimed {
        /// The transfer.
        tag: Tag,
        /// Its link.
        link: LinkId,
        /// The descriptor's memory held its real outcome.
        real: bool,
    },
    /// A short message was handed over.
    Sent {
        /// The receiver.
        to: Nid,
        /// Its link.
        link: LinkId,
        /// Its lane.
        lane: Lane,
        /// Its number in the lane.
        sequence: u32,
    },
    /// A short message was received.
    Received {
        /// The sender.
        from: Nid,
        /// Its lane.
        lane: Lane,
        /// Its number in the lane.
        sequence: u32,
        /// Whether it was acted upon.
        taken: bool,
    },
    /// A message that used no slot has ended, at its sender or at its receiver: its one end.
    Ended {
        /// The other side.
        peer: Nid,
        /// Its number in the session.
        sequence: u32,
        /// Payload bytes.
        length: u32,
        /// How it ended.
        status: Status,
    },
    /// A peer changed its state.
    Peer {
        /// The peer.
        peer: Nid,
        /// The new state.
        state: HelloState,
    },
    /// A link changed its state.
    Link {
        /// The link.
        link: LinkId,
        /// The new state.
        state: LinkState,
    },
    /// A connection that failed changed its state.
    Connection {
        /// The connection.
        connection: Connection,
        /// The new state.
        state: LinkState,
    },
    /// A transfer was reported to the upper layer: its one end.
    Finalized {
        /// The transfer.
        tag: Tag,
        /// How it ended.
        status: Status,
    },
}
