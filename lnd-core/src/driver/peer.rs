// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The owned half of a peer, and the table of them.

use super::details::{Queue, NONE};
use super::places::Search;
use crate::defect::seeded;
use crate::id::{Identity, Incarnation, LinkId, Nid, PeerId};
use crate::message::{Envelope, Hello, Lane};
use crate::peer::credits::{Ours, Theirs};
use crate::peer::table::NidIndex;
use crate::time::Instant;

bitflags::bitflags! {
    /// What we have to say to a peer; said as soon as the control lane has room (INV-11).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(super) struct Wants: u8 {
        const ACK = 1 << 0;
        const HELLO = 1 << 1;
        const NOOP = 1 << 2;
        /// Requests wait for room in the channel or for a link.
        const FLUSH = 1 << 3;
        /// Pulls wait, and one may start.
        const PULL = 1 << 4;
        /// A request lies in the channel, and its sender is to be asked once a link is open.
        const ASK = 1 << 5;
    }
}

/// The hello of a peer that was heard last, and that is to be answered: at once, or, if it is of another
/// incarnation than the one that has answered ours, when ours has found that one.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct LastHello {
    /// The incarnation that has said it, which is not the peer's `life` if the versions do not meet.
    pub life: Option<Incarnation>,
    pub session: u32,
    /// The number of the session's latest request.
    pub sequence: u32,
    pub attempt: u8,
    link: u8,
    /// Whether its versions and ours meet.
    pub fits: bool,
    /// Whether its session can be counted from `sequence`.
    pub counts: bool,
}

impl LastHello {
    const NOTHING: Self = Self {
        life: None,
        session: 0,
        sequence: 0,
        attempt: 0,
        link: 0,
        fits: false,
        counts: false,
    };

    /// A hello that has come by `link`.
    pub fn of(from: &Envelope, hello: &Hello, link: LinkId, (fits, counts): (bool, bool)) -> Self {
        let (session, sequence) = (from.session, from.sequence);
        let (attempt, link) = (hello.attempt, link.index() as u8);
        Self { life: Some(from.from_life), session, sequence, attempt, link, fits, counts }
    }

    /// The link by which it came.
    pub fn link(&self) -> Option<LinkId> {
        LinkId::new(self.link as usize)
    }
}

