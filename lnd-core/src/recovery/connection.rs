// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles failures of connections, the smallest stop domains.

use crate::base::id::{LinkId, Nid};
use crate::base::time::Instant;
use crate::links::Domain;
use crate::machines::link::{Connection, LinkEvent, LinkState};
use crate::ports::Ports;
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// The transport reports that the connection with a peer on a link has failed. Its transfers
    /// end once it is proven stopped. Transfers with other peers are unaffected.
    ///
    /// A connection that is down is not a peer that is down: requests for the peer wait, or use
    /// another link. If more connections are out of service than the configuration has places, the
    /// link is stopped instead. If the link's stop [proves no
    /// more](crate::ports::Engine::link_proves_more), the connection waits for a place. The call is
    /// ignored where the engine [has no connections](crate::ports::Engine::connection), and while
    /// the link is out of service: its reset makes the connection anew. Once that is over, in
    /// [`Down`](crate::link::LinkState::Down), the host makes a connection anew by itself.
    /// Bounded: [`on_time`](Self::on_time) does the rest.
    pub fn on_connection_down(&mut self, now: Instant, link: LinkId, peer: Nid) {
        self.note_work();
        let Some(connection) = self.connection_with(peer, link) else { return };
        // A second report of the same failure changes nothing. The recovery is under way.
        if self.links.is_out(peer, link) || self.connection_failed(now, connection) {
            return;
        }
        if self.links.proves_more(link) {
            self.domain_event(now, Domain::Link(link), LinkEvent::Failed);
        }
    }

    /// The transport reports that a connection is up. What waits for a peer on any link is tried at
    /// once, not at the next [`link_poll`](crate::config::Config::link_poll). Bounded:
    /// [`on_time`](Self::on_time) does the rest.
    pub fn on_connection_up(&mut self) {
        self.note_work();
        self.peers.look_again();
    }

    /// The recovery state of the connection with a peer on a link. `None`: it is in service, or
    /// there is none.
    pub fn connection_state(&self, link: LinkId, peer: Nid) -> Option<LinkState> {
        self.links.connection_to(peer, link).and_then(|it| self.domain_state(it))
    }

    /// Takes a connection out of service. Returns whether there was a place to record it.
    pub(crate) fn connection_failed(&mut self, now: Instant, connection: Connection) -> bool {
        let Some(domain) = self.links.take_out(connection) else { return false };
        self.domain_event(now, domain, LinkEvent::Failed);
        true
    }
}
