// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds what is kept of one transfer: when it passed which point, what it waited for and
//! how long, its last transitions, and its end.

use super::stamps::{has_ended, without};
use super::wait::{Point, Wait, POINTS, WAITS};
use crate::base::id::{Nid, Tag};
use crate::base::time::{Instant, Span};
use crate::machines::transfer::{Cause, Debts, Event, Place, Status, Word};

/// One transition of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// When.
    pub at: Instant,
    /// The event.
    pub event: Event,
    /// The word after it.
    pub after: Word,
}

/// Transitions that are kept of each transfer.
pub const TRANSITIONS: usize = 8;

/// Where one transfer spent its time, who ended it, and on what evidence.
///
/// Times of points and waits are exact to the times that the host passed to its calls. What an
/// interrupt settles is known from its own tracer, [`IrqObserver`](super::IrqObserver). Without one
/// it is settled when the thread sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    tag: Tag,
    peer: Option<Nid>,
    length: u32,
    points: [Instant; POINTS],
    waits: [Span; WAITS],
    /// Begin of the present wait.
    pub(super) since: Instant,
    /// The word after the last event that is known.
    pub(super) word: Word,
    given_up: Option<(Instant, Wait)>,
    /// When an interrupt last settled a debt, and what the transfer waited for then.
    settled: Option<(Instant, Wait)>,
    deadline: Option<Instant>,
    status: Option<Status>,
    last: [Transition; TRANSITIONS],
    steps: u32,
}

/// The tag of an account that was never used: no transfer has this index.
const NONE: Tag = Tag { index: u32::MAX, generation: 0 };

impl Account {
    /// An account of no transfer: what tables are filled with.
    pub const EMPTY: Self = Self {
        tag: NONE,
        peer: None,
        length: 0,
        points: [Instant::NEVER; POINTS],
        waits: [Span::from_nanos(0); WAITS],
        since: Instant::ORIGIN,
        word: Word::free(0),
        given_up: None,
        settled: None,
        deadline: None,
        status: None,
        last: [Transition { at: Instant::ORIGIN, event: Event::PayCpu, after: Word::free(0) };
            TRANSITIONS],
        steps: 0,
    };

    /// The account of a transfer that was accepted just now.
    pub(super) fn open(&mut self, now: Instant, tag: Tag, peer: Nid, length: u32) {
        (self.tag, self.peer, self.length) = (tag, Some(peer), length);
        self.points = [Instant::NEVER; POINTS];
        self.waits = [Span::from_nanos(0); WAITS];
        (self.since, self.word, self.steps) = (now, Word::free(0), 0);
        (self.given_up, self.settled, self.deadline, self.status) = (None, None, None, None);
        // The transitions of the slot's former use are overwritten, and not counted before.
        self.pass(Point::Queued, now);
    }

    /// Whether it is of this transfer.
    #[inline]
    pub fn is_of(&self, tag: Tag) -> bool {
        self.tag == tag
    }

    /// Whether it is of a transfer that has not ended.
    pub fn is_open(&self) -> bool {
        self.tag != NONE && self.status.is_none()
    }

    /// The transfer.
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// The other side.
    pub const fn peer(&self) -> Option<Nid> {
        self.peer
    }

    /// Payload bytes.
    pub const fn length(&self) -> u32 {
        self.length
    }

    /// When it passed a point. `None`: not yet, or its way does not lead there.
    pub fn at(&self, point: Point) -> Option<Instant> {
        self.points.get(point as usize).copied().filter(|at| *at != Instant::NEVER)
    }

    /// Time that it has waited in one way until its last event.
    pub fn waited(&self, wait: Wait) -> Span {
        self.waits.get(wait as usize).copied().unwrap_or_default()
    }

    /// What it waits for, and since when. `None`: it was reported.
    pub fn waiting(&self) -> Option<(Wait, Instant)> {
        self.status.is_none().then_some((Wait::of(self.word), self.since))
    }

    /// The wait that took the longest until its last event.
    pub fn longest(&self) -> Wait {
        let longer =
            |most: Wait, it: &Wait| if self.waited(*it) > self.waited(most) { *it } else { most };
        Wait::ALL.iter().fold(Wait::Queue, longer)
    }

