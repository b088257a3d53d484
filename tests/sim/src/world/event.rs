// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happens in a world.

use lnd_core::id::LinkId;

use super::chaos::Blow;
use crate::simulator::network::{Frame, Lane};

/// A thing that will happen.
#[derive(Clone, Debug)]
pub enum Event {
    /// A frame reaches its mailbox.
    Frame(Lane, Frame),
    /// A short message completes.
    Sent(u64),
    /// The engine of a link has time to work.
    Engine(u32, LinkId),
    /// A link raises its interrupt.
    Interrupt(u32, LinkId),
    /// The node's thread runs.
    Thread(u32),
    /// The node's user does something.
    User(u32),
    /// The adversary strikes, or lets go.
    Blow(Blow),
    /// The byzantine node has an idea.
    Idea,
}
