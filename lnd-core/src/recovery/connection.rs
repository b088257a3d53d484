// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Connections: the smallest stop domains. One that fails takes no other peer's transfers with it.

use crate::base::id::{LinkId, Nid};
use crate::base::time::Instant;
use crate::links::Domain;
use crate::machines::link::{Connection, LinkEvent, LinkState};
use crate::ports::Ports;
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// The connection with a peer by a link has failed, says the transport. Its transfers end, once it is
    /// proven stopped; those with other peers go on. A connection that is down is not a peer that is down:
    /// what waits for the peer waits, or goes by another link. With more connections out of service than the
    /// configuration has places for, the link is stopped instead, unless its stop
    /// [proves no more](crate::ports::Engine::link_proves_more): then what does not come back has its turn
    /// later. Ignored where the engine [has no connections](crate::ports::Engine::connection). Bounded; the
    /// rest is [`on_time`](Self::on_time)'s.
    pub fn on_connection_down(&mut self, now: Instant, link: LinkId, peer: Nid) {
        self.stir();
        let Some(connection) = self.connection_with(peer, link) else { return };
        if self.links.is_out(peer, link) || self.connection_failed(now, connection) {
            return;
        }
        if self.links.proves_more(link) {
            self.domain_event(now, Domain::Link(link), LinkEvent::Failed);
        }
    }

    /// A connection has come up, says the transport: what waits for a peer by any link is tried at once, and
    /// not at the next [`link_poll`](crate::config::Config::link_poll). Bounded; the rest is
    /// [`on_time`](Self::on_time)'s.
    pub fn on_connection_up(&mut self) {
        self.stir();
        self.peers.look_again();
    }

    /// How far the recovery of the connection with a peer by a link has come. `None`: it is in service, or
    /// there is none.
    pub fn connection_state(&self, link: LinkId, peer: Nid) -> Option<LinkState> {
        self.links.connection_to(peer, link).and_then(|it| self.domain_state(it))
    }

    /// Takes a connection out of service. Whether it was in service, and there is room to remember it.
    pub(crate) fn connection_failed(&mut self, now: Instant, connection: Connection) -> bool {
        let Some(domain) = self.links.take_out(connection) else { return false };
        self.domain_event(now, domain, LinkEvent::Failed);
        true
    }
}
