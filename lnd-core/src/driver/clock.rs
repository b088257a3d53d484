// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Time passes (R39, R40): deadlines, links, sweeps, greetings and everything put off.

use super::details::{Marks, Role};
use super::shutdown::RunState;
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{LinkId, Tag};
use crate::link::LinkEvent;
use crate::ports::Ports;
use crate::shared::attention;
use crate::time::Instant;
use crate::transfer::{Cause, Effect, Event, Phase};

impl<P: Ports> Driver<'_, P> {
    /// Does what is due and a bounded part of what is pending.
    ///
    /// Returns the exact time at which the next call has something to do: `now` if work is left
    /// over, `None` if nothing waits for time. It holds until another call is made: call `on_time`
    /// again then, after every batch of other calls and every wake-up that a
    /// [`Decider`](super::Decider) asked for, and as often besides as you like: calling too early
    /// does nothing.
    pub fn on_time(&mut self, now: Instant) -> Option<Instant> {
        if self.run.state() == RunState::Quiescent {
            return None;
        }
        let batch = if seeded("batch-ignored") { u32::MAX } else { self.config.batch };
        self.notice(now, batch);
        // Before one whose hold-off is over asks for its own sake.
        if !seeded("own-turn-first") {
            self.seat_waiting(now);
        }
        self.expire(now, batch);
        let reclaiming = self.poll_links(now, batch);
        self.sweep_some(now, batch);
        self.speak(now, batch);
        self.seat_waiting(now);
        self.send_answers(now, batch);
        self.advance_shutdown(now, batch);
        self.ring();
        self.next_deadline(now, reclaiming)
    }

    /// What other contexts have asked us to look at.
    fn notice(&mut self, now: Instant, budget: u32) {
        let wanted = self.shared.take_attention();
        self.hear_unheard(now, wanted, budget);
        if wanted & attention::SWEEP != 0 {
            self.request_sweep();
            self.offer = true;
            self.places.may_be_free();
        }
        for number in 0..self.links.len() {
            if let Some(link) = LinkId::new(number) {
                if wanted & (1 << (attention::GONE_SHIFT + number as u32)) != 0 {
                    self.device_gone(now, link);
                }
                if wanted & (1 << (attention::LINK_SHIFT + number as u32)) != 0 {
                    self.link_event(now, link, LinkEvent::Failed);
                }
            }
        }
    }

    fn expire(&mut self, now: Instant, budget: u32) {
        for _ in 0..budget {
            let Some((due, timer)) = self.timers.expire(now) else { return };
            match timer.checked_sub(self.config.slots) {
                Some(place) => {
                    if let Some(peer) = self.peers.id(place) {
                        self.peer_timer(now, due, peer);
                    }
                }
                None => self.slot_timer(now, due, timer),
            }
        }
    }

    /// Whether a time that was due passed long ago: we did not run. Others' silence is measured while
    /// we listen (R41), so each such time is granted once more; what came meanwhile is taken in first.
    pub(super) fn was_away(&self, now: Instant, due: Instant) -> bool {
        let bound = self.config.hello_timeout.min(self.config.credit_stall);
        now.since(due).as_nanos() > bound.as_nanos() >> 1 && !seeded("silence-while-away")
    }

    /// Grants a slot's time of silence once more after a pause of ours.
    fn postpone(&mut self, now: Instant, due: Instant, slot: u32) -> bool {
        let away = self.was_away(now, due);
        let Some(details) = self.details.get_mut(slot as usize) else { return false };
        let bound = if details.marks.contains(Marks::DRAINING) {
            self.config.drain_bound
        } else if details.role == Role::Ticket {
            self.config.verdict_bound
        } else {
            // The upper layer's own deadline: an absolute time (R37).
            return false;
        };
        if !away || details.marks.contains(Marks::POSTPONED) {
            details.marks.remove(Marks::POSTPONED);
            return false;
        }
        details.marks.insert(Marks::POSTPONED);
        self.timers.arm(slot, now.after(bound));
        true
    }

    /// A transfer's deadline, or its drain bound, has passed.
    fn slot_timer(&mut self, now: Instant, due: Instant, slot: u32) {
        let word = self.shared.word(slot);
        if !matches!(word.phase(), Phase::Queued | Phase::Live) {
            return;
        }
        if self.postpone(now, due, slot) {
            return;
        }
        let tag = self.shared.tag(slot);
        let Some(details) = self.details.get(slot as usize) else { return };
        if !details.marks.contains(Marks::DRAINING) {
            self.deadline_passed(now, tag, details.role);
            return;
        }
        // What was asked back has not come within the bound: the link is suspect (S0-9, R21). Its
        // stop is the proof that ends the wait.
        if let Some(link) = self.shared.whose(slot).link() {
            let suspect = self.links.get(link.index()).is_some_and(|l| l.in_service());
            if suspect && !seeded("drain-bound-ignored") {
                self.counters.count(Counter::DrainBoundHit);
                self.link_event(now, link, LinkEvent::Failed);
            }
        }
        self.timers.arm(slot, now.after(self.config.drain_bound));
    }

    fn deadline_passed(&mut self, now: Instant, tag: Tag, role: Role) {
        self.counters.count(Counter::Deadlines);
        if role == Role::Ticket {
            self.counters.count(Counter::VerdictLate);
        }
        self.cancel(now, tag, Cause::Deadline);
    }

    /// Ends a transfer whose deadline has passed, before anything of it is handed out (LU-16303,
    /// INV-9). Returns whether it did.
    ///
    /// Every path out of a queue asks this: messages may be taken in, and may free what waits, before
    /// [`on_time`](Self::on_time) is called for the present time.
    pub(super) fn end_if_late(&mut self, now: Instant, tag: Tag) -> bool {
        let Some(details) = self.details.get(tag.index as usize) else { return false };
        let role = details.role;
        // A cancelled transfer's timer is the drain bound's.
        let bounded = !details.marks.contains(Marks::DRAINING)
            && matches!(self.shared.word(tag.index).phase(), Phase::Queued | Phase::Live);
        let late = bounded && self.timers.armed(tag.index).is_some_and(|due| due <= now);
        if late && !seeded("sent-after-deadline") {
            self.deadline_passed(now, tag, role);
            return true;
        }
        false
    }

    /// When there is something to do next, as [`on_time`](Self::on_time) would say, and nothing is done. For
    /// hosts that sleep until then: another call may have made it earlier.
    pub fn next_time(&self, now: Instant) -> Option<Instant> {
        self.next_deadline(now, false)
    }

    fn next_deadline(&self, now: Instant, reclaiming: bool) -> Option<Instant> {
        if self.run.state() == RunState::Quiescent {
            return None;
        }
        let at_once = reclaiming
            || !self.sweep.is_done()
            || self.shared.attention_wanted()
            || self.shutdown_wants_more();
        if at_once {
            return Some(now);
        }
        let soon = self.peers.anybody_speaks() || !self.answers.is_empty() || self.any_link_out();
        let poll = soon.then(|| now.after(self.config.link_poll));
        let timer = self.timers.next().map(|(due, _)| due);
        let place = self.places.next(now);
        [poll, timer, place, self.run.grace()].into_iter().flatten().min().map(|next| next.max(now))
    }

    /// The upper layer gives up a transfer of its own, by tag. Its report will come as usual; one
    /// that has ended already is left alone.
    pub fn withdraw(&mut self, now: Instant, tag: Tag) {
        if self.shared.tag(tag.index) == tag {
            if let Some(applied) = self.shared.apply(tag, Event::Cancel(Cause::Withdrawn)) {
                let waits = applied.effect == Effect::None && seeded("withdrawn-not-drained");
                let effect = if waits { Effect::Late } else { applied.effect };
                self.cancelled(now, tag, Cause::Withdrawn, effect);
            }
        }
    }
}
