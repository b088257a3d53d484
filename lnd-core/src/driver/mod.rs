// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver of one shard: verbs in, hardware ports out, no callbacks, no recursion, bounded work per
//! call (R63, R64, INV-13).
//!
//! ```text
//!  upper layer          driver (one thread at a time)            hardware ports
//!  submit ───────────▶  submit ─▶ peer queue ─▶ hand_out ─────▶  Engine::post, Channel::send
//!                       inbound ─▶ ticket ─▶ (lnet_parse)
//!                          ▲ on_message
//!  recv/give/refuse ─▶  verdict ─▶ answer ────────▲ on_time: sweeps, deadlines, links, greetings
//!  next_report ◀──────  report ◀─ completed list ◀─ Decider (any context) ◀─ completions
//! ```
//!
//! A *shard* is a whole driver with its own peers, tables and engines; shards share nothing. All
//! calls take the shard exclusively (`&mut self`); what interrupts need lies in
//! [`Shared`](crate::shared::Shared) and is reached through a [`Decider`].

mod answer;
mod answered;
mod audit;
mod clock;
mod copy;
mod create;
mod decide;
mod details;
mod fingerprint;
mod greet;
mod handout;
mod inbound;
mod links;
mod lists;
mod peer;
mod places;
mod pulls;
mod report;
mod rx;
mod shutdown;
mod strangers;
mod submit;
mod sweep;
mod ticket;
mod tx;
mod unheard;
mod verdict;
mod view;

pub use crate::id::Identity;
pub use audit::Broken;
pub use decide::{Decider, Interrupt, Served};
pub use details::Role;
pub use report::Report;
pub use rx::arrival::{Arrival, Inbound, Received};
pub use shutdown::{Blocker, RunState};
pub use submit::{Kind, Refused, Request, Submitted, Why};
pub use ticket::{Give, GiveError, Receive, RecvError, RequestKind, Ticket};
pub use view::{CreditView, PeerView, TransferView};

use heapless::Vec;

use crate::claims::Cursor;
use crate::completed::Batch;
use crate::config::Config;
use crate::counters::{Counter, Counters};
use crate::deadlines::Deadlines;
use crate::defect::seeded;
use crate::id::{LinkId, Nid, PeerId, Tag, MAX_LINKS};
use crate::ports::{Engine, Ports, Tracer};
use crate::shared::Shared;
use crate::time::Instant;
use crate::trace::Trace;
use crate::transfer::{Cause, Effect, Event};

use details::{Details, Marks, Queue};
use links::Link;
use lists::Lists;
use peer::Peers;

/// The driver of one shard. Context of every call: the shard's owner, a thread.
pub struct Driver<'m, P: Ports> {
    me: Identity,
    config: Config,
    shared: &'m Shared<'m>,
    details: &'m mut [Details],
    lists: Lists<'m>,
    scratch: &'m mut [u8],
    peers: Peers<'m>,
    timers: Deadlines<'m>,
    links: Vec<Link<P::Engine>, MAX_LINKS>,
    channel: P::Channel,
    memory: P::Memory,
    tracer: P::Tracer,
    cursor: Cursor,
    /// Finished transfers that have been taken and not yet reported.
    batch: Batch,
    /// Answers that wait for room in the control lane.
    answers: Queue,
    sweep: sweep::Sweep,
    turned_away: strangers::TurnedAway,
    places: places::Places,
    /// What waits in the channel may be taken now.
    offer: bool,
    run: shutdown::Run,
    /// Slots in use for our own transfers, and for peers' requests.
    active: u32,
    passive: u32,
    next_session: u32,
    /// The number of the last hello.
    next_hello: u32,
    /// Peers to which a hello was not delivered, taken and not yet looked at.
    unheard: Batch,
    rotor: usize,
    counters: Counters,
}

