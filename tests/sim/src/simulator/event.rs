// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happens in a world.

use super::mailbox::{Frame, Lane};

/// An event. Hosts go by their numbers, their links by their indices. `S` is what a plan can
/// schedule, `O` is an event that only one kind of world knows.
#[derive(Clone, Debug)]
pub enum Event<S, O> {
    /// A frame of a network reaches its mailbox.
    Frame(usize, Lane, Frame),
    /// A short message of a network completes.
    Sent(usize, u64),
    /// The engine of a link has time to work.
    Engine(u32, usize),
    /// A link raises its interrupt.
    Interrupt(u32, usize),
    /// The host's thread runs.
    Thread(u32),
    /// The host's user has a turn.
    User(u32),
    /// A fault begins or ends.
    Fault(Fault<S>),
    /// An event of this kind of world.
    Own(O),
}

/// The beginning or the end of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault<S> {
    /// A scheduled fault begins.
    Begin(S),
    /// A link works again: host, link.
    LinkUp(u32, usize),
    /// Frames between two numbers of the fabric arrive again.
    Joined(u32, u32),
    /// There is proof that a host is dead.
    Proven(u32),
    /// A host restarts.
    Restart(u32),
}
