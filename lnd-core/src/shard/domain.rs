// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file relates transfers to stop domains.

use super::Driver;
use crate::base::id::{LinkId, Nid};
use crate::links::{Domain, Link};
use crate::machines::link::{Connection, LinkState};
use crate::ports::{Engine, Ports};

impl<P: Ports> Driver<'_, P> {
    /// The connection with a peer on a link, if it can be stopped by itself and the link is in
    /// service.
    pub(crate) fn connection_with(&self, peer: Nid, link: LinkId) -> Option<Connection> {
        if self.links.connections() == 0 {
            return None;
        }
        // A link that has failed stops all its connections, so none of them fails by itself any
        // more.
        let engine = &self.links.get(link).filter(|link| Link::in_service(link))?.engine;
        engine.connection(peer).map(|number| Connection { link, peer, number })
    }

    /// Whether a transfer belongs to a domain, by its peer and its link.
    pub(crate) fn is_in(&self, slot: u32, domain: Domain) -> bool {
        let with = |peer| self.peers.nid(self.peers.of_slot(slot)) == Some(peer);
        self.links.reach(domain).is_some_and(|(link, peer)| {
            self.slots.owner(slot).link() == Some(link) && peer.is_none_or(with)
        })
    }

    /// The connection that a transfer uses, if it is out of service.
    fn connection_out(&self, slot: u32) -> Option<Domain> {
        // The usual case is one comparison: no connection is out of service.
        if !self.links.any_connection_out() {
            return None;
        }
        let link = self.slots.owner(slot).link()?;
        self.links.connection_to(self.peers.nid(self.peers.of_slot(slot))?, link)
    }

    /// Whether the connection that a transfer uses is out of service.
    pub(crate) fn is_disconnected(&self, slot: u32) -> bool {
        self.connection_out(slot).is_some()
    }

    /// Whether the device still holds memory that a transfer's connection has lent it, and only a
    /// proof returns it.
    pub(crate) fn is_held_by_connection(&self, slot: u32) -> bool {
        self.connection_out(slot).is_some_and(|it| self.is_held(it))
    }

    /// Whether a domain has failed and is not proven stopped.
    pub(crate) fn is_held(&self, domain: Domain) -> bool {
        let state = self.domain_state(domain);
        matches!(state, Some(LinkState::Stalled | LinkState::Stopping | LinkState::Failed))
    }

    /// The recovery state of a domain.
    pub(crate) fn domain_state(&self, domain: Domain) -> Option<LinkState> {
        self.links.recovery(domain).map(|it| it.state)
    }
}
