// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The node's own PUTs and GETs, from the call to their last event: minimal response tracking.

use lnd_core::fragment::Fragment;
use lnd_core::id::{Nid, Tag};

use super::header::Target;

/// Names one PUT or GET of this node. It travels to the destination and comes back with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestHandle(pub(super) Tag);

/// A PUT to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// The final destination.
    pub to: Nid,
    /// Which memory there.
    pub target: Target,
    /// The data; belongs to the layer until the request's last event.
    pub memory: Vec<Fragment>,
    /// Ask the destination for an ACK.
    pub ack: bool,
    /// The caller's word, given back with every event.
    pub user: u64,
}

/// A GET to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Get {
    /// The final destination.
    pub to: Nid,
    /// Which memory there.
    pub target: Target,
    /// Where the data goes; belongs to the layer until the request's last event.
    pub memory: Vec<Fragment>,
    /// The caller's word, given back with every event.
    pub user: u64,
}

/// Where the answer to a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A PUT without ACK.
    NotWanted,
    /// Wanted, nothing seen.
    Wanted,
    /// The driver is receiving it.
    Coming,
    /// It has come.
    Came,
    /// No call waits for it any more.
    GivenUp,
}

/// The kind of answer a request has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A PUT.
    Put,
    /// A GET, with the memory for its data.
    Get(Vec<Fragment>),
}

/// One request.
#[derive(Debug)]
pub(super) struct Request {
    pub to: Nid,
    pub user: u64,
    pub asked: Asked,
    /// Bytes of its memory.
    pub length: u32,
    /// The message that carries it, until that has ended.
    pub sending: Option<u64>,
    pub answer: Answer,
}

impl Request {
    /// Nothing owes it anything and it waits for nothing: its memory is free.
    pub fn is_over(&self) -> bool {
        self.sending.is_none() && !matches!(self.answer, Answer::Wanted | Answer::Coming)
    }
}

/// What [`Lnet::expire`](super::Lnet::expire) has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// The request is over.
    Ended,
    /// The driver still has its message or its memory; it is over when that ends.
    Ending,
    /// There is no such request (any more).
    Stale,
}
