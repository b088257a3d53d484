// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One node's upper layer: what it holds, how it starts, what blocks its end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lnd_core::fragment::FragmentError;
use lnd_core::id::Nid;

use super::events::{DropReason, Event};
use super::header::Kind;
use super::ledger::{Fault, Ledger};
use super::md::{Match, Md, MeHandle, Portals};
use super::receive::Receive;
use super::requests::{Answer, Request, RequestHandle};
use super::router::{Pool, RouterConfig, Routes};
use super::send::{SendEntry, SendRole};
use super::table::Table;

/// Who sends the ACK of a PUT that asks for one (S1-14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckPolicy {
    /// The layer, when the data is there.
    #[default]
    Auto,
    /// The user, with the [`AckDue`](super::AckDue) of the event and [`Lnet::send_ack`].
    ByEvent,
}

/// What a node is made with.
#[derive(Clone, Debug)]
pub struct Config {
    /// This node.
    pub nid: Nid,
    /// Where generations begin. Another value for each incarnation keeps answers to a former
    /// incarnation, which a router may hold, from matching.
    pub first_generation: u32,
    /// Who sends ACKs.
    pub acks: AckPolicy,
    /// Next hops.
    pub routes: Routes,
    /// Room for messages of others; `None`: not a router.
    pub router: Option<RouterConfig>,
    /// A message is dropped that comes from another neighbour than the one through which its source
    /// is reached (`lnet_drop_asym_route`): no neighbour speaks for a node that it does not lead
    /// to.
    pub symmetric: bool,
    /// Most own PUTs and GETs at a time.
    pub max_requests: usize,
    /// Most messages at a time, queued or with the driver. An answer takes the place of the message
    /// that it answers, and an incoming answer is always let in: it ends something (INV-11).
    pub max_messages: usize,
    /// Most [`Event::Dropped`] waiting for the user; drops beyond are counted only.
    pub max_drop_events: usize,
}

impl Config {
    /// A node that is no router, whose neighbours are all nodes, with roomy limits.
    pub fn new(nid: Nid) -> Self {
        Self {
            nid,
            first_generation: 1,
            acks: AckPolicy::Auto,
            routes: Routes::default(),
            router: None,
            symmetric: false,
            max_requests: 1024,
            max_messages: 4096,
            max_drop_events: 64,
        }
    }
}

/// The upper layer of one node.
#[derive(Debug)]
pub struct Lnet {
    pub(super) nid: Nid,
    pub(super) acks: AckPolicy,
    pub(super) routes: Routes,
    pub(super) symmetric: bool,
    pub(super) pool: Option<Pool>,
    pub(super) portals: Portals,
    pub(super) requests: Table<Request>,
    /// Every message that goes out, by id.
    pub(super) sends: BTreeMap<u64, SendEntry>,
    /// Of these, the ones that wait for the driver; the order of ids is the order of sending.
    pub(super) queue: BTreeSet<u64>,
    /// Every message that comes in, by id.
    pub(super) receives: BTreeMap<u64, Receive>,
    /// The next id. None is ever used again, so a second finalize always shows.
    pub(super) next_id: u64,
    pub(super) ledger: Ledger,
    pub(super) shutting_down: bool,
    events: VecDeque<Event>,
    drop_events: usize,
    max_requests: usize,
    max_messages: usize,
    max_drop_events: usize,
}

/// Something that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocker {
    /// A message waits for the driver to take it.
    Queued {
        /// Its id.
        id: u64,
        /// Its kind.
        kind: Kind,
        /// Where it goes.
        next_hop: Nid,
    },
    /// The driver has a message to send.
    Sending {
        /// Its id.
        id: u64,
        /// Its kind.
        kind: Kind,
        /// Where it goes.
        next_hop: Nid,
    },
    /// The driver is receiving, or is sending what an optimised GET asked for.
    Receiving {
        /// Its id.
        id: u64,
        /// Its kind.
        kind: Kind,
        /// Where it comes from.
        from_hop: Nid,
    },
    /// A request waits for its ACK or REPLY.
    Awaiting {
        /// The request.
        request: RequestHandle,
        /// Its word.
        user: u64,
        /// Who has to answer.
        to: Nid,
    },
}

impl Blocker {
    /// The node that it waits for.
    pub const fn with(&self) -> Nid {
        match *self {
            Self::Queued { next_hop: peer, .. }
            | Self::Sending { next_hop: peer, .. }
            | Self::Receiving { from_hop: peer, .. }
            | Self::Awaiting { to: peer, .. } => peer,
        }
    }
}

impl Lnet {
    /// A node with nothing to do.
    ///
    /// # Errors
    /// A router buffer that the driver could not use.
    pub fn new(config: Config) -> Result<Self, FragmentError> {
        Ok(Self {
            nid: config.nid,
            acks: config.acks,
            routes: config.routes,
            symmetric: config.symmetric,
            pool: config.router.map(Pool::new).transpose()?,
            portals: Portals::new(config.first_generation),
            requests: Table::new(config.first_generation),
            sends: BTreeMap::new(),
            queue: BTreeSet::new(),
            receives: BTreeMap::new(),
            next_id: 1,
            ledger: Ledger::default(),
            shutting_down: false,
            events: VecDeque::new(),
            drop_events: 0,
            max_requests: config.max_requests,
            max_messages: config.max_messages,
            max_drop_events: config.max_drop_events,
        })
    }

