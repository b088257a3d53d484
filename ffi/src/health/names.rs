// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Makes and reads names. Before a name is used, its object, its kind and its use of the place are
//! checked (R14).

use ::lnd_health::{NiId, Object, PeerId, PeerNiId, RouteId};

use super::Whole;
use crate::abi::{lnd_error, lnd_health_ni, lnd_health_peer, lnd_health_route, lnd_object};

// Arbitrary, and not zero.
const PEER: u32 = 0x4850_0005;
const ROUTE: u32 = 0x4852_0006;

/// The name of no interface.
pub(super) const NO_NI: lnd_health_ni =
    lnd_health_ni { index: 0, generation: 0, owner: 0, kind: 0 };

pub(super) const fn local(owner: u32, id: NiId) -> lnd_health_ni {
    let kind = lnd_object::LND_OBJECT_LOCAL as u32;
    lnd_health_ni { index: id.index() as u32, generation: id.generation(), owner, kind }
}

pub(super) const fn peer_ni(owner: u32, id: PeerNiId) -> lnd_health_ni {
    let kind = lnd_object::LND_OBJECT_PEER_NI as u32;
    lnd_health_ni { index: id.raw(), generation: id.generation(), owner, kind }
}

pub(super) const fn object(owner: u32, object: Object) -> lnd_health_ni {
    match object {
        Object::Local(id) => local(owner, id),
        Object::Peer(id) => peer_ni(owner, id),
    }
}

pub(super) const fn peer(owner: u32, id: PeerId) -> lnd_health_peer {
    lnd_health_peer { index: id.raw(), generation: id.generation(), owner, kind: PEER }
}

pub(super) const fn route(owner: u32, id: RouteId) -> lnd_health_route {
    lnd_health_route { index: id.raw(), generation: id.generation(), owner, kind: ROUTE }
}

fn owned(id: u32, owner: u32) -> Result<(), lnd_error> {
    if owner == id {
        Ok(())
    } else {
        Err(lnd_error::LND_E_FOREIGN)
    }
}

impl Whole {
    /// The interface that a caller names.
    pub(super) fn object(&mut self, id: u32, named: lnd_health_ni) -> Result<Object, lnd_error> {
        let object = match named.kind {
            k if k == lnd_object::LND_OBJECT_LOCAL as u32 => {
                NiId::from_parts(named.index as usize, named.generation).map(Object::Local)
            }
            k if k == lnd_object::LND_OBJECT_PEER_NI as u32 => {
                PeerNiId::from_parts(named.index, named.generation).map(Object::Peer)
            }
            _ => None,
        };
        let object = object.ok_or(lnd_error::LND_E_STALE)?;
        owned(id, named.owner)?;
        if self.health.knows(object) {
            Ok(object)
        } else {
            Err(lnd_error::LND_E_STALE)
        }
    }

    /// A local interface.
    pub(super) fn local(&mut self, id: u32, named: lnd_health_ni) -> Result<NiId, lnd_error> {
        match self.object(id, named)? {
            Object::Local(local) => Ok(local),
            Object::Peer(_) => Err(lnd_error::LND_E_WRONG_KIND),
        }
    }

    /// A peer's interface.
    pub(super) fn peer_ni(&mut self, id: u32, named: lnd_health_ni) -> Result<PeerNiId, lnd_error> {
        match self.object(id, named)? {
            Object::Peer(ni) => Ok(ni),
            Object::Local(_) => Err(lnd_error::LND_E_WRONG_KIND),
        }
    }

    /// A peer.
    pub(super) fn peer(&mut self, id: u32, named: lnd_health_peer) -> Result<PeerId, lnd_error> {
        let peer = PeerId::from_parts(named.index, named.generation);
        let peer = peer.filter(|_| named.kind == PEER).ok_or(lnd_error::LND_E_STALE)?;
        owned(id, named.owner)?;
        if self.health.knows_peer(peer) {
            Ok(peer)
        } else {
            Err(lnd_error::LND_E_STALE)
        }
    }

    /// A route. Its use shows whether it still exists.
    pub(super) fn route(&mut self, id: u32, named: lnd_health_route) -> Result<RouteId, lnd_error> {
        let route = RouteId::from_parts(named.index, named.generation);
        let route = route.filter(|_| named.kind == ROUTE).ok_or(lnd_error::LND_E_STALE)?;
        owned(id, named.owner)?;
        Ok(route)
    }
}
