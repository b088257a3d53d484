// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file invalidates descriptors: the one place that decides whether a descriptor may be
//! invalidated, and does it.
//!
//! Most engines may be asked for any descriptor. An engine without [safe
//! invalidation](Engine::SAFE_INVALIDATE) must not be asked for staged memory that its peer may be
//! pulling: on such hardware the pull would end well with a part of the data. So the puller gets a
//! CANCEL first (docs/decisions/0029-cancel.md).

use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::message::Message;
use crate::base::time::{Instant, Span};
use crate::links::Link;
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Debts, Phase};
use crate::peers::PeerFlags;
use crate::ports::trace::Trace;
use crate::ports::{Engine, Ports, Tracer};
use crate::shard::Driver;
use crate::slots::shared::Owner;
use crate::slots::{Flags, Role, SlotState};

impl<P: Ports> Driver<'_, P> {
    /// Invalidates a cancelled transfer's descriptor at the engine, once. While the peer may be
    /// pulling it, sends CANCEL instead.
    pub(crate) fn invalidate(&mut self, now: Instant, tag: Tag) {
        self.invalidate_here(now, tag, self.slots.owner(tag.index));
    }

    /// As [`invalidate`](Self::invalidate), compiled into its caller: for the sweep, which knows
    /// the owner.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(crate) fn invalidate_here(&mut self, now: Instant, tag: Tag, owner: Owner) {
        self.await_drain_here(now, tag);
        if self.is_lent(tag.index) {
            self.cancel_first(now, tag.index);
            return;
        }
        let Some(state) = self.slots.get_mut(tag.index) else { return };
        let staged = state.role.stages();
        let link = owner.link().and_then(|l| self.links.get_mut(l).map(|s| (l, s)));
        if let Some((id, link)) = link {
            if !state.flags.contains(Flags::INVALIDATED) && link.takes_invalidates() {
                state.flags.insert(Flags::INVALIDATED);
                // The device must know a descriptor before it can return it.
                if link.ring() {
                    self.counters.count(Counter::Doorbells);
                }
                link.engine.invalidate(tag);
                self.counters.count(Counter::Invalidated);
                self.tracer.record(now, Trace::Invalidated { tag, link: id });
                if !self.links.safe_invalidate() && staged {
                    // Until now the bound was that of the puller.
                    self.slots.arm(tag.index, now.after(self.config.drain_bound));
                }
            }
        }
    }

    /// From now on the transfer's timer bounds its drain (S0-9, R40).
    pub(crate) fn await_drain(&mut self, now: Instant, tag: Tag) {
        self.await_drain_here(now, tag);
    }

    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn await_drain_here(&mut self, now: Instant, tag: Tag) {
        // The wait for a puller has parts of the bound, each with a timer of its own.
        let may_share = self.links.safe_invalidate();
        self.slots.begin_drain(tag.index, now, self.config.drain_bound, may_share);
    }

    /// Whether staged memory may only come back from the peer or by a stop: the peer may be pulling
    /// it, or a stop is under way.
    fn is_lent(&self, slot: u32) -> bool {
        if self.links.safe_invalidate() {
            return false;
        }
        let Some(state) = self.slots.get(slot).filter(|state| state.role.stages()) else {
            return false;
        };
        let link = self.slots.owner(slot).link().and_then(|link| self.links.get(link));
        // While the domain is being stopped, its proof returns everything. A CANCEL would add
        // nothing.
        let stops = !link.is_some_and(Link::in_service) || self.is_disconnected(slot);
        stops || state.is_lent() && !self.has_left(slot)
    }

    /// Whether the incarnation of a transfer has sent its goodbye. It pulls nothing any more: a
    /// goodbye follows the end of all its transfers.
    fn has_left(&self, slot: u32) -> bool {
        let id = self.peers.of_slot(slot);
        let closed = self.peers.get(id).is_some_and(|peer| peer.has_closed());
        closed && self.is_with(self.slots.tag(slot), id)
    }

    /// Notes that the peer no longer pulls what is staged in a slot. `begun`: it may have pulled
    /// before.
    pub(crate) fn let_go(&mut self, slot: u32, begun: bool) {
        // What is still queued is staged later, and no earlier message holds for that.
        if self.slots.word(slot).phase() == Phase::Queued {
            return;
        }
        if let Some(state) = self.slots.get_mut(slot).filter(|_| !self.links.safe_invalidate()) {
            state.let_go(begun);
        }
    }

    /// Invalidates at the engine what the peer no longer pulls, if it is to come back.
    pub(crate) fn invalidate_let_go(&mut self, now: Instant, tag: Tag) {
        let word = self.slots.word(tag.index);
        let due = word.invalidating() && word.owes(Debts::HW) && !word.owes(Debts::CPU);
        if !self.links.safe_invalidate() && due {
            self.invalidate(now, tag);
        }
    }

    /// Sends the first CANCEL for what is staged in a slot, if there is a path and the peer answers
    /// it. The drain bound has begun in either case.
    fn cancel_first(&mut self, now: Instant, slot: u32) {
        let sent = self.slots.get(slot).map_or(0, SlotState::cancels);
        if let (0, Some((peer, link))) = (sent, self.way_to_puller(slot)) {
            self.cancel_once_more(now, slot, peer, link);
        }
    }

    /// The puller of what is staged in a slot, and its link, if it can be reached.
    fn way_to_puller(&self, slot: u32) -> Option<(PeerId, LinkId)> {
        // Without a path the domain is being stopped, and the stop returns the memory. Another
        // incarnation does not know what its predecessor pulls.
        let (id, link) = (self.peers.of_slot(slot), self.slots.owner(slot).link()?);
        let peer = self.peers.get(id).filter(|peer| peer.is(PeerFlags::CANCELS))?;
        let there =
            self.peers.state(id) != HelloState::Down && self.is_with(self.slots.tag(slot), id);
        (there && self.links.leads_to(peer.nid?, link)).then_some((id, link))
    }

    /// Handles the end of a part of the drain bound. CANCEL is repeated within the bound, no more
    /// often than a hello. `false`: the whole bound is over.
    pub(crate) fn cancel_again(&mut self, now: Instant, slot: u32) -> bool {
        if self.links.safe_invalidate() || !self.is_lent(slot) {
            return false;
        }
        let sent = self.slots.get(slot).map_or(0, SlotState::cancels);
        if sent == 0 || self.left_of_bound(sent) == Span::default() {
            return false;
        }
        match self.way_to_puller(slot) {
            Some((peer, link)) => self.cancel_once_more(now, slot, peer, link),
            None => self.await_puller(now, slot),
        }
        true
    }

    fn cancel_once_more(&mut self, now: Instant, slot: u32, peer: PeerId, link: LinkId) {
        // CANCEL_PUT and CANCEL_PUSH name the session and number of the request too. They may
        // overtake it, and the peer then refuses it when it arrives (decision 0029).
        let source = self.slots.tag(slot);
        let Some(state) = self.slots.get(slot) else { return };
        let (session, sequence) = (state.session, state.sequence);
        let message = match state.role {
            Role::GetSource => Message::CancelGet { source, sink: state.remote },
            Role::PushSink if P::Engine::PUSHES => {
                Message::CancelPush { sink: source, session, sequence }
            }
            _ => Message::CancelPut { source, session, sequence },
        };
        if self.send_control(now, peer, Some(link), &message) {
            // It counts even if it was not sent. A full lane must not lengthen the drain bound.
            self.counters.count(Counter::Cancels);
        }
        self.await_puller(now, slot);
    }

    /// Starts the next part of the drain bound.
    fn await_puller(&mut self, now: Instant, slot: u32) {
        let sent = self.slots.get(slot).map_or(0, SlotState::cancels);
        let left = self.left_of_bound(sent);
        if let Some(state) = self.slots.get_mut(slot) {
            state.count_cancel();
        }
        self.slots.arm(slot, now.after(left.min(self.between_cancels())));
    }

    fn between_cancels(&self) -> Span {
        let part = self.config.drain_bound.as_nanos().div_ceil(u64::from(SlotState::CANCELS));
        self.config.hello_timeout.max(Span::from_nanos(part))
    }

    /// What is left of the drain bound after the wait for this many CANCELs.
    fn left_of_bound(&self, sent: u8) -> Span {
        let waited = self.between_cancels().times(u32::from(sent)).as_nanos();
        Span::from_nanos(self.config.drain_bound.as_nanos().saturating_sub(waited))
    }
}