/// One peer.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Peer {
    pub nid: Option<Nid>,
    /// Which use of this place this is (R14).
    pub generation: u32,
    pub life: Option<Incarnation>,
    /// Whether that has answered a hello of ours.
    pub proven: bool,
    /// Our session with this incarnation of the peer; zero: none yet. It outlives resyncs and wrong
    /// verdicts: what was handed to the channel in it stays valid.
    pub session: u32,
    /// The latest session of the peer that we know of.
    pub their_session: Option<u32>,
    /// Whether its hello has opened it, so that we count its requests.
    pub counted: bool,
    /// Whether we have said that we do not count the session of requests that lie in the channel.
    pub told: bool,
    /// Whether that may be an echo: its hello came from a life that we did not know, or with nothing to
    /// compare its number with, and nothing has shown yet that it is not one of long ago.
    pub doubted: bool,
    /// The incarnation that said goodbye last: what it sent before lies behind its goodbye, perhaps
    /// behind its successor's hello.
    pub closed: Option<Incarnation>,
    /// How many sessions the peer has opened, over all its lives.
    pub opened: u32,
    pub last_hello: LastHello,
    pub ours: Ours,
    pub theirs: Theirs,
    pub sequence: u32,
    /// Requests of ours that ended without having been delivered for sure: bit `i` is request
    /// `sequence - i`. Announced in the next hello, so that their credits come back.
    pub given_up: u32,
    /// What of it the hellos of this attempt announce.
    pub announced: u32,
    pub control_sequence: u32,
    pub queue: Queue,
    /// Pulls from this peer that wait for others of it to end.
    pub pull_queue: Queue,
    /// Pulls from this peer that are under way, and those in `pull_queue`.
    pub pulls: u16,
    pub pulls_waiting: u16,
    /// Slots in use for this peer.
    pub transfers: u32,
    /// Of these, the peer's requests: in all, and those without a decision (INV-12).
    pub passive: u16,
    pub undecided: u16,
    pub immediate_max: u32,
    pub features: u32,
    pub tries: u8,
    /// The number of our last hello, and the link by which it went.
    pub hello: u32,
    pub hello_link: u8,
    /// Handshakes of our session, modulo 2^8: an answer to an earlier one does not count (R31).
    pub attempt: u8,
    /// Whether the first incarnation was heard since that began: an answer of another one may be of its
    /// predecessor.
    pub overheard: bool,
    pub wants: Wants,
    /// Next peer that has something to say.
    pub next_speaker: u32,
    pub speaking: bool,
    /// A peer that is down is not greeted again before this; `None` until we have taken note.
    pub revive_at: Option<Instant>,
    pub last_heard: Instant,
    /// Every credit is out and none has come back for the whole bound, although nothing waits any
    /// more: the next request asks for the peer's counts at once.
    pub stalled: bool,
    /// Handshakes in a row that were not answered, or were refused. A request that lies in the channel
    /// revives such a peer ever less often: it may be what a dead one has left behind.
    pub silences: u8,
    /// The links in whose channels a request of it waits until it is admitted: bit `i` is link `i`.
    pub parked: u8,
    /// Stalls in a row that brought no credit.
    pub fruitless: u8,
    /// Its timer ran out while we did not run, and has been armed once more (R41).
    pub postponed: bool,
}

impl Peer {
    pub const UNUSED: Self = Self {
        nid: None,
        generation: 0,
        life: None,
        proven: false,
        session: 0,
        their_session: None,
        counted: false,
        told: false,
        doubted: false,
        closed: None,
        opened: 0,
        last_hello: LastHello::NOTHING,
        ours: Ours::open(0),
        theirs: Theirs::open(),
        sequence: 0,
        given_up: 0,
        announced: 0,
        control_sequence: 0,
        queue: Queue::EMPTY,
        pull_queue: Queue::EMPTY,
        pulls: 0,
        pulls_waiting: 0,
        transfers: 0,
        passive: 0,
        undecided: 0,
        immediate_max: 0,
        features: 0,
        tries: 0,
        hello: 0,
        hello_link: 0,
        attempt: 0,
        overheard: false,
        wants: Wants::empty(),
        next_speaker: NONE,
        speaking: false,
        revive_at: None,
        last_heard: Instant::ORIGIN,
        stalled: false,
        silences: 0,
        parked: 0,
        fruitless: 0,
        postponed: false,
    };

    /// Opens a session of ours; requests are counted from `first`.
    pub fn begin_session(&mut self, session: u32, first: u32) {
        self.session = session;
        self.ours = Ours::open(0);
        self.sequence = first;
        (self.given_up, self.announced) = (0, 0);
    }

    /// The peer opens a session; its requests are counted from `first`.
    pub fn open_theirs(&mut self, session: u32, first: u32) {
        (self.their_session, self.counted) = (Some(session), true);
        self.told = false;
        self.opened = self.opened.wrapping_add(1);
        self.theirs = Theirs::counting_from(first);
    }

    /// The session whose requests we count.
    pub fn counted_session(&self) -> Option<u32> {
        self.their_session.filter(|_| self.counted)
    }

    /// Whether a hello of this session, by the incarnation that we know, opens it: a late repetition must
    /// not reopen an old one.
    pub fn may_open(&self, session: u32) -> bool {
        self.is_news(session) || !self.counted && self.their_session == Some(session)
    }

    /// Whether we have not heard of a session, nor of one after it.
    pub fn is_news(&self, session: u32) -> bool {
        self.their_session.is_none() || self.is_later(session)
    }

