// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Routes: a gateway's interface on a local network, through which another network can be reached.

use crate::ids::{PeerNiId, Use};

/// One route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// Slot of the far network; `None` in an unused entry.
    pub(crate) far: Option<u8>,
    /// The gateway's interface: the next hop.
    pub gateway: PeerNiId,
    /// The route's own priority, 0 the best.
    pub priority: u16,
    /// The priority from its gateway's rule; the two are added.
    pub(crate) policy: u16,
    /// Gateways on the path.
    pub hops: u8,
    /// The gateway is alive and its interface status is up on the near network and, with one hop,
    /// on the far one. Independent of health values (LU-18444).
    pub alive: bool,
    /// Stamp of its last use.
    pub(crate) turn: u32,
    /// The use of the entry: names of earlier uses name nothing (R14).
    pub(crate) generation: Use,
}

impl Route {
    /// An unused entry.
    pub const UNUSED: Self = Self {
        far: None,
        gateway: PeerNiId::new(u32::MAX),
        priority: 0,
        policy: 0,
        hops: 1,
        alive: true,
        turn: 0,
        generation: Use::FIRST,
    };
}
