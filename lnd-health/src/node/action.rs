// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What health asks of the host: to ping, to probe, to connect.

use crate::ids::{NiId, Object, PeerNiId};
use crate::probe_kind::ProbeKind;
use crate::recovery::Due;
use crate::terms::Path;
use lnd_core::id::Nid;

/// A recovery ping. It owns what it needs by value (R50): it stays good whatever becomes of the
/// interface meanwhile, and an answer to an older one is recognised.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its answer is to be told"]
pub struct Ping {
    /// Whom: one of ours pings itself.
    pub object: Object,
    /// Its address.
    pub nid: Nid,
    /// The path to a peer's interface; each ping tries the next one.
    pub path: Option<Path>,
    pub(super) generation: u32,
}

/// A liveness probe.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its end is to be told"]
pub struct Probe {
    /// Of whom.
    pub peer_ni: PeerNiId,
    /// Its address.
    pub nid: Nid,
    /// By which operation.
    pub kind: ProbeKind,
    pub(super) generation: u32,
}

/// An attempt to connect.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its end is to be told"]
pub struct Connect {
    /// To whom.
    pub peer_ni: PeerNiId,
    /// Its address.
    pub nid: Nid,
    pub(super) generation: u32,
}

/// What the host is to do.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an action is to be done"]
pub enum Action {
    /// Ping, and tell by [`Health::answered`].
    Ping(Ping),
    /// Probe, and tell by [`Health::probed`].
    Probe(Probe),
    /// Connect, and tell by [`Health::connected`].
    Connect(Connect),
}

macro_rules! cookie {
    ($name:ident) => {
        impl $name {
            /// Names this one for [`Health`], wherever the value itself cannot be kept: its index
            /// and generation.
            pub const fn cookie(&self) -> u64 {
                (self.generation as u64) << 32 | self.peer_ni.raw() as u64
            }

            pub(super) fn due(&self) -> Due {
                Due { index: self.peer_ni.raw(), generation: self.generation }
            }
        }
    };
}

cookie!(Probe);
cookie!(Connect);

impl Ping {
    /// Our interface that it goes out over.
    pub const fn via(&self) -> Option<NiId> {
        match self.path {
            Some(path) => Some(path.local),
            None => None,
        }
    }
}

/// What a queue has to offer.
pub(super) enum Found {
    /// Nothing is due.
    None,
    /// An entry was due, and needs nothing.
    Spared,
    Action(Action),
}