    /// Whether a session comes after the latest one that we know of. The sessions of one incarnation
    /// count up, and wrap.
    pub fn is_later(&self, session: u32) -> bool {
        self.their_session.is_some_and(|known| {
            if seeded("sessions-do-not-wrap") {
                return session > known;
            }
            session.wrapping_sub(known) as i32 > 0
        })
    }

    /// None of the peer's sessions up to this one is counted, and none before it will be. Zero: none.
    pub fn forget_theirs(&mut self, session: u32) {
        let bound = Some(session).filter(|it| *it != 0 && !seeded("older-session-opened"));
        (self.their_session, self.counted) = (bound, false);
        self.told = false;
        self.opened = self.opened.wrapping_add(1);
        self.theirs = Theirs::open();
    }

    /// Whether the incarnation that we know has said goodbye.
    pub fn has_closed(&self) -> bool {
        self.closed.is_some() && self.closed == self.life
    }

    /// Whether the channel may be given a request now, as far as credits go.
    #[inline]
    pub fn has_credit(&self, reliable: bool) -> bool {
        self.ours.left() > 0 && !self.must_announce(reliable)
    }

    /// Whether a new request may go out now, before no other, as far as credits go.
    #[inline]
    pub fn may_send(&self, reliable: bool) -> bool {
        let first = self.queue.is_empty() || seeded("short-overtakes");
        first && self.has_credit(reliable)
    }

    /// The envelope of the next message from `me` to the peer. A request takes a credit (R34).
    #[inline]
    pub fn envelope(&mut self, me: Identity, lane: Lane) -> Option<Envelope> {
        let sequence = match lane {
            Lane::Request => self.next_request()?,
            Lane::Control => {
                self.control_sequence = self.control_sequence.wrapping_add(1);
                self.control_sequence
            }
        };
        self.wants.remove(Wants::NOOP);
        Some(Envelope {
            from: me.nid,
            to: self.nid?,
            from_life: me.life,
            to_life: self.life,
            session: self.session,
            sequence,
            credits: self.theirs.tell(),
            credits_of: self.counted_session().unwrap_or(0),
        })
    }

    /// Takes the number of the next request, and a credit.
    pub fn next_request(&mut self) -> Option<u32> {
        self.ours.take()?;
        self.sequence = self.sequence.wrapping_add(1);
        self.given_up <<= 1;
        Some(self.sequence)
    }

    /// Notes that a request of ours has ended and was perhaps never taken. `false`: it lies so far back
    /// that no hello of the session can announce it.
    #[must_use]
    pub fn give_up(&mut self, session: u32, sequence: u32) -> bool {
        if session != self.session {
            return true;
        }
        let bit = 1_u32.checked_shl(self.sequence.wrapping_sub(sequence));
        self.given_up |= bit.unwrap_or(0);
        bit.is_some()
    }

    /// Whether the next request would push one that was given up out of what a hello can announce.
    /// Where `reliable` is false the window finds its loss.
    pub const fn must_announce(&self, reliable: bool) -> bool {
        reliable && self.given_up >> (u32::BITS - 1) != 0
    }

    /// Every request of the session that may be in flight, as a hello announces them.
    pub fn in_flight(&self) -> u32 {
        if self.ours.in_flight() == 0 {
            0
        } else {
            u32::MAX
        }
    }
}

#[cfg(not(loom))]
static_assertions::const_assert!(core::mem::size_of::<Peer>() <= 200);

/// The peers of one shard.
#[derive(Debug)]
pub(super) struct Peers<'m> {
    pub table: &'m mut [Peer],
    index: NidIndex<'m>,
    used: usize,
    /// Peers that have something to say: a queue through `next_speaker`.
    first: u32,
    last: u32,
    /// Where the search for a peer to forget goes on.
    pub clock: usize,
    /// Where the numbers of a peer begin.
    counting_from: u32,
}

