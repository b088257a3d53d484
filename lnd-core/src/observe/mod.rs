// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where messages spend their time, who ended them, and on what evidence: an observer behind the
//! driver's trace.
//!
//! An [`Observer`] is a [`Tracer`]. A host that wants one gives it to its driver, and an
//! [`IrqObserver`] to each interrupt. A host that does not has none of its code and none of its
//! memory. All memory is the host's and has a fixed size; each event takes constant time.
//!
//! ```
//! use lnd_core::observe::{Account, Observer, PeerLog, Room, Stamps};
//!
//! // For 64 slots and 8 peers. What has ended stays known for 256 further transfers.
//! let (mut slots, mut journal) = ([Account::EMPTY; 64], vec![Account::EMPTY; 256]);
//! let mut peers = [PeerLog::EMPTY; 8];
//! let stamps: Vec<Stamps> = (0..64).map(|_| Stamps::new()).collect();
//! let observer = Observer::new(Room {
//!     slots: &mut slots,
//!     journal: &mut journal,
//!     peers: &mut peers,
//!     stamps: &stamps,
//! });
//! assert_eq!(observer.measures().late().count(), 0);
//! ```

mod account;
mod explain;
mod families;
mod gauges;
mod histogram;
mod measures;
mod metrics;
mod peers;
mod stamps;
mod summary;
mod timeouts;
mod unit;
mod wait;

pub use account::{Account, Transition, TRANSITIONS};
pub use explain::{needs, Explained, Party};
pub use families::Family;
pub use gauges::{Gauge, GaugeValues, GAUGES};
pub use histogram::{Histogram, BUCKETS};
pub use measures::{Measures, Short, CLASSES};
pub use metrics::{Metric, MetricInfo, MetricKind};
pub use peers::{PeerLog, PeerTransition, KEPT};
pub use stamps::{IrqObserver, Stamps};
pub use summary::Summaries;
pub use timeouts::{effective_bounds, BoundOrigin, EffectiveBound, BOUNDS};
pub use unit::Unit;
pub use wait::{Point, SizeClass, Wait, POINTS, SIZES, WAITS};

use crate::base::id::{LinkId, Nid, Tag};
use crate::base::message::Lane;
use crate::base::time::Instant;
use crate::machines::link::LinkState;
use crate::machines::transfer::{Event, Phase, Status, Word};
use crate::ports::trace::Trace;
use crate::ports::Tracer;
use peers::Logs;

/// The memory of an [`Observer`].
#[derive(Debug)]
pub struct Room<'m> {
    /// One for each slot of the driver. Transfers in further slots are not observed.
    pub slots: &'m mut [Account],
    /// The last transfers that have ended.
    pub journal: &'m mut [Account],
    /// Peers. With fewer than the driver has, the longest quiet ones are forgotten.
    pub peers: &'m mut [PeerLog],
    /// What interrupts note, one for each slot. Empty: all completions come through the thread.
    pub stamps: &'m [Stamps],
}

/// A message that is being posted: the next one that the channel takes may be its.
#[derive(Clone, Copy, Debug)]
struct Posting {
    tag: Tag,
    peer: Option<Nid>,
    at: Instant,
    /// Its descriptor was posted just before.
    staged: bool,
}

/// Observes one shard.
#[derive(Debug)]
pub struct Observer<'m> {
    slots: &'m mut [Account],
    journal: &'m mut [Account],
    next: usize,
    finished: u64,
    logs: Logs<'m>,
    stamps: &'m [Stamps],
    measures: Measures,
    posting: Option<Posting>,
}

impl<'m> Observer<'m> {
    /// An observer that has seen nothing.
    pub fn new(room: Room<'m>) -> Self {
        room.slots.fill(Account::EMPTY);
        room.journal.fill(Account::EMPTY);
        room.peers.fill(PeerLog::EMPTY);
        Self {
            slots: room.slots,
            journal: room.journal,
            next: 0,
            finished: 0,
            logs: Logs::new(room.peers),
            stamps: room.stamps,
            measures: Measures::new(),
            posting: None,
        }
    }

    /// What was measured since the beginning. A copy is a snapshot:
    /// [`Measures::since`] gives the difference of two.
    pub const fn measures(&self) -> &Measures {
        &self.measures
    }

