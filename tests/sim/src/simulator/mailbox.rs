// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is under way between nodes: frames in mailboxes, and ends of messages that have not been
//! reported.

use std::collections::VecDeque;

use lnd_core::id::{LinkId, Tag};
use lnd_core::ports::Sent;
use lnd_core::time::Instant;

use super::run_log::FrameId;

/// One mailbox: from, to, link, and whether it is the control lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// The sending node.
    pub from: u32,
    /// The receiving node.
    pub to: u32,
    /// Over which link.
    pub link: LinkId,
    /// Control messages, else requests.
    pub control: bool,
}

/// A frame under way.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What was sent, or what became of it.
    pub bytes: Vec<u8>,
    /// It takes a place in its mailbox: the sender has paid for it. Duplicates have none.
    pub placed: bool,
    /// Its number, if the run is logged.
    pub id: FrameId,
    /// What has happened to it on its way; empty: nothing.
    pub fault: &'static str,
}

/// What the network arranges for later.
#[derive(Clone, Debug)]
pub enum Post {
    /// A frame reaches its mailbox.
    Frame(Lane, Frame),
    /// A short message completes.
    Sent(u64),
}

#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    /// Places taken: under way, or waiting to be read.
    pub(crate) taken: u32,
    pub(crate) last: Instant,
    pub(crate) inbox: VecDeque<Frame>,
}

/// A short message whose end has not been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The sender.
    pub node: u32,
    /// The sender's transfer.
    pub tag: Tag,
    /// The link it went by.
    pub link: LinkId,
    /// The receiver.
    pub to: u32,
    /// What will be reported.
    pub sent: Sent,
}
