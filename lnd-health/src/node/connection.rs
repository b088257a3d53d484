// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Connections to peers' interfaces: attempts that are due, and their ends (R68).

use super::action::{Action, Connect, Found};
use super::tally::HealthCounter;
use super::Health;
use crate::ids::{Object, PeerNiId};
use crate::reconnect::{Connected, Connectivity};
use lnd_core::time::Instant;

impl Health<'_> {
    pub(super) fn due_connect(&mut self, now: Instant) -> Found {
        if self.reconnect.expire(now, &mut self.jitter) {
            self.tally.count_untold(true);
            return Found::Spared;
        }
        let Some(due) = self.reconnect.take_due(now) else { return Found::None };
        let Some((peer_ni, nid)) = self.peer_ni_at(due.index) else {
            self.reconnect.settled(due.index);
            return Found::Spared;
        };
        self.tally.count(HealthCounter::Connects);
        Found::Action(Action::Connect(Connect { peer_ni, nid, generation: due.generation }))
    }

    /// Reports the end of an attempt to connect. Returns `false` if it is stale.
    pub fn connected(&mut self, now: Instant, attempt: Connect, how: Connected) -> bool {
        if !self.knows(Object::Peer(attempt.peer_ni)) {
            return false;
        }
        let current = self.reconnect.end(now, &mut self.jitter, attempt.due(), how);
        if current && how == Connected::Yes {
            self.heard(now, attempt.peer_ni);
            self.enqueue(now, Object::Peer(attempt.peer_ni));
        }
        current
    }

    /// The connection to a peer's interface was lost: health connects again, within the budget.
    pub fn connection_lost(&mut self, now: Instant, id: PeerNiId) {
        if self.knows(Object::Peer(id)) && !self.stopping {
            self.reconnect.lost(now, &mut self.jitter, id.raw());
        }
    }

    /// A peer's interface is connected, or needs no connection any longer.
    pub fn connection_settled(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.reconnect.settled(id.raw());
        }
    }

    /// The state of the connection to a peer's interface; `Up` for an unknown one.
    pub fn connection(&self, id: PeerNiId) -> Connectivity {
        self.peer_ni(id).map_or(Connectivity::Up, |_| self.reconnect.connection(id.raw()))
    }
}
