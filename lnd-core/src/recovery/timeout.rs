// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Time passes (R39, R40): deadlines, links, sweeps, handshakes and everything put off.

use crate::base::counters::Counter;
use crate::base::time::Instant;
use crate::machines::link::LinkEvent;
use crate::ports::Ports;
use crate::shard::{unless_never, Driver, RunState};
use crate::slots::shared::attention;
use crate::slots::{Flags, PutOff, Role};

impl<P: Ports> Driver<'_, P> {
    /// Does what is due and a bounded part of what is pending.
    ///
    /// Returns the exact time at which the next call has something to do: `now` if work is left
    /// over, `None` if nothing waits for time. What nothing tells of, such as a link that comes back or room
    /// in the channel, is looked at each `link_poll`. It holds until another call is made: call `on_time`
    /// again then, after every batch of other calls and every wake-up that a
    /// [`IrqHandle`](crate::driver::Decider) asked for, and as often besides as you like: calling too early
    /// does nothing.
    ///
    /// Others are silent only while we listen (R41). The end of a silence may be the first call after a pause:
    /// unless there was one within two `link_poll`s before, its verdict comes with a later call, and frames are to be
    /// taken in between the two.
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
        // Room, and links that are out, are looked at in each call. In one that is due all that waits for them
        // has its turn, in as many calls as that takes. The clock may have stepped back.
        let due = now < self.polled || self.polled.after(self.config.link_poll) <= now;
        if due {
            self.polled = now;
        }
        let batch = self.config.batch;
        self.notice(now, batch);
        // Before one whose hold-off is over asks for its own sake.
        self.place_waiting(now);
        self.expire(now, batch);
        self.poll_links(now, batch);
        self.sweep_some(now, batch);
        self.send_pending(now, batch, due);
        self.place_waiting(now);
        self.send_replies(now, batch, due);
        self.advance_shutdown(now, batch);
        self.ring();
        let (next, quiet) = self.next_due(now);
        self.quiet_until = if quiet && now < next { next } else { Instant::ORIGIN };
        unless_never(next)
    }

    /// What other contexts have asked us to look at.
    fn notice(&mut self, now: Instant, budget: u32) {
        let wanted = self.shared.take_attention();
        self.hear_unheard(now, wanted, budget);
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
            // In the order in which they are due.
            let peer = self.peers.next_due().unwrap_or(Instant::NEVER);
            if self.slots.next_due().is_some_and(|slot| slot <= peer) {
                let Some((due, slot)) = self.slots.expire(now) else { return };
                self.slot_timer(now, due, slot);
            } else {
                let Some((due, peer)) = self.peers.expire(now) else { return };
                self.peer_timer(now, due, peer);
            }
        }
    }

    /// Puts off the verdict on a slot's silence after what may have been a pause of ours, once.
    fn postpone(&mut self, now: Instant, due: Instant, slot: u32) -> bool {
        let Some(state) = self.slots.get(slot) else { return false };
        let bound = if state.flags.contains(Flags::DRAINING) {
            self.config.drain_bound
        } else if state.role == Role::RxRequest {
            self.config.decision_bound
        } else {
            // The upper layer's own deadline: an absolute time (R37).
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

    /// A transfer's deadline, or its drain bound, has passed.
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
            self.deadline_passed(now, tag, state.role);
            return;
        }
        // What was asked back has not come within the bound: its stop domain is suspect (S0-9, R21), and the
        // stop of that is the proof that ends the wait.
        self.suspect(now, slot);
        self.slots.arm(slot, now.after(self.config.drain_bound));
    }

    /// A transfer did not come back in time: the smallest domain that contains it fails.
    fn suspect(&mut self, now: Instant, slot: u32) {
        let Some(link) = self.slots.owner(slot).link() else { return };
        let in_service = self.links.get(link).is_some_and(|l| l.in_service());
        if !in_service || self.is_disconnected(slot) {
            return;
        }
        self.counters.count(Counter::DrainBoundHit);
        let peer = self.peers.nid(self.peers.of_slot(slot));
        match peer.and_then(|peer| self.connection_with(peer, link)) {
            // One that finds no place is looked at again: those that have one are out for a bounded time.
            Some(it) => {
                let _ = self.connection_failed(now, it);
            }
            _ => self.link_event(now, link, LinkEvent::Failed),
        }
    }
}
