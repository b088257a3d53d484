// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles stop domains: links, and the connections that are out of service.

use super::{Links, Recovery};
use crate::base::id::{LinkId, Nid, Tag};
use crate::machines::link::{Connection, Quiesced};
use crate::ports::{Engine, Returned};

/// A part of the node that is stopped, and proven stopped, by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    /// A whole link. Every engine can stop its link.
    Link(LinkId),
    /// A connection that is out of service, by its place. The link's other peers are unaffected.
    Connection(u8),
}

impl<E: Engine> Links<'_, E> {
    /// The number of places for connections that are out of service.
    pub fn connections(&self) -> u8 {
        if E::CONNECTIONS {
            self.out.places()
        } else {
            0
        }
    }

    /// The connection that may walk over slots in this call. They take turns. Some are out of
    /// service.
    pub fn next_turn(&mut self) -> Option<u8> {
        self.out.next_turn()
    }

    /// The connection with a peer on a link, if it is out of service.
    pub fn connection_to(&self, peer: Nid, link: LinkId) -> Option<Domain> {
        if !self.any_connection_out() {
            return None;
        }
        self.out.find_to(peer, link).map(Domain::Connection)
    }

    /// The domain that a proof names, if it may wait for one.
    pub fn of_proof(&self, proof: &Quiesced) -> Option<Domain> {
        match proof.connection() {
            // A link's proof covers its connections too, whether they are out of service or not.
            None => Some(Domain::Link(proof.link())),
            Some(_) if !self.any_connection_out() => None,
            // The number is compared too. A late proof names a former connection with the same
            // peer, and it proves nothing about the present one.
            Some(stopped) => self.out.find(|it| *it == stopped).map(Domain::Connection),
        }
    }

    /// The connection that is out of service in a place.
    pub fn connection(&self, place: u8) -> Option<Connection> {
        if !E::CONNECTIONS {
            return None;
        }
        self.out.get(place).map(|out| out.connection)
    }

    /// The link of a domain, and the one peer that it reaches. `None`: all peers.
    pub fn reach(&self, domain: Domain) -> Option<(LinkId, Option<Nid>)> {
        match domain {
            Domain::Link(link) => Some((link, None)),
            Domain::Connection(place) => self.connection(place).map(|it| (it.link, Some(it.peer))),
        }
    }

    /// The recovery of a domain.
    pub fn recovery(&self, domain: Domain) -> Option<&Recovery> {
        match domain {
            Domain::Link(id) => self.get(id).map(|link| &link.recovery),
            Domain::Connection(_) if !E::CONNECTIONS => None,
            Domain::Connection(place) => self.out.get(place).map(|out| &out.recovery),
        }
    }

    /// The recovery of a domain.
    pub fn recovery_mut(&mut self, domain: Domain) -> Option<&mut Recovery> {
        match domain {
            Domain::Link(id) => self.get_mut(id).map(|link| &mut link.recovery),
            Domain::Connection(_) if !E::CONNECTIONS => None,
            Domain::Connection(place) => self.out.get_mut(place).map(|out| &mut out.recovery),
        }
    }

    /// Takes a connection that is in service out of service. `None`: no place is left.
    pub fn take_out(&mut self, connection: Connection) -> Option<Domain> {
        if !E::CONNECTIONS {
            return None;
        }
        self.out.add(connection).map(Domain::Connection)
    }

    /// Puts a connection back into service, or all connections of a link whose own stop includes
    /// them.
    pub fn put_back(&mut self, domain: Domain) {
        for place in 0..self.connections() {
            let its = match domain {
                Domain::Connection(one) => one == place,
                // The link's recovery takes its connections over: one proof serves them all.
                Domain::Link(link) => self.connection(place).is_some_and(|it| it.link == link),
            };
            if its {
                self.out.remove(place);
            }
        }
    }

    /// Whether a link's stop can be proven where the stop of one of its connections cannot.
    pub fn proves_more(&self, link: LinkId) -> bool {
        self.get(link).is_some_and(|link| link.engine.link_proves_more())
    }

    /// Whether the completions of a link can no longer arrive.
    pub fn is_stuck(&self, link: LinkId) -> bool {
        self.get(link).is_some_and(|link| link.engine.is_stuck())
    }

    /// Reclaims a descriptor of a stopped domain from its engine. `None`: the domain is not proven
    /// stopped.
    pub fn reclaim(&mut self, domain: Domain, tag: Tag) -> Option<Option<Returned>> {
        match domain {
            Domain::Link(id) => {
                // The engine demands the proof by reference, so no code path reaches it without one
                // (R12, INV-3).
                let link = self.list.get_mut(id.index())?;
                let proof = link.recovery.proof.as_ref()?;
                Some(link.engine.reclaim(tag, proof))
            }
            Domain::Connection(_) if !E::CONNECTIONS => None,
            Domain::Connection(place) => {
                let out = self.out.get(place)?;
                let proof = out.recovery.proof.as_ref()?;
                let link = self.list.get_mut(out.connection.link.index())?;
                Some(link.engine.reclaim(tag, proof))
            }
        }
    }
}