impl<'m> Peers<'m> {
    pub fn new(table: &'m mut [Peer], index: NidIndex<'m>, counting_from: u32) -> Self {
        Self { table, index, used: 0, first: NONE, last: NONE, clock: 0, counting_from }
    }

    pub fn get(&self, peer: PeerId) -> Option<&Peer> {
        self.table.get(peer.index())
    }

    pub fn get_mut(&mut self, peer: PeerId) -> Option<&mut Peer> {
        self.table.get_mut(peer.index())
    }

    pub fn find(&self, nid: Nid) -> Option<PeerId> {
        let found = self.index.find(nid, |peer| self.table.get(peer as usize).and_then(|p| p.nid));
        found.and_then(|index| self.id(index))
    }

    /// The id of the peer in a place.
    pub fn id(&self, index: u32) -> Option<PeerId> {
        self.table.get(index as usize).map(|peer| PeerId::new(index, peer.generation))
    }

    /// A peer by an id from outside: not of one that was forgotten.
    pub fn named(&self, peer: PeerId) -> Option<&Peer> {
        self.get(peer).filter(|found| found.generation == peer.generation())
    }

    /// A place for a new peer: an unused one, or an idle one that the search finds to be free.
    /// Looks at `bound` places at most.
    pub fn add(&mut self, nid: Nid, bound: u32, search: &mut Search<'_>) -> Option<PeerId> {
        let place = if self.used < self.table.len() {
            self.used += 1;
            self.used - 1
        } else {
            self.forget_one(bound, search)?
        };
        let entry = self.table.get_mut(place)?;
        let generation = entry.generation.wrapping_add(1);
        let (opened, control_sequence) = (self.counting_from, self.counting_from);
        *entry = Peer { nid: Some(nid), generation, opened, control_sequence, ..Peer::UNUSED };
        self.index.insert(nid, place as u32);
        Some(PeerId::new(place as u32, generation))
    }

    fn forget_one(&mut self, bound: u32, search: &mut Search<'_>) -> Option<usize> {
        for _ in 0..bound.min(self.table.len() as u32) {
            let place = self.clock;
            self.clock = if place + 1 < self.table.len() { place + 1 } else { 0 };
            let peer = self.table.get(place)?;
            let id = PeerId::new(place as u32, peer.generation);
            let idle = peer.transfers == 0 && !peer.speaking && search.may_forget(id, peer);
            if let (true, Some(nid)) = (idle, peer.nid) {
                let table = &*self.table;
                let nid_of = |p: u32| table.get(p as usize).and_then(|p| p.nid);
                self.index.remove(nid, place as u32, nid_of);
                return Some(place);
            }
        }
        None
    }

    /// Notes that a peer has something to say.
    pub fn want(&mut self, id: PeerId, wants: Wants) {
        let Some(peer) = self.table.get_mut(id.index()) else { return };
        peer.wants.insert(wants);
        if peer.speaking {
            return;
        }
        peer.speaking = true;
        peer.next_speaker = NONE;
        match self.table.get_mut(self.last as usize) {
            Some(last) => last.next_speaker = id.index() as u32,
            None => self.first = id.index() as u32,
        }
        self.last = id.index() as u32;
    }

    /// Takes the next peer that has something to say.
    pub fn next_speaker(&mut self) -> Option<PeerId> {
        let id = self.id(self.first)?;
        let peer = self.table.get_mut(id.index())?;
        peer.speaking = false;
        self.first = peer.next_speaker;
        if self.first == NONE {
            self.last = NONE;
        }
        Some(id)
    }

    /// The last of those that have something to say now.
    pub fn last_speaker(&self) -> Option<PeerId> {
        self.id(self.last)
    }

    pub fn anybody_speaks(&self) -> bool {
        self.first != NONE
    }

    /// Number of peers in the table.
    pub fn len(&self) -> usize {
        self.used
    }
}