    /// The account of a transfer, also of one that has ended, while it is in the journal. Visits
    /// the journal at most.
    pub fn account(&self, tag: Tag) -> Option<&Account> {
        let open = self.slots.get(tag.index as usize).filter(|it| it.is_of(tag));
        open.or_else(|| self.ended().find(|it| it.is_of(tag)))
    }

    /// The transfers in the journal, the latest first.
    pub fn ended(&self) -> impl Iterator<Item = &Account> {
        let (newer, older) = self.journal.split_at_checked(self.next).unwrap_or((&[], &[]));
        newer.iter().rev().chain(older.iter().rev()).filter(|it| it.status().is_some())
    }

    /// Transfers that have ended, also those that are not in the journal any more.
    pub const fn finished(&self) -> u64 {
        self.finished
    }

    /// The transfers that have not ended. Visits all slots.
    pub fn open(&self) -> impl Iterator<Item = &Account> {
        self.slots.iter().filter(|it| it.is_open())
    }

    /// The transfer whose descriptor was posted first, of those that the engine has not given back.
    /// Visits all slots.
    pub fn oldest_posted(&self) -> Option<(Instant, Tag)> {
        let posted = self.open().filter(|it| it.at(Point::Completed).is_none());
        posted.filter_map(|it| Some((it.at(Point::Posted)?, it.tag()))).min_by_key(|(at, _)| *at)
    }

    /// The last transitions of a peer.
    pub fn peer(&self, nid: Nid) -> Option<&PeerLog> {
        self.logs.peer(nid)
    }

    /// The last transitions of a link, oldest first.
    pub fn link(&self, link: LinkId) -> impl Iterator<Item = (Instant, LinkState)> + '_ {
        self.logs.link(link)
    }

    /// Where a transfer spent its time, who ended it, and on what evidence, as text.
    pub fn explain(&self, tag: Tag) -> Option<Explained<'_>> {
        let account = self.account(tag)?;
        Some(Explained::new(account, account.peer().and_then(|nid| self.peer(nid))))
    }

    #[inline]
    fn of(&mut self, tag: Tag) -> Option<&mut Account> {
        self.slots.get_mut(tag.index as usize).filter(|it| it.is_of(tag))
    }

    /// Adds the time up to `now` of a transfer whose word is now `before`. What interrupts have
    /// settled meanwhile ended its wait when they did.
    fn follow(&mut self, now: Instant, tag: Tag, before: Option<Word>) {
        let stamps = self.stamps.get(tag.index as usize);
        let Some(account) = self.of(tag) else { return };
        // Before its first event the word of a transfer is not known: it may have owed both.
        let mut word = match before {
            Some(before) if account.steps() == 0 && before.phase() == Phase::Live => {
                stamps::owing(before)
            }
            Some(before) if account.steps() == 0 => before,
            _ => account.word,
        };
        if before == Some(word) {
            account.wait_until(now, word);
            return;
        }
        let settled = stamps.map(|it| it.settled(tag, account.since, word)).unwrap_or_default();
        for (at, debts) in settled.into_iter().flatten() {
            // A completion is never later than what the thread does about it.
            account.settled(at.min(now), word, debts);
            word = stamps::without(word, debts);
        }
        // What no tracer has told is taken to have happened just now.
        account.wait_until(now, word);
        account.word = before.unwrap_or(word);
    }

    fn step(&mut self, now: Instant, tag: Tag, event: Event, before: Word, after: Word) {
        self.follow(now, tag, Some(before));
        let Some(account) = self.of(tag) else { return };
        account.step(now, event, before, after);
        let peer = account.peer();
        match event {
            Event::Arm(_) => self.posting = Some(Posting { tag, peer, at: now, staged: false }),
            Event::PayCpu => self.posting = None,
            _ => {}
        }
    }

    /// Notes the transfer whose message was handed to the channel.
    #[inline(never)]
    fn sent(&mut self, now: Instant, to: Nid, lane: Lane) {
        let Some(posting) = self.posting.take() else { return };
        // Hellos and other control messages go out in between; only a staged reply has one.
        let its = posting.staged || lane == Lane::Request;
        if its && posting.at == now && posting.peer == Some(to) {
            if let Some(account) = self.of(posting.tag) {
                account.pass(Point::Sent, now);
            }
        }
    }

    fn finalized(&mut self, now: Instant, tag: Tag, status: Status) {
        self.follow(now, tag, None);
        let Some(account) = self.of(tag) else { return };
        account.close(now, status);
        // Borrowed anew beside the journal and the measures: the account is copied once.
        let Some(account) = self.slots.get(tag.index as usize) else { return };
        self.measures.count(now, account, &status);
        self.finished = self.finished.wrapping_add(1);
        if let Some(place) = self.journal.get_mut(self.next) {
            *place = *account;
            self.next = if self.next + 1 >= self.journal.len() { 0 } else { self.next + 1 };
        }
    }

    #[inline(never)]
    fn record_other(&mut self, now: Instant, trace: Trace) {
        match trace {
            Trace::Accepted { tag, peer, length } => {
                if let Some(account) = self.slots.get_mut(tag.index as usize) {
                    account.open(now, tag, peer, length);
                    self.posting = Some(Posting { tag, peer: Some(peer), at: now, staged: false });
                }
            }
            Trace::Step { tag, event, before, after, .. } => {
                self.step(now, tag, event, before, after);
            }
            Trace::Posted { tag, .. } => {
                if let Some(account) = self.of(tag) {
                    account.pass(Point::Posted, now);
                    let peer = account.peer();
                    self.posting = Some(Posting { tag, peer, at: now, staged: true });
                }
            }
            Trace::Peer { peer, state } => {
                self.logs.peer_changed(now, peer, PeerTransition::Handshake(state));
            }
            Trace::Connection { connection, state } => {
                let transition = PeerTransition::Connection(connection, state);
                self.logs.peer_changed(now, connection.peer, transition);
            }
            Trace::Link { link, state } => self.logs.link_changed(now, link, state),
            Trace::Finalized { tag, status } => self.finalized(now, tag, status),
            Trace::Ended { .. }
            | Trace::Sent { .. }
            | Trace::Received { .. }
            | Trace::Stale { .. }
            | Trace::Invalidated { .. }
            | Trace::Reclaimed { .. } => {}
        }
    }
}

