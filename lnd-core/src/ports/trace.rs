// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happened, as values: one enum for the simulator, a kernel tracepoint and firmware (R70).

pub mod compact;

use crate::base::id::{LinkId, Nid, Tag};
use crate::base::message::Lane;
use crate::machines::link::{Connection, LinkState};
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Effect, Event, Status, Word};

/// One happening. Plain values: can be hashed, compared and stored.
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
        /// What happened.
        event: Event,
        /// The word before.
        before: Word,
        /// The word after.
        after: Word,
        /// What had to be done.
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
        /// On which link.
        link: LinkId,
    },
    /// The engine was asked for a descriptor.
    Invalidated {
        /// The transfer.
        tag: Tag,
        /// On which link.
        link: LinkId,
    },
    /// A stopped engine's descriptor was taken away.
    Reclaimed {
        /// The transfer.
        tag: Tag,
        /// On which link.
        link: LinkId,
        /// The descriptor's memory held its real outcome.
        real: bool,
    },
    /// A short message was handed over.
    Sent {
        /// To whom.
        to: Nid,
        /// On which link.
        link: LinkId,
        /// In which lane.
        lane: Lane,
        /// Its number in the lane.
        sequence: u32,
    },
    /// A short message was taken in.
    Received {
        /// From whom.
        from: Nid,
        /// In which lane.
        lane: Lane,
        /// Its number in the lane.
        sequence: u32,
        /// Whether it was acted upon.
        taken: bool,
    },
    /// A message that took no slot has ended, at its sender or at its receiver: its one end.
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
        /// Who.
        peer: Nid,
        /// Into which state.
        state: HelloState,
    },
    /// A link changed its state.
    Link {
        /// Which.
        link: LinkId,
        /// Into which state.
        state: LinkState,
    },
    /// A connection that failed changed its state.
    Connection {
        /// Which.
        connection: Connection,
        /// Into which state.
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