    /// This node.
    pub fn nid(&self) -> Nid {
        self.nid
    }

    /// Lets peers reach memory. A node that is shutting down attaches too, and matches nothing.
    ///
    /// # Errors
    /// Memory that the driver could not use.
    pub fn attach(&mut self, criteria: Match, md: Md) -> Result<MeHandle, FragmentError> {
        self.portals.attach(criteria, md)
    }

    /// Stops an entry from matching; [`Event::Unlinked`] follows when no message uses its memory.
    /// Returns false if the handle is stale.
    pub fn unlink(&mut self, me: MeHandle) -> bool {
        match self.portals.unlink(me) {
            None => false,
            Some(None) => true,
            Some(Some(user)) => {
                self.emit(Event::Unlinked { me, user });
                true
            }
        }
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if matches!(event, Event::Dropped { .. }) {
            self.drop_events -= 1;
        }
        Some(event)
    }

    /// Begins to end: takes no new work, own or foreign, and unlinks every entry. What is under way
    /// goes on; answers are let in. The node has ended when it is [`idle`](Self::idle) (INV-15).
    pub fn shut_down(&mut self) {
        self.shutting_down = true;
        for me in self.portals.linked() {
            self.unlink(me);
        }
    }

    /// Whether every message and every request has ended. Events may still wait to be read.
    pub fn idle(&self) -> bool {
        self.sends.is_empty() && self.receives.is_empty() && self.requests.len() == 0
    }

    /// Everything that has not ended.
    pub fn blockers(&self) -> Vec<Blocker> {
        let sends = self.sends.iter().map(|(&id, entry)| {
            let (kind, next_hop) = (entry.packet.kind, entry.packet.next_hop);
            if self.queue.contains(&id) {
                Blocker::Queued { id, kind, next_hop }
            } else {
                Blocker::Sending { id, kind, next_hop }
            }
        });
        let receives = self.receives.iter().map(|(&id, receive)| {
            let (kind, from_hop) = (receive.kind, receive.from_hop);
            Blocker::Receiving { id, kind, from_hop }
        });
        let waiting = self.requests.iter().filter(|(_, r)| r.answer == Answer::Wanted);
        let requests = waiting.map(|(tag, r)| Blocker::Awaiting {
            request: RequestHandle(tag),
            user: r.user,
            to: r.to,
        });
        sends.chain(receives).chain(requests).collect()
    }

    /// The counts of everything so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Checks the books against what is there. Cheap enough for every step of a test.
    ///
    /// # Errors
    /// The first account that does not add up.
    pub fn audit(&self) -> Result<(), Fault> {
        let queued = self.queue.len() as u64;
        let sending = self.sends.len() as u64 - queued;
        self.ledger.balance(queued, sending, self.receives.len() as u64)?;

        let (mut matched, mut stored, mut answers) = (0, 0, 0);
        for send in self.sends.values() {
            matched += u64::from(matches!(send.role, SendRole::Reply(_)));
            stored += u64::from(matches!(send.role, SendRole::Forward(_)));
        }
        for receive in self.receives.values() {
            matched += u64::from(receive.holds_entry());
            stored += u64::from(receive.holds_room());
            answers += u64::from(receive.is_answer());
        }
        if self.portals.references() != matched {
            return Err(Fault::References);
        }
        if self.pool.as_ref().map_or(0, Pool::taken) != stored {
            return Err(Fault::Buffers);
        }

        let (mut coming, mut sound) = (0, true);
        for (_, request) in self.requests.iter() {
            coming += u64::from(request.answer == Answer::Coming);
            sound &= !request.is_over();
            sound &= request.sending.is_none_or(|id| self.sends.contains_key(&id));
        }
        if coming == answers && sound {
            Ok(())
        } else {
            Err(Fault::Requests)
        }
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Counts a dropped message and tells the user, unless the user does not listen.
    pub(super) fn drop_message(&mut self, reason: DropReason, hop: Nid) {
        *self.ledger.drops.entry(reason).or_default() += 1;
        if self.drop_events < self.max_drop_events {
            self.drop_events += 1;
            self.emit(Event::Dropped { reason, hop });
        }
    }

    pub(super) fn issue_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    pub(super) fn requests_full(&self) -> bool {
        self.requests.len() >= self.max_requests
    }

    pub(super) fn messages_full(&self) -> bool {
        self.sends.len() + self.receives.len() >= self.max_messages
    }

    /// Gives back a reference to an entry, and tells the user if it was the last.
    pub(super) fn release_entry(&mut self, me: MeHandle) {
        if let Some(user) = self.portals.release(me) {
            self.emit(Event::Unlinked { me, user });
        }
    }
}
