// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happens in a world.

use super::mailbox::{Frame, Lane};

/// A thing that will happen. Nodes go by their numbers, their links by their places. `S` is what a plan can
/// schedule, `O` what else happens in one kind of world only.
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
    /// The node's thread runs.
    Thread(u32),
    /// The node's user does something.
    User(u32),
    /// The adversary strikes, or lets go.
    Fault(Fault<S>),
    /// Something of this kind of world.
    Own(O),
}

/// One fault, or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault<S> {
    /// A scheduled happening begins.
    Begin(S),
    /// A link works again: its node, its place.
    LinkUp(u32, usize),
    /// Two numbers of the fabric can talk again.
    Joined(u32, u32),
    /// A dead node is proven dead.
    Proven(u32),
    /// A dead node comes back.
    Restart(u32),
}
