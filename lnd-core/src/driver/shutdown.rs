// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The end, and what stands in its way (INV-15, R66): Running → Refusing → Draining → Closing →
//! Stopping → Quiescent. Dropping the driver afterwards is *Gone*.

use super::peer::Wants;
use super::Driver;
use crate::defect::seeded;
use crate::id::{LinkId, Nid, Tag};
use crate::link::{LinkEvent, LinkState};
use crate::message::Message;
use crate::peer::HelloState;
use crate::ports::Ports;
use crate::time::Instant;
use crate::transfer::{Phase, Word};

/// How far a shutdown has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunState {
    /// In service.
    Running,
    /// New work is refused; what is under way may end by itself until the grace is over.
    Refusing,
    /// Everything left is cancelled.
    Draining,
    /// Peers are told goodbye.
    Closing,
    /// Engines are being stopped.
    Stopping,
    /// Nothing moves and nothing is owed: memory may go.
    Quiescent,
}

/// What a shutdown, or a drain, waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blocker {
    /// A transfer that has not ended.
    Transfer {
        /// Which.
        tag: Tag,
        /// The other side.
        peer: Option<Nid>,
        /// On which link, if it has one.
        link: Option<LinkId>,
        /// What it still owes, and why it is ending.
        word: Word,
        /// When its wait is bounded by.
        until: Option<Instant>,
    },
    /// A transfer that has ended and has not been fetched by
    /// [`next_report`](Driver::next_report).
    Unreported {
        /// Which.
        tag: Tag,
    },
    /// A link whose engine has not stopped.
    Link {
        /// Which.
        link: LinkId,
        /// Its state.
        state: LinkState,
    },
}

/// The shutdown's own state.
#[derive(Debug, Hash)]
pub(super) struct Run {
    state: RunState,
    grace: Instant,
    /// The next peer to say goodbye to.
    at: usize,
}

impl Run {
    pub const fn new() -> Self {
        Self { state: RunState::Running, grace: Instant::NEVER, at: 0 }
    }

    pub const fn state(&self) -> RunState {
        self.state
    }

    /// Whether goodbyes are being said or have been: no message counts any more, and no link comes
    /// back.
    pub const fn is_over(&self) -> bool {
        matches!(self.state, RunState::Closing | RunState::Stopping | RunState::Quiescent)
    }

    /// When the grace ends, while it lasts.
    pub fn grace(&self) -> Option<Instant> {
        (self.state == RunState::Refusing && self.grace != Instant::NEVER).then_some(self.grace)
    }
}

impl<P: Ports> Driver<'_, P> {
    /// Begins to shut down: new work is refused at once; what has not ended by `grace` is
    /// cancelled. [`on_time`](Self::on_time) does the rest; the reports must be fetched on. May be
    /// called again with an earlier `grace`.
    pub fn shutdown(&mut self, now: Instant, grace: Instant) {
        if self.run.state == RunState::Running {
            self.run.state = RunState::Refusing;
        }
        self.run.grace = self.run.grace.min(grace);
        if self.run.state == RunState::Refusing && self.run.grace <= now {
            self.begin_draining();
        }
    }

    /// How far the shutdown has come.
    pub const fn run_state(&self) -> RunState {
        self.run.state
    }

    fn begin_draining(&mut self) {
        self.run.state = RunState::Draining;
        self.request_sweep();
    }

    pub(super) fn advance_shutdown(&mut self, now: Instant, budget: u32) {
        let empty = self.active == 0 && self.passive == 0 || seeded("closed-before-empty");
        match self.run.state {
            RunState::Running | RunState::Quiescent => {}
            RunState::Refusing if empty => self.run.state = RunState::Closing,
            RunState::Refusing if self.run.grace <= now => self.begin_draining(),
            RunState::Refusing => {}
            RunState::Draining if empty => self.run.state = RunState::Closing,
            RunState::Draining => {}
            RunState::Closing => self.say_goodbye(now, budget),
            RunState::Stopping => {
                if self.links.iter().all(|l| l.state() == LinkState::Down) {
                    self.run.state = RunState::Quiescent;
                }
            }
        }
    }

    /// CLOSE is the last message of a life (R35); like every message it is said once, and one that
    /// finds no room is not said.
    fn say_goodbye(&mut self, now: Instant, budget: u32) {
        for _ in 0..budget {
            if self.run.at >= self.peers.len() {
                self.run.state = RunState::Stopping;
                for number in 0..self.links.len() {
                    if let Some(link) = LinkId::new(number) {
                        self.link_event(now, link, LinkEvent::Failed);
                    }
                }
                return;
            }
            let place = self.run.at as u32;
            self.run.at += 1;
            let Some(id) = self.peers.id(place) else { continue };
            let knows_us = self.shared.peer_gate(id.index()).is_some_and(|gate| {
                let view = gate.view();
                view.state() == HelloState::Good
                    || view.admitted() && view.state() != HelloState::Down
            });
            if !seeded("goodbye-keeps-timer") {
                self.timers.disarm(self.config.slots + id.index() as u32);
            }
            if let Some(peer) = self.peers.get_mut(id) {
                peer.wants = Wants::empty();
            }
            if knows_us {
                self.say_control(now, id, None, &Message::Close);
            }
        }
    }

    /// Whether goodbyes are left to say. What ends before, ends before `advance_shutdown` looks.
    pub(super) const fn shutdown_wants_more(&self) -> bool {
        matches!(self.run.state, RunState::Closing)
    }

    /// What stands in the way of being idle, from slot `from` on; `None` once nothing is left.
    /// Looks at the whole table at most. For operators and for tests.
    pub fn blocker(&self, from: u32) -> Option<Blocker> {
        for slot in from..self.config.slots {
            let word = self.shared.word(slot);
            let tag = self.shared.tag(slot);
            match word.phase() {
                Phase::Free => {}
                Phase::Done => return Some(Blocker::Unreported { tag }),
                Phase::Queued | Phase::Live => {
                    let whose = self.shared.whose(slot);
                    return Some(Blocker::Transfer {
                        tag,
                        peer: self.peers.get(self.peer_of(slot)).and_then(|p| p.nid),
                        link: whose.link(),
                        word,
                        until: self.timers.armed(slot),
                    });
                }
            }
        }
        if self.run.state != RunState::Stopping {
            return None;
        }
        (0..self.links.len()).filter_map(LinkId::new).find_map(|link| {
            let state = self.link_state(link)?;
            (state != LinkState::Down).then_some(Blocker::Link { link, state })
        })
    }
}
