// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Invariants that hold at any time, checked over all tables: for tests, models and a debug call.

use super::Health;
use crate::ids::{NiId, Object, PeerId, PeerNiId};
use crate::standing::NiStatus;

/// A broken invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenHealth {
    /// An interface without full health is not in the recovery queue, or a healthy one is.
    Recovery(Object),
    /// The recovery queue has entries that belong to no interface.
    RecoveryCount,
    /// Health and status contradict the thresholds.
    Status(Object),
    /// A peer's list of interfaces is inconsistent.
    List(PeerId),
}

lnd_core::sentences! { BrokenHealth {
    Self::Recovery(_) => "an interface is in the recovery queue and should not be, or the reverse",
    Self::RecoveryCount => "the recovery queue has entries that belong to no interface",
    Self::Status(_) => "health and status contradict the thresholds",
    Self::List(_) => "a peer's list of interfaces is inconsistent",
}}

impl Health<'_> {
    /// Checks the tables as a whole.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn audit(&self) -> Result<(), BrokenHealth> {
        let locals = (0..).zip(self.locals.iter());
        let locals = locals.filter_map(|(n, ni)| NiId::of(n, ni.generation)).map(Object::Local);
        let peers = (0..).zip(self.peer_nis.iter());
        let peers = peers.map(|(n, ni)| Object::Peer(PeerNiId::of(n, ni.generation)));
        let mut queued = 0;
        for object in locals.chain(peers) {
            let Some(ni) = self.ni(object) else { continue };
            let t = self.config.thresholds;
            let wrong = match ni.status() {
                NiStatus::Up => ni.health().get() <= t.down,
                NiStatus::Down => ni.health().get() >= t.up,
            };
            if wrong {
                return Err(BrokenHealth::Status(object));
            }
            let waits = self.recovery.due(self.place(object)).is_some();
            // An interface whose recovery has stopped, or that LNet does not ping, is in neither
            // state.
            let given_up = self.config.recovery_limit.as_nanos() > 0 || self.stopping;
            let must = !given_up && !self.is_stranger(object, ni);
            if waits && ni.is_well() || must && !waits && !ni.is_well() {
                return Err(BrokenHealth::Recovery(object));
            }
            queued += u32::from(waits);
        }
        if queued != self.recovery.len() {
            return Err(BrokenHealth::RecoveryCount);
        }
        for id in (0..).zip(self.peers.iter()).map(|(n, peer)| PeerId::of(n, peer.generation)) {
            let Some(peer) = self.peer(id) else { continue };
            let owned = |ni: PeerNiId| self.peer_ni(ni).is_some_and(|ni| ni.peer == id.raw());
            let count = self.interfaces(id).filter(|&ni| owned(ni)).count();
            if count != usize::from(peer.interfaces) {
                return Err(BrokenHealth::List(id));
            }
        }
        Ok(())
    }
}
