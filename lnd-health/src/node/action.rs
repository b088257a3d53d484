// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The actions that the host performs for health: to ping, to probe, to connect.

use crate::ids::{NiId, Object, PeerNiId};
use crate::probe_kind::ProbeKind;
use crate::recovery::Due;
use crate::terms::Path;
use lnd_core::id::Nid;

/// A recovery ping. It owns its data by value (R50): it stays valid if the interface changes, and
/// an answer to an older one is recognised.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its answer must be reported"]
pub struct Ping {
    /// The target; a local interface pings itself.
    pub object: Object,
    /// Its address.
    pub nid: Nid,
    /// The path to a peer's interface; each ping tries the next one.
    pub path: Option<Path>,
    pub(super) generation: u32,
}

/// A liveness probe.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its end must be reported"]
pub struct Probe {
    /// The target.
    pub peer_ni: PeerNiId,
    /// Its address.
    pub nid: Nid,
    /// The operation.
    pub kind: ProbeKind,
    pub(super) generation: u32,
}

/// An attempt to connect.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its end must be reported"]
pub struct Connect {
    /// The target.
    pub peer_ni: PeerNiId,
    /// Its address.
    pub nid: Nid,
    pub(super) generation: u32,
}

/// An action for the host.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an action must be performed"]
pub enum Action {
    /// Ping, and report through [`Health::answered`](crate::Health::answered).
    Ping(Ping),
    /// Probe, and report through [`Health::probed`](crate::Health::probed).
    Probe(Probe),
    /// Connect, and report through [`Health::connected`](crate::Health::connected).
    Connect(Connect),
}

macro_rules! cookie {
    ($name:ident) => {
        impl $name {
            /// Names this action for [`Health`](crate::Health) where the value itself cannot be
            /// kept: its index and generation.
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
    /// The local interface from which it is sent.
    pub const fn via(&self) -> Option<NiId> {
        match self.path {
            Some(path) => Some(path.local),
            None => None,
        }
    }
}

/// The result of polling a queue.
pub(super) enum Found {
    /// Nothing is due.
    None,
    /// An entry was due, and needs no action.
    Spared,
    Action(Action),
}