    /// When it was cancelled or first lost something, and what it waited for then.
    pub const fn given_up(&self) -> Option<(Instant, Wait)> {
        self.given_up
    }

    /// When its deadline passed, if that was before its report.
    pub const fn deadline_passed(&self) -> Option<Instant> {
        self.deadline
    }

    /// How it ended. `None`: it has not been reported.
    pub const fn status(&self) -> Option<Status> {
        self.status
    }

    /// Why and where it was lost, as far as is known.
    pub const fn evidence(&self) -> Option<(Cause, Place)> {
        match self.status {
            Some(status) => status.evidence,
            None => match (self.word.cause(), self.word.place()) {
                (Some(cause), Some(place)) => Some((cause, place)),
                _ => None,
            },
        }
    }

    /// The transitions that are kept, oldest first.
    pub fn transitions(&self) -> impl Iterator<Item = Transition> + '_ {
        let kept = (self.steps as usize).min(TRANSITIONS);
        let first = (self.steps as usize).wrapping_sub(kept);
        (0..kept).filter_map(move |at| self.last.get(first.wrapping_add(at) % TRANSITIONS)).copied()
    }

    /// Transitions in all, also those that are not kept.
    pub const fn steps(&self) -> u32 {
        self.steps
    }

    /// Notes that a point was passed. The first time counts.
    #[inline]
    pub(super) fn pass(&mut self, point: Point, now: Instant) {
        if let Some(at) = self.points.get_mut(point as usize) {
            if *at == Instant::NEVER {
                *at = now;
            }
        }
    }

    /// Adds the time since the last event to what it waited for with `word`.
    #[inline]
    pub(super) fn wait_until(&mut self, now: Instant, word: Word) {
        if let Some(waited) = self.waits.get_mut(Wait::of(word) as usize) {
            *waited = Span::from_nanos(
                waited.as_nanos().saturating_add(now.since(self.since).as_nanos()),
            );
        }
        // A clock that stepped back must not count a time twice (R36).
        self.since = self.since.max(now);
    }

    /// Notes a transition, whose time was counted before.
    #[inline]
    pub(super) fn step(&mut self, now: Instant, event: Event, before: Word, after: Word) {
        if let Some(place) = self.last.get_mut(self.steps as usize % TRANSITIONS) {
            *place = Transition { at: now, event, after };
        }
        self.steps = self.steps.wrapping_add(1);
        self.word = after;
        let paid = before.debts().0 & !after.debts().0;
        if paid & Debts::MSG.0 != 0 && !matches!(event, Event::Stopped | Event::Withdraw(..)) {
            self.pass(Point::Left, now);
        }
        match event {
            Event::Accepted | Event::Done | Event::Refused => self.pass(Point::Answered, now),
            Event::Cancel(Cause::Deadline) if self.deadline.is_none() => self.deadline = Some(now),
            _ => {}
        }
        if self.given_up.is_none() && (after.lost() || after.has_cause()) {
            // It was lost before this event: by what an interrupt has settled.
            let earlier = self.settled.filter(|_| before.lost());
            self.given_up = earlier.or(Some((now, Wait::of(before))));
        }
        if Wait::of(after) == Wait::Report {
            self.pass(Point::Completed, now);
        }
    }

    /// Notes what an interrupt has settled, and ends the wait with `word`.
    pub(super) fn settled(&mut self, at: Instant, word: Word, debts: Debts) {
        self.wait_until(at, word);
        self.settled = Some((at, Wait::of(word)));
        if debts.0 & Debts::MSG.0 != 0 {
            self.pass(Point::Left, at);
        }
        if has_ended(without(word, debts)) {
            self.pass(Point::Completed, at);
        }
    }

    /// Notes its report.
    pub(super) fn close(&mut self, now: Instant, status: Status) {
        self.pass(Point::Completed, now);
        self.pass(Point::Reported, now);
        if self.given_up.is_none() && status.evidence.is_some() {
            self.given_up = self.settled;
        }
        self.status = Some(status);
    }
}
