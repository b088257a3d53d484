// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the shutdown (INV-15, R66): Running → Refusing → Draining → Closing → Stopping →
//! Quiescent. The driver may then be dropped, which is *Gone*.

use crate::base::message::Message;
use crate::base::time::Instant;
use crate::machines::link::LinkEvent;
use crate::machines::peer::HelloState;
use crate::peers::Wants;
use crate::ports::Ports;
use crate::shard::{Driver, RunState};

impl<P: Ports> Driver<'_, P> {
    /// Starts the shutdown. New work is refused at once. What has not ended by `grace` is
    /// cancelled. [`on_time`](Self::on_time) does the rest, and the reports must still be fetched.
    /// May be called again with an earlier `grace`.
    pub fn shutdown(&mut self, now: Instant, grace: Instant) {
        self.note_work();
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
        // A slot is in use until its report is fetched. So no message is lost in a shutdown, and
        // the host must fetch on (INV-1).
        let empty = self.slots.in_use() == (0, 0);
        match self.run.state() {
            RunState::Running | RunState::Quiescent => {}
            RunState::Refusing if empty => self.run.enter(RunState::Closing),
            RunState::Refusing if self.run.grace_is_over(now) => self.begin_draining(),
            RunState::Refusing => {}
            RunState::Draining if empty => self.run.enter(RunState::Closing),
            RunState::Draining => {}
            // Goodbyes come after the last transfer: CLOSE guarantees that everything sent before
            // has ended (R35).
            RunState::Closing => self.send_goodbyes(now, budget),
            RunState::Stopping => {
                if self.links.all_down() {
                    self.run.enter(RunState::Quiescent);
                }
            }
        }
    }

    /// Sends CLOSE, the last message of an incarnation (R35). Each peer gets it once. If it finds
    /// no room, it is not sent.
    fn send_goodbyes(&mut self, now: Instant, budget: u32) {
        for _ in 0..budget {
            let place = self.run.next_goodbye();
            if place as usize >= self.peers.len() {
                self.run.enter(RunState::Stopping);
                // All links fail on purpose: their recovery stops the engines and proves it
                // (INV-3).
                for link in self.links.ids() {
                    self.link_event(now, link, LinkEvent::Failed);
                }
                return;
            }
            let Some(id) = self.peers.id(place) else { continue };
            // A peer that never answered holds no state of us, and a peer that is down gets
            // nothing.
            let knows_us = self.peers.view(id).is_some_and(|view| {
                view.state() == HelloState::Good
                    || view.admitted() && view.state() != HelloState::Down
            });
            self.peers.disarm(id);
            if let Some(peer) = self.peers.get_mut(id) {
                // Nothing may follow the goodbye.
                peer.wants = Wants::empty();
            }
            if knows_us {
                self.send_control(now, id, None, &Message::Close);
            }
        }
    }
}
