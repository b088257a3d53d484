// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file says in words where a transfer spent its time, who ended it, and on what evidence.

use core::fmt;

use super::account::Account;
use super::peers::{PeerLog, PeerTransition};
use super::wait::{Point, Wait};
use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Debts, Place, Word};
use crate::recovery::Blocker;

/// The party that ended a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Party {
    /// The handshake with the peer, or what reported it as down.
    Handshake,
    /// The peer.
    Peer,
    /// The link.
    Link,
    /// The connection with the peer.
    Connection,
    /// This node's timer.
    Timer,
    /// This node: its shutdown.
    Shutdown,
    /// The upper layer.
    UpperLayer,
    /// The channel.
    Channel,
    /// The engine.
    Engine,
    /// This node, which could not post it.
    Local,
}

impl Party {
    /// The party whose finding a cause is.
    pub const fn of(cause: Cause) -> Self {
        match cause {
            Cause::PeerDown => Self::Handshake,
            Cause::PeerRestarted | Cause::Refused | Cause::Protocol => Self::Peer,
            Cause::LinkDown => Self::Link,
            Cause::ConnectionDown => Self::Connection,
            Cause::Deadline => Self::Timer,
            Cause::Shutdown => Self::Shutdown,
            Cause::Withdrawn => Self::UpperLayer,
            Cause::Channel => Self::Channel,
            Cause::Device => Self::Engine,
            Cause::Local => Self::Local,
        }
    }

    /// The party in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Handshake => {
                "the handshake: the peer does not answer, has left, or is reported down"
            }
            Self::Peer => "the peer, by a message of its own",
            Self::Link => "the link, which failed or was stopped",
            Self::Connection => "the connection with the peer, which failed or was stopped",
            Self::Timer => "this node's timer: its deadline passed",
            Self::Shutdown => "this node's shutdown",
            Self::UpperLayer => "the upper layer, which withdrew it",
            Self::Channel => "the channel, which reported a failure",
            Self::Engine => "the engine, which reported a failure",
            Self::Local => "this node, which could not post it",
        }
    }
}

/// The evidence in words. What it proves about delivery depends on the cause, too: the status says
/// that.
const fn evidence(place: Place) -> &'static str {
    match place {
        Place::Queue => "it never left the queue",
        Place::Message => "its message is known not to have arrived",
        Place::Answer => "its message is out, and no answer has said that its data arrived",
        Place::Staged => "its descriptor came back with no byte moved",
        Place::Moving => "its descriptor came back and bytes may have moved",
    }
}

/// An [`Account`] as text of some lines. For people; programs read the account.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'o> {
    account: &'o Account,
    peer: Option<&'o PeerLog>,
}

impl<'o> Explained<'o> {
    pub(super) const fn new(account: &'o Account, peer: Option<&'o PeerLog>) -> Self {
        Self { account, peer }
    }
}

/// Nanoseconds with a unit, in integers.
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0..=999 => return write!(f, "{} ns", self.0),
            1_000..=999_999 => (1_000, "us"),
            1_000_000..=999_999_999 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        write!(f, "{}.{:03} {name}", self.0 / unit, self.0 % unit / (unit / 1_000))
    }
}

impl Explained<'_> {
    fn header(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let it = self.account;
        write!(f, "transfer {}/{}", it.tag().index, it.tag().generation)?;
        if let Some(nid) = it.peer() {
            write!(f, " with {nid}")?;
        }
        writeln!(f, ", {} bytes", it.length())
    }

    fn points(&self, f: &mut fmt::Formatter<'_>, from: Instant) -> fmt::Result {
        write!(f, "  points:")?;
        for point in Point::ALL {
            if let Some(at) = self.account.at(point) {
                write!(f, " {} +{}", point.name(), Time(at.since(from).as_nanos()))?;
            }
        }
        writeln!(f)
    }

    fn waits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  waited:")?;
        for wait in Wait::ALL {
            let waited = self.account.waited(wait).as_nanos();
            if waited > 0 {
                write!(f, " {} {}", wait.name(), Time(waited))?;
            }
        }
        writeln!(f)
    }

    fn end(&self, f: &mut fmt::Formatter<'_>, from: Instant) -> fmt::Result {
        let it = self.account;
        if let Some((wait, since)) = it.waiting() {
            let passed = Time(since.since(from).as_nanos());
            writeln!(f, "  waits now: {} since +{passed}", wait.name())?;
        }
        if let Some(status) = it.status() {
            writeln!(f, "  ended: {} {:?}, {:?}", status.errno, status.health, status.delivery)?;
        }
        if let Some((cause, place)) = it.evidence() {
            writeln!(f, "  given up by: {}", Party::of(cause).as_str())?;
            writeln!(f, "  evidence: {}", evidence(place))?;
        }
        if let Some((at, wait)) = it.given_up() {
            let after = Time(at.since(from).as_nanos());
            writeln!(f, "  given up at +{after}, while it waited for: {}", wait.name())?;
        }
        match (it.deadline_passed(), it.at(Point::Reported)) {
            (Some(deadline), Some(reported)) => {
                writeln!(f, "  late by {}", Time(reported.since(deadline).as_nanos()))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.account.at(Point::Queued).unwrap_or(Instant::ORIGIN);
        self.header(f)?;
        self.points(f, from)?;
        self.waits(f)?;
        self.end(f, from)?;
        for it in self.account.transitions() {
            let at = Time(it.at.since(from).as_nanos());
            writeln!(f, "  +{at} {:?} -> {}", it.event, it.after)?;
        }
        let Some(peer) = self.peer else { return Ok(()) };
        for (at, transition) in peer.transitions() {
            let at = Time(at.as_nanos());
            match transition {
                PeerTransition::Handshake(state) => writeln!(f, "  peer at {at}: {state:?}")?,
                PeerTransition::Connection(connection, state) => {
                    let link = connection.link.index();
                    writeln!(f, "  peer at {at}: connection on link {link} {state:?}")?;
                }
            }
        }
        Ok(())
    }
}

/// What a transfer needs to go on or to end.
pub const fn needs(word: Word) -> &'static str {
    match Wait::of(word) {
        Wait::Queue => "a handshake, a credit, a link, or its turn",
        Wait::Post => "this node's thread to post it",
        Wait::Send => "the channel to end its message",
        Wait::Answer => "the peer's answer",
        Wait::Engine => "the engine: its own pull, or the peer's",
        Wait::Drain if word.owes(Debts::HW) => {
            "the engine to give its descriptor back, or its stop"
        }
        Wait::Drain => "the channel to end its message, or its stop",
        Wait::Report => "the host to fetch its report",
    }
}

/// A line for operators: what it is, and what it needs.
impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transfer { tag, peer, link, word, until } => {
                write!(f, "transfer {}/{}", tag.index, tag.generation)?;
                if let Some(nid) = peer {
                    write!(f, " with {nid}")?;
                }
                if let Some(link) = link {
                    write!(f, " on link {}", link.index())?;
                }
                write!(f, ", {word}, needs {}", needs(*word))?;
                match until.filter(|until| *until != Instant::NEVER) {
                    Some(until) => write!(f, ", until {} at the latest", Time(until.as_nanos())),
                    None => Ok(()),
                }
            }
            Self::Unreported { tag } => {
                let it = (tag.index, tag.generation);
                write!(f, "transfer {}/{} needs the host to fetch its report", it.0, it.1)
            }
            Self::Link { link, state } => {
                write!(f, "link {} is {state:?} and needs the proof of its stop", link.index())
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
#[path = "explain_tests.rs"]
mod tests;
