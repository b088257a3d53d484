// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What may be called, and with what.

use arbitrary::Arbitrary;

/// What is wrong with a handle.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
pub enum Twist {
    Right,
    Kind(u32),
    Ni(u32),
    Generation(u32),
    Index(u32),
}

#[derive(Arbitrary, Debug)]
pub enum Op {
    Submit {
        node: bool,
        kind: u8,
        len: u16,
        nfrags: u8,
        seconds: u8,
    },
    SubmitWrong {
        node: bool,
        size: u32,
        nulls: u8,
        nid: u8,
        link: u8,
        header_len: u8,
    },
    Withdraw {
        node: bool,
        handle: u8,
        twist: Twist,
    },
    Decision {
        node: bool,
        handle: u8,
        twist: Twist,
        give: bool,
        len: u16,
        seconds: u8,
    },
    Refuse {
        node: bool,
        handle: u8,
        twist: Twist,
        why: u8,
    },
    Deliver {
        node: bool,
        again: bool,
        flip: Option<u16>,
    },
    Lose {
        node: bool,
    },
    Garbage {
        node: bool,
        link: u8,
        bytes: Vec<u8>,
    },
    Sent {
        node: bool,
        handle: u8,
        twist: Twist,
        how: u8,
    },
    Interrupt {
        node: bool,
        link: u8,
        budget: u8,
    },
    Run {
        node: bool,
        budget: u8,
    },
    PeerEvent {
        node: bool,
        nid: u8,
        up: bool,
    },
    LinkEvent {
        node: bool,
        link: u8,
        up: bool,
    },
    LinkFailed {
        node: bool,
        link: u8,
    },
    Shutdown {
        node: bool,
        millis: u16,
    },
    Destroy {
        node: bool,
    },
    Queries {
        node: bool,
        size: u8,
    },
    Send {
        node: bool,
        answers: u8,
    },
    InInterrupt {
        node: bool,
    },
    Pass(u32),
    /// A node does not run, and takes no frames.
    Pause {
        node: bool,
        paused: bool,
    },
    /// Everything goes on as it should, for the nodes that run.
    Work(u8),
    /// The registers read all ones.
    Ones {
        node: bool,
        ones: bool,
    },
    Scribble {
        node: bool,
        word: u16,
        value: u32,
    },
}