impl<'m, P: Ports> Driver<'m, P> {
    /// The handle for interrupts and other contexts.
    pub const fn decider(&self) -> Decider<'m> {
        Decider::new(self.shared)
    }

    /// Who we are.
    pub const fn identity(&self) -> Identity {
        self.me
    }

    /// The configuration in force.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What this shard's thread has counted. Interrupts count on their own.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The short-message channel.
    pub const fn channel(&self) -> &P::Channel {
        &self.channel
    }

    /// The short-message channel.
    pub fn channel_mut(&mut self) -> &mut P::Channel {
        &mut self.channel
    }

    /// Payload memory.
    pub fn memory_mut(&mut self) -> &mut P::Memory {
        &mut self.memory
    }

    /// The trace sink.
    pub fn tracer_mut(&mut self) -> &mut P::Tracer {
        &mut self.tracer
    }

    /// The engine of a link.
    pub fn engine_mut(&mut self, link: LinkId) -> Option<&mut P::Engine> {
        self.links.get_mut(link.index()).map(|l| &mut l.engine)
    }

    /// The id of a known peer.
    pub fn peer(&self, nid: Nid) -> Option<PeerId> {
        self.peers.find(nid)
    }

    /// The peer of a slot's transfer.
    fn peer_of(&self, slot: u32) -> PeerId {
        let index = self.shared.whose(slot).peer_index();
        self.peers.id(index).unwrap_or(PeerId::new(index, 0))
    }

    /// Transfers in use: `(ours, peers' requests)`.
    pub const fn in_use(&self) -> (u32, u32) {
        (self.active, self.passive)
    }

    /// A short message ended. The same as [`Decider::on_sent`], for the shard's own thread.
    pub fn on_sent(&mut self, now: Instant, tag: Tag, sent: crate::ports::Sent) {
        self.decider().on_sent(now, tag, sent, &mut self.counters, &mut self.tracer);
    }

    /// Applies an event and traces it. `None`: the tag is stale, which is counted here.
    fn apply(&mut self, now: Instant, tag: Tag, event: Event) -> Option<Effect> {
        let Some(applied) = self.shared.apply(tag, event) else {
            self.counters.count(Counter::StaleAnswer);
            self.tracer.record(now, Trace::Stale { tag });
            return None;
        };
        self.tracer.record(
            now,
            Trace::Step {
                tag,
                event,
                before: applied.before,
                after: applied.after,
                effect: applied.effect,
            },
        );
        if applied.effect == Effect::Late {
            self.counters.count(Counter::LateEvent);
        }
        Some(applied.effect)
    }

    /// Cancels a transfer and does what the cancellation asks for; asking twice is harmless.
    fn cancel(&mut self, now: Instant, tag: Tag, cause: Cause) {
        if let Some(effect) = self.apply(now, tag, Event::Cancel(cause)) {
            self.cancelled(now, tag, cause, effect);
        }
    }

    /// Does what a cancellation asks for.
    fn cancelled(&mut self, now: Instant, tag: Tag, cause: Cause, effect: Effect) {
        match effect {
            Effect::Unqueue => self.give_up_queued(now, tag),
            Effect::Invalidate => self.recall(now, tag),
            Effect::None | Effect::Repeat if self.give_up_pull(now, tag, cause) => {}
            Effect::None | Effect::Repeat => self.await_drain(now, tag),
            _ => {}
        }
    }

    /// A cancelled transfer of which nothing was handed out: takes it out of its queue and lets it
    /// end. A ticket gives its credit back, as any verdict would have.
    fn give_up_queued(&mut self, now: Instant, tag: Tag) {
        self.unqueue(tag);
        if self.details.get(tag.index as usize).is_some_and(|d| d.role == Role::Ticket) {
            self.consume(tag);
        }
        let _ = self.apply(now, tag, Event::PayCpu);
    }

    /// Takes a transfer out of the queue it waits in, if it waits in one.
    fn unqueue(&mut self, tag: Tag) {
        let Some(details) = self.details.get(tag.index as usize) else { return };
        if !details.marks.contains(Marks::QUEUED) {
            return;
        }
        if details.role.requests() {
            let peer = self.peer_of(tag.index);
            if let Some(peer) = self.peers.get_mut(peer) {
                peer.queue.remove(self.details, tag.index);
            }
        } else if details.role.pulls() {
            self.unqueue_pull(tag);
        } else {
            self.answers.remove(self.details, tag.index);
        }
    }

    /// Asks the engine for a cancelled transfer's descriptor, once.
    fn recall(&mut self, now: Instant, tag: Tag) {
        self.await_drain(now, tag);
        let Some(details) = self.details.get_mut(tag.index as usize) else { return };
        let whose = self.shared.whose(tag.index);
        let link = whose.link().and_then(|l| self.links.get_mut(l.index()).map(|s| (l, s)));
        if let Some((id, link)) = link {
            let asked = details.marks.contains(Marks::RECALLED) && !seeded("recalled-twice");
            let spared = if details.role.stages() {
                seeded("stage-not-invalidated")
            } else {
                seeded("pull-not-invalidated")
            };
            if !asked && link.takes_invalidates() && !spared {
                details.marks.insert(Marks::RECALLED);
                // Only a descriptor that the device has been told of can be asked back.
                if !seeded("recalled-before-doorbell") && link.ring() {
                    self.counters.count(Counter::Doorbells);
                }
                if seeded("stopped-to-abort") {
                    link.engine.stop();
                } else {
                    link.engine.invalidate(tag);
                }
                self.counters.count(Counter::Invalidated);
                self.tracer.record(now, Trace::Invalidated { tag, link: id });
                if seeded("invalidated-is-back") {
                    let _ = self.apply(now, tag, Event::HwUntouched);
                } else if seeded("descriptor-sampled") {
                    let works = link.engine.link_up().then_some(Effect::None);
                    let _ = works.or_else(|| self.apply(now, tag, Event::HwUntouched));
                }
            }
        }
    }

    /// From now on the transfer's timer is the drain bound's (S0-9, R40). Until a proof ends it, the
    /// slot itself is the quarantine (R13): there are as many as slots, new work is refused when none is
    /// left, and the bound escalates to a stop of the engine.
    fn await_drain(&mut self, now: Instant, tag: Tag) {
        let Some(details) = self.details.get_mut(tag.index as usize) else { return };
        if !details.marks.contains(Marks::DRAINING) {
            details.marks.insert(Marks::DRAINING);
            details.marks.remove(Marks::POSTPONED);
            self.timers.arm(tag.index, now.after(self.config.drain_bound));
        }
    }

    /// A refused call, counted.
    fn refuse_call(&mut self, why: Why) -> Why {
        self.counters.count(Counter::Refused);
        why
    }
}