impl Tracer for Observer<'_> {
    /// The events of a message that uses no slot are handled here, so that it pays for no more.
    #[inline(always)]
    fn record(&mut self, now: Instant, trace: Trace) {
        match trace {
            Trace::Ended { length, status, .. } => {
                self.measures.count_short(length, status.evidence);
            }
            Trace::Received { .. } => {}
            Trace::Sent { to, lane, .. } => {
                if self.posting.is_some() {
                    self.sent(now, to, lane);
                }
            }
            other => self.record_other(now, other),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_request_is_the_message_of_a_transfer() {
        let (mut slots, mut journal) = ([Account::EMPTY; 2], [Account::EMPTY; 1]);
        let room = Room { slots: &mut slots, journal: &mut journal, peers: &mut [], stamps: &[] };
        let mut observer = Observer::new(room);
        let tag = Tag { index: 1, generation: 5 };
        let nid = |n| Nid::from_raw(n).unwrap();
        let link = LinkId::new(0).unwrap();
        let at = Instant::from_nanos;
        let mut sent = |now, to, lane| {
            observer.record(at(1), Trace::Accepted { tag, peer: nid(7), length: 9 });
            observer.record(at(now), Trace::Sent { to: nid(to), link, lane, sequence: 0 });
            observer.account(tag).unwrap().at(Point::Sent)
        };
        assert_eq!(sent(1, 7, Lane::Control), None, "a hello, or credits");
        assert_eq!(sent(1, 8, Lane::Request), None, "another peer's");
        assert_eq!(sent(2, 7, Lane::Request), None, "sent by a later call");
        assert_eq!(sent(1, 7, Lane::Request), Some(at(1)));
    }

    #[test]
    fn a_slot_that_is_not_observed_costs_nothing_and_changes_nothing() {
        let room = Room { slots: &mut [], journal: &mut [], peers: &mut [], stamps: &[] };
        let mut observer = Observer::new(room);
        let (tag, peer) = (Tag { index: 3, generation: 5 }, Nid::from_raw(7).unwrap());
        observer.record(Instant::ORIGIN, Trace::Accepted { tag, peer, length: 9 });
        let link = LinkId::new(0).unwrap();
        observer.record(Instant::ORIGIN, Trace::Posted { tag, link });
        observer.record(
            Instant::ORIGIN,
            Trace::Sent { to: peer, link, lane: Lane::Request, sequence: 0 },
        );
        let ended = Trace::Finalized { tag, status: Status::OK };
        observer.record(Instant::ORIGIN, ended);
        assert_eq!((observer.account(tag), observer.finished()), (None, 0));
        assert!(observer.explain(tag).is_none());
    }
}
