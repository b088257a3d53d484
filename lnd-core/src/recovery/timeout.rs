// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file advances time: deadlines, links, sweeps, handshakes and everything postponed (R39,
//! R40).

use crate::base::counters::Counter;
use crate::base::time::Instant;
use crate::machines::link::LinkEvent;
use crate::ports::Ports;
use crate::shard::{unless_never, Driver, RunState};
use crate::slots::shared::attention;
use crate::slots::{Flags, PutOff, Role};

impl<P: Ports> Driver<'_, P> {
    /// Does what is due, and a bounded part of what is pending.
    ///
    /// Returns the exact time at which the next call has something to do: `now` if work is left,
    /// `None` if nothing waits for time. Changes without an event, such as a link that returns or
    /// room in the channel, are polled each `link_poll`.
    ///
    /// The time is valid until another call is made; [`wake_up_at`](Self::wake_up_at) returns it at
    /// any time. Call `on_time` again after every batch of other calls and after every wake-up that
    /// an [`IrqHandle`](crate::driver::IrqHandle) requested. It may be called as often as you like:
    /// a call that is too early does nothing.
    ///
    /// Peers count as silent only while this host runs (R41). The end of a silence may be the first
    /// call after a pause. If no call was made within two `link_poll`s before it, the decision is
    /// made by a later call. Pass received frames to the driver between the two.
    #[inline]
    pub fn on_time(&mut self, now: Instant) -> Option<Instant> {
        self.note_run(now);
        if self.is_quiet(now) {
            return unless_never(self.quiet_until);
        }
        self.do_what_is_due(now)
    }

    #[inline(never)]
    fn do_what_is_due(&mut self, now: Instant) -> Option<Instant> {
        if self.run.state() == RunState::Quiescent {
            return None;
        }
        // Room in channels, and links that are out, are polled in each call. A call that is due
        // also gives everything that waits its turn, in as many calls as that takes. The clock may
        // have stepped back.
        let due = now < self.polled || self.polled.after(self.config.link_poll) <= now;
        if due {
            self.polled = now;
        }
        let batch = self.config.batch;
        // Events of other contexts come first: the work below then acts on the present state of
        // links and peers.
        self.notice(now, batch);
        // A node that waits for a place goes before the timers. Otherwise the place's owner, whose
        // hold-off ends now, would keep it with a request of its own (decision 0019).
        self.place_waiting(now);
        self.expire(now, batch);
        self.poll_links(now, batch);
        self.sweep_some(now, batch);
        // The sweep comes before the sends, so that fewer messages go out for transfers that are to
        // be cancelled.
        self.send_pending(now, batch, due);
        self.send_replies(now, batch, due);
        self.advance_shutdown(now, batch);
        // One doorbell serves everything that the calls above have posted.
        self.ring();
        let (next, quiet) = self.next_due(now);
        self.quiet_until = if quiet && now < next { next } else { Instant::ORIGIN };
        unless_never(next)
    }

    /// Handles what other contexts have requested.
    fn notice(&mut self, now: Instant, budget: u32) {
        // Acquire inside: what the other context did before its request is visible here.
        let wanted = self.shared.take_attention();
        self.hear_unheard(now, wanted, budget);
        // An interrupt changes a peer's gate alone. What the owner does for each change of state is
        // done here.
        if wanted & attention::SWEEP != 0 {
            self.slots.request_sweep();
            self.offer = true;
            self.peers.places.may_be_free();
        }
        for link in self.links.ids() {
            if wanted & attention::gone(link) != 0 {
                self.device_gone(now, link);
            }
            if wanted & attention::failed(link) != 0 {
                self.link_event(now, link, LinkEvent::Failed);
            }
        }
    }

    fn expire(&mut self, now: Instant, budget: u32) {
        for _ in 0..budget {
            // Timers of slots and of peers end in the order in which they are due.
            let (slot, peer) = (self.slots.next_due(), self.peers.next_due());
            if slot.min(peer) > now {
                return;
            }
            if slot <= peer {
                if let Some((due, Some(slot))) = self.slots.expire(now) {
                    self.slot_timer(now, due, slot);
                }
            } else if let Some((due, peer)) = self.peers.expire(now) {
                self.peer_timer(now, due, peer);
            }
        }
    }

    /// Postpones the decision on a slot's silence once, after what may have been a pause of this
    /// host.
    fn postpone(&mut self, now: Instant, due: Instant, slot: u32) -> bool {
        let Some(state) = self.slots.get(slot) else { return false };
        let bound = if state.flags.contains(Flags::DRAINING) {
            self.config.drain_bound
        } else if state.role == Role::RxRequest {
            self.config.decision_bound
        } else if state.role.is_final() {
            // What has no room before a pause may have it behind it.
            self.final_bound()
        } else {
            // The upper layer's deadline is an absolute time (R37), and a pause does not move it.
            return false;
        };
        let put_off = self.put_off(now, due, bound, state.put_off());
        let Some(state) = self.slots.get_mut(slot) else { return false };
        state.set_put_off(put_off.map_or(PutOff::Not, |(_, how)| how));
        if let Some((until, _)) = put_off {
            self.slots.arm(slot, until);
        }
        put_off.is_some()
    }

    /// Handles a transfer's deadline, or the end of its drain bound.
    fn slot_timer(&mut self, now: Instant, due: Instant, slot: u32) {
        if !self.slots.is_under_way(slot) || self.cancel_again(now, slot) {
            return;
        }
        if self.postpone(now, due, slot) {
            return;
        }
        let tag = self.slots.tag(slot);
        let Some(state) = self.slots.get(slot) else { return };
        if !state.flags.contains(Flags::DRAINING) {
            if state.role == Role::RxRequest {
                self.decision_late(now, tag);
            } else {
                self.deadline_passed(now, tag);
            }
            return;
        }
        // The invalidated descriptor has not come back within the bound. Its stop domain is suspect
        // (S0-9, R21), and the domain's stop is the proof that ends the wait.
        self.suspect(now, slot);
        // The timer is armed again. A connection without a place to record it is retried that way.
        self.slots.arm(slot, now.after(self.config.drain_bound));
    }

    /// Fails the smallest domain that contains a transfer which did not come back in time.
    fn suspect(&mut self, now: Instant, slot: u32) {
        let Some(link) = self.slots.owner(slot).link() else { return };
        let in_service = self.links.get(link).is_some_and(|l| l.in_service());
        if !in_service || self.is_disconnected(slot) {
            return;
        }
        self.counters.count(Counter::DrainBoundHit);
        let peer = self.peers.nid(self.peers.of_slot(slot));
        match peer.and_then(|peer| self.connection_with(peer, link)) {
            // A connection that finds no place is retried later. The connections in the places are
            // out for a bounded time. Completions that do not arrive are no connection's fault, and
            // every peer's transfers would end late until the link is reset.
            Some(it) if !self.links.is_stuck(link) => {
                let _ = self.connection_failed(now, it);
            }
            _ => self.link_event(now, link, LinkEvent::Failed),
        }
    }
}
