// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The input of a selection: the tables and the request.

use super::route::Route;
use crate::attempts::Attempts;
use crate::effect::{Profile, Resend};
use crate::ids::{NiId, PeerNiId, MAX_PEER_NIS};
use crate::ni::Ni;
use crate::standing::Shut;
use crate::terms::Path;

/// A network of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Net {
    /// Its number, the upper half of a NID; `None` in an unused slot.
    pub number: Option<u32>,
    /// User-defined priority, 0 the best.
    pub priority: u16,
    /// Stamp of its last use.
    pub(crate) turn: u32,
}

impl Net {
    /// An unused slot.
    pub const UNUSED: Self = Self { number: None, priority: 0, turn: 0 };

    /// Number of the selection that used it last.
    pub const fn last_turn(&self) -> u32 {
        self.turn
    }
}

/// The tables for a selection: the node's own, read only.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The profile, which determines how interfaces that are down or fatal are used.
    pub profile: Profile,
    /// Local interfaces, by [`NiId`].
    pub locals: &'a [Ni],
    /// All peers' interfaces, by [`PeerNiId`]; those of one peer are linked.
    pub peer_nis: &'a [Ni],
    /// Networks, by slot.
    pub nets: &'a [Net],
    /// Routes, by [`RouteId`](crate::RouteId).
    pub routes: &'a [Route],
    /// Number of this selection, against which the stamps of last use are compared.
    pub turn: u32,
    /// NUMA distances below this count as equal (`lnet_numa_range`).
    pub numa_range: u16,
}

/// Largest NUMA distance; larger ones count as equal to it.
pub const MAX_NUMA: u16 = 0xfff;

/// The distance of a local interface from the memory and the CPUs of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distance {
    /// From the device that has the memory; 0 is nearest (`lnd_get_dev_prio`).
    pub device: u8,
    /// From the CPUs, by the NUMA table.
    pub numa: u16,
}

/// The destination of a selection and its conditions.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The peer's first interface; the others are linked to it.
    pub first: PeerNiId,
    /// The interface to send from: the request's own, or the one that a peer without multi-rail is
    /// bound to.
    pub source: Option<NiId>,
    /// The interface to reach. A response takes the path of its request.
    pub destination: Option<PeerNiId>,
    /// Distances by [`NiId`]; missing ones are 0.
    pub distances: &'a [Distance],
    /// The message's history, and how its next path must differ.
    pub history: Option<(&'a Attempts, Resend)>,
    /// A recovery ping: its destination may be down.
    pub recovery: bool,
}

impl<'a> Wanted<'a> {
    /// Any path to the peer whose first interface is `first`.
    pub const fn any(first: PeerNiId) -> Self {
        Self {
            first,
            source: None,
            destination: None,
            distances: &[],
            history: None,
            recovery: false,
        }
    }

    /// Whether its history allows a path.
    pub(super) fn allows(&self, view: &View<'_>, local: u32, hop: u32) -> bool {
        let Some((attempts, disjoint)) = self.history else { return true };
        view.path(local, hop).is_some_and(|path| attempts.allows(path, disjoint))
    }
}

/// The bit of a network's slot in a mask.
pub(crate) const fn net_bit(net: u8) -> u32 {
    1 << (net & 31)
}

impl<'a> View<'a> {
    /// An entry of the peers' table that is in use.
    pub(super) fn peer_ni(&self, index: u32) -> Option<&'a Ni> {
        self.peer_nis.get(index as usize).filter(|ni| ni.nid.is_some())
    }

    /// The interface of a name, if the name is not stale.
    pub(super) fn named(&self, id: PeerNiId) -> Option<&'a Ni> {
        self.peer_ni(id.raw()).filter(|ni| id.is_of(ni.generation))
    }

    /// The path between two entries, by their current names.
    pub(super) fn path(&self, local: u32, hop: u32) -> Option<Path> {
        let local = NiId::of(local as usize, self.locals.get(local as usize)?.generation)?;
        let hop = PeerNiId::of(hop, self.peer_nis.get(hop as usize)?.generation);
        Some(Path { local, hop })
    }

    /// The peer's interfaces that the request allows.
    #[inline]
    pub(super) fn hops(
        &self,
        wanted: &Wanted<'_>,
    ) -> impl Iterator<Item = (u32, &'a Ni)> + use<'a> {
        let (nis, only) = (self.peer_nis, wanted.destination.map(PeerNiId::raw));
        let mut next = only.unwrap_or(wanted.first.raw());
        (0..MAX_PEER_NIS).map_while(move |_| {
            let index = next;
            let ni = nis.get(index as usize)?;
            next = if only.is_some() { u32::MAX } else { ni.next };
            Some((index, ni))
        })
    }

    /// The local interfaces that the request allows.
    #[inline]
    pub(super) fn sources(
        &self,
        wanted: &Wanted<'_>,
    ) -> impl Iterator<Item = (u32, &'a Ni)> + use<'a> {
        let (from, count) = match wanted.source {
            Some(source) => (source.index(), 1),
            None => (0, self.locals.len()),
        };
        let rest = self.locals.get(from..).unwrap_or(&[]);
        (from as u32..).zip(rest.iter().take(count))
    }

    /// S4-7, S4-12: in the seed's profile an interface that is down or fatal is not used; LNet's
    /// ranks it last.
    #[inline]
    pub(super) fn usable(&self, ni: &Ni) -> bool {
        let mask = match self.profile {
            Profile::Seed => Shut::UNUSED | Shut::DRAINING | Shut::FATAL | Shut::DOWN,
            Profile::LnetCompat => Shut::UNUSED | Shut::DRAINING,
        };
        !ni.shut.has(mask)
    }

    /// A recovery ping may use an interface that is down.
    #[inline]
    pub(super) fn usable_hop(&self, ni: &Ni, wanted: &Wanted<'_>) -> bool {
        self.usable(ni)
            || wanted.recovery && wanted.destination.is_some() && !ni.shut.has(Shut::UNUSED)
    }

    /// Whether a local interface has a path left that the message's history allows.
    pub(super) fn open(&self, wanted: &Wanted<'_>, local: u32, net: u8) -> bool {
        self.hops(wanted).any(|(hop, ni)| {
            ni.net == net && self.usable_hop(ni, wanted) && wanted.allows(self, local, hop)
        })
    }
}
