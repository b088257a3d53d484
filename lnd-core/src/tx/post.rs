// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file posts transfers: the one place that posts descriptors and sends messages for
//! transfers.
//!
//! The order is the same for every role, and it makes the races harmless: [enter the
//! gates](super::gate) → post → doorbell → send → pay `CPU`. A descriptor is staged before the
//! message that lets the peer begin (INV-7).

use super::gate::{PostFrom, Tx};
use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::key::Key;
use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Debts, Event};
use crate::peers::PeerFlags;
use crate::ports::trace::Trace;
use crate::ports::{Bd, Engine, Motion, Ports, PostError, Tracer};
use crate::shard::Driver;
use crate::slots::{Flags, Role};

impl<P: Ports> Driver<'_, P> {
    /// Posts a transfer on `link`. A transfer from a queue whose deadline has passed ends instead.
    pub(crate) fn post(
        &mut self,
        now: Instant,
        tag: Tag,
        peer: PeerId,
        link: LinkId,
        from: PostFrom<'_>,
    ) {
        if from == PostFrom::Queue && self.end_if_late(now, tag) {
            return;
        }
        // The role is settled before the debts are published: a message that is too long for the
        // peer is staged, and owes a descriptor.
        let Some((record, state)) = self.peers.get(peer).zip(self.slots.get_mut(tag.index)) else {
            return;
        };
        let pushes = P::Engine::PUSHES && record.is(PeerFlags::PUSHES);
        state.choose_role(record.inline_max(), pushes);
        let role = state.role;
        self.post_as(now, tag, peer, link, role, from);
    }

    /// Posts a transfer that was just claimed as `role`. Compiled into its caller, where the role
    /// is a constant.
    #[cfg(not(feature = "compact"))]
    #[inline(always)]
    pub(crate) fn post_claimed(
        &mut self,
        now: Instant,
        tag: Tag,
        peer: PeerId,
        link: LinkId,
        role: Role,
        header: &[u8],
    ) {
        self.post_as(now, tag, peer, link, role, PostFrom::Claim(header));
    }

    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn post_as(
        &mut self,
        now: Instant,
        tag: Tag,
        peer: PeerId,
        link: LinkId,
        role: Role,
        from: PostFrom<'_>,
    ) {
        if let Some(tx) = self.enter_gate(now, tag, peer, link, role, from) {
            self.post_and_send(now, &tx, from);
            self.exit_gate(now, tx);
        }
    }

    /// The part between the fence and the payment of `CPU`.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn post_and_send(&mut self, now: Instant, tx: &Tx<'_>, from: PostFrom<'_>) {
        if let Some(cause) = tx.blocked_by.or_else(|| self.lacks_key(tx)) {
            // The debts were published before the gate was read. They are withdrawn here, while
            // `CPU` keeps the transfer from ending.
            let _ = self.apply(now, tx.tag, Event::Withdraw(tx.debts, cause));
            return;
        }
        let mut given = Debts(0);
        if tx.debts.0 & Debts::HW.0 != 0 {
            if let Err(why) = self.post_descriptor(tx) {
                self.counters.count(Counter::PostFailed);
                // A device that is gone is the link's failure, which the recovery handles. Other
                // errors are this transfer's own.
                let cause = if why == PostError::Gone { Cause::LinkDown } else { Cause::Local };
                let _ = self.apply(now, tx.tag, Event::Withdraw(tx.debts, cause));
                return;
            }
            self.counters.count(Counter::Posted);
            self.tracer.record(now, Trace::Posted { tag: tx.tag, link: tx.link });
            given = Debts::HW;
            // Only the peer knows whether all was pulled. An OK of such an engine proves nothing.
            if tx.role.stages() && !self.links.reports_pulls(tx.link) {
                if let Some(state) = self.slots.get_mut(tx.tag.index) {
                    state.flags.insert(Flags::OWES_DONE);
                }
            }
        }
        if tx.debts.0 & Debts::MSG.0 != 0 {
            if let Err(cause) = self.send_message(now, tx, from) {
                // A descriptor that is out stays owed and is invalidated. No message has announced
                // it to the peer, so the peer cannot be pulling it.
                self.let_go(tx.tag.index, false);
                let _ =
                    self.apply(now, tx.tag, Event::Withdraw(Debts(tx.debts.0 & !given.0), cause));
            }
        }
    }

    /// A pull or push without a key from the peer cannot be posted where engines have keys.
    #[inline]
    fn lacks_key(&mut self, tx: &Tx<'_>) -> Option<Cause> {
        if !P::Engine::KEYS || !tx.role.pulls() || !self.slots.key(tx.tag.index).is_empty() {
            return None;
        }
        if !self.links.get(tx.link).is_some_and(|link| link.engine.has_keys()) {
            return None;
        }
        // The peer decides what it sends. An absent key is a protocol error, not a local one.
        self.counters.count(Counter::Protocol);
        Some(Cause::Protocol)
    }

    /// Posts the transfer's descriptor.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn post_descriptor(&mut self, tx: &Tx<'_>) -> Result<(), PostError> {
        let (Some(state), Some(link), Some(nid)) =
            (self.slots.get(tx.tag.index), self.links.get_mut(tx.link), self.peers.nid(tx.peer))
        else {
            return Err(PostError::Invalid);
        };
        let one = state.pieces.fragment(state.address);
        let (fragments, list) = match state.pieces.list() {
            None => (one.as_slice(), None),
            Some((list, count)) => (self.slots.lists.get(list, count), Some(list)),
        };
        let key = if P::Engine::KEYS && tx.role.pulls() {
            self.slots.key(tx.tag.index)
        } else {
            Key::NONE
        };
        let motion = match tx.role {
            Role::PushSink if P::Engine::PUSHES => Motion::Expose { to: nid },
            Role::PushSource if P::Engine::PUSHES => {
                Motion::Push { to: nid, sink: state.remote, key }
            }
            role if role.stages() => Motion::Stage { to: nid },
            _ => Motion::Pull { from: nid, source: state.remote, key },
        };
        let bd = Bd { tag: tx.tag, motion, length: state.length, fragments, list };
        link.engine.post(&bd)?;
        link.doorbell_owed = true;
        // A staged descriptor gets its doorbell at once, because the next message lets the peer
        // pull it. Pulls share a doorbell for each batch: see `ring`.
        if tx.role.stages() && link.ring() {
            self.counters.count(Counter::Doorbells);
        }
        Ok(())
    }

    /// Rings the doorbell of every link to which pulls were posted since the last ring. Call it
    /// after a batch of messages; [`on_time`](Self::on_time) does so too. Bounded by the links.
    pub fn ring(&mut self) {
        for link in self.links.iter_mut() {
            if link.ring() {
                self.counters.count(Counter::Doorbells);
            }
        }
    }
}
