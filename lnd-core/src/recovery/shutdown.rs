// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The end, and what stands in its way (INV-15, R66): Running → Refusing → Draining → Closing →
//! Stopping → Quiescent. Dropping the driver afterwards is *Gone*.

use crate::base::message::Message;
use crate::base::time::Instant;
use crate::machines::link::LinkEvent;
use crate::machines::peer::HelloState;
use crate::peers::Wants;
use crate::ports::Ports;
use crate::shard::{Driver, RunState};

impl<P: Ports> Driver<'_, P> {
    /// Begins to shut down: new work is refused at once; what has not ended by `grace` is
    /// cancelled. [`on_time`](Self::on_time) does the rest; the reports must be fetched on. May be
    /// called again with an earlier `grace`.
    pub fn shutdown(&mut self, now: Instant, grace: Instant) {
        self.stir();
        self.run.refuse(grace);
        if self.run.grace_is_over(now) {
            self.begin_draining();
        }
    }

    fn begin_draining(&mut self) {
        self.run.enter(RunState::Draining);
        self.slots.request_sweep();
    }

    pub(crate) fn advance_shutdown(&mut self, now: Instant, budget: u32) {
        let empty = self.slots.in_use() == (0, 0);
        match self.run.state() {
            RunState::Running | RunState::Quiescent => {}
            RunState::Refusing if empty => self.run.enter(RunState::Closing),
            RunState::Refusing if self.run.grace_is_over(now) => self.begin_draining(),
            RunState::Refusing => {}
            RunState::Draining if empty => self.run.enter(RunState::Closing),
            RunState::Draining => {}
            RunState::Closing => self.send_goodbyes(now, budget),
            RunState::Stopping => {
                if self.links.all_down() {
                    self.run.enter(RunState::Quiescent);
                }
            }
        }
    }

    /// CLOSE is the last message of a life (R35); like every message it is said once, and one that
    /// finds no room is not said.
    fn send_goodbyes(&mut self, now: Instant, budget: u32) {
        for _ in 0..budget {
            let place = self.run.next_goodbye();
            if place as usize >= self.peers.len() {
                self.run.enter(RunState::Stopping);
                for link in self.links.ids() {
                    self.link_event(now, link, LinkEvent::Failed);
                }
                return;
            }
            let Some(id) = self.peers.id(place) else { continue };
            let knows_us = self.peers.view(id).is_some_and(|view| {
                view.state() == HelloState::Good
                    || view.admitted() && view.state() != HelloState::Down
            });
            self.peers.disarm(id);
            if let Some(peer) = self.peers.get_mut(id) {
                peer.wants = Wants::empty();
            }
            if knows_us {
                self.send_control(now, id, None, &Message::Close);
            }
        }
    }
}
