// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Selection: which of our interfaces, which of the peer's, by which route (R52, A6).
//!
//! A pure function of tables and request: it writes nothing, so that a choice can be asked for
//! twice, replayed from a dump, and explained. In order: the network, our interface, the
//! peer's interface; through a router if there is no direct way.

mod key;
mod route;
mod rule;

use crate::effect::{Profile, Resend};
use crate::ids::{NiId, PeerNiId, RouteId, MAX_NETS, MAX_PEER_NIS};
use crate::journey::{Journey, Path};
use crate::ni::{Ni, Shut};
use key::{Contest, Key};
use lnd_core::defect::seeded;

pub(crate) use key::rank;
pub use key::Because;
pub use route::Route;
pub use rule::{Match, Rule};

/// A network that this node knows.
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

/// What selection looks at: the node's tables, read only.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Which profile decides about interfaces that are down or fatal.
    pub profile: Profile,
    /// Our interfaces, by [`NiId`].
    pub locals: &'a [Ni],
    /// All peers' interfaces, by [`PeerNiId`]; those of one peer are linked.
    pub peer_nis: &'a [Ni],
    /// Networks, by slot.
    pub nets: &'a [Net],
    /// Routes, by [`RouteId`].
    pub routes: &'a [Route],
    /// Number of this selection, against which the stamps of last use are compared.
    pub turn: u32,
    /// NUMA distances below this count as equal (`lnet_numa_range`).
    pub numa_range: u16,
}

/// How far a local interface is from the memory and the CPUs of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distance {
    /// From the device that has the memory; 0 is nearest (`lnd_get_dev_prio`).
    pub device: u8,
    /// From the CPUs, as the NUMA table has it.
    pub numa: u16,
}

/// What is to be reached, and how.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The peer's first interface; the others are linked to it.
    pub first: PeerNiId,
    /// The interface to send from: the request's own, or the one that a peer without multi-rail
    /// is bound to.
    pub source: Option<NiId>,
    /// The interface to reach. Responses go where their request came from.
    pub destination: Option<PeerNiId>,
    /// Distances by [`NiId`]; missing ones are 0.
    pub distances: &'a [Distance],
    /// The message's history, and how its next path must differ.
    pub history: Option<(&'a Journey, Resend)>,
    /// A recovery ping: its destination may be down.
    pub recovery: bool,
}

impl<'a> Wanted<'a> {
    /// Any way to the peer whose first interface is `first`.
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

    fn allows(&self, view: &View<'_>, local: u32, hop: u32) -> bool {
        let Some((journey, disjoint)) = self.history else { return true };
        view.path(local, hop).is_some_and(|path| journey.allows(path, disjoint))
    }
}

/// Why each part was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reasons {
    /// The network.
    pub net: Because,
    /// Our interface.
    pub local: Because,
    /// The next hop's interface.
    pub hop: Because,
}

/// A chosen path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// To the next hop.
    pub path: Path,
    /// The interface that it is for: the hop's own on a direct path.
    pub destination: PeerNiId,
    /// The route taken, if there is no direct way.
    pub route: Option<RouteId>,
    /// Why.
    pub reasons: Reasons,
}

/// Why there is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoPath {
    /// The request names something that does not exist.
    Unknown,
    /// No network has both ends, and no route leads there.
    NoRoute,
    /// There are paths, but an end of each is down, fatal, or being drained.
    Unusable,
    /// All that differ as asked have been tried.
    Tried,
}

/// Chooses a path. Context: any; bounded by the numbers of our interfaces, the peer's and the
/// routes.
///
/// # Errors
/// Why there is none.
pub fn select(view: &View<'_>, wanted: &Wanted<'_>) -> Result<Choice, NoPath> {
    let named = |ni: &Ni, known: bool| ni.nid.is_some() && known;
    let ours =
        |s: NiId| view.locals.get(s.index()).is_some_and(|n| named(n, s.is_of(n.generation)));
    if wanted.destination.is_some_and(|d| view.named(d).is_none())
        || view.named(wanted.first).is_none()
        || wanted.source.is_some_and(|source| !ours(source))
    {
        return Err(NoPath::Unknown);
    }
    match select_direct(view, wanted) {
        Err(NoPath::NoRoute) => route::select_routed(view, wanted),
        // S4-17: a route is a wholly new path, also where direct ones are merely unusable or tried.
        // LNet routes only to networks that it is not on; a ping is for the direct path itself.
        Err(why) if matches!(view.profile, Profile::Seed) && !wanted.recovery => {
            route::select_routed(view, wanted).map_err(|_| why)
        }
        other => other,
    }
}

/// For each network, the best of ours and the best of the peer's.
struct Contests {
    local: [Contest; MAX_NETS],
    hop: [Contest; MAX_NETS],
    /// Slots of networks that have both, as a mask.
    both: u32,
}

fn select_direct(view: &View<'_>, wanted: &Wanted<'_>) -> Result<Choice, NoPath> {
    let none = [Contest::EMPTY; MAX_NETS];
    let mut on = Contests { local: none, hop: none, both: 0 };
    for (index, ni) in view.sources(wanted) {
        if view.usable(ni) && (wanted.history.is_none() || view.open(wanted, index, ni.net)) {
            if let Some(contest) = on.local.get_mut(ni.net as usize) {
                contest.offer(view.local_key(wanted, index, ni), index);
            }
        }
    }
    for (index, ni) in view.hops(wanted) {
        let slot = ni.net as usize;
        let (Some(ours), Some(theirs)) = (on.local.get(slot), on.hop.get_mut(slot)) else {
            continue;
        };
        let Some(local) = ours.winner() else { continue };
        if view.usable_hop(ni, wanted) && wanted.allows(view, local, index) {
            let preferred = ni.preferred >> (local & 31) & 1 == 1;
            theirs.offer(Key::of(ni, view.turn).preferred(preferred), index);
            on.both |= net_bit(ni.net);
        }
    }
    view.decide(wanted, &on).ok_or_else(|| view.why_not(wanted))
}

pub(crate) const fn net_bit(net: u8) -> u32 {
    1 << (net & 31)
}

impl<'a> View<'a> {
    /// An entry of the peers' table that is in use.
    fn peer_ni(&self, index: u32) -> Option<&'a Ni> {
        self.peer_nis.get(index as usize).filter(|ni| ni.nid.is_some())
    }

    /// What a name names, if it still does.
    fn named(&self, id: PeerNiId) -> Option<&'a Ni> {
        self.peer_ni(id.raw()).filter(|ni| id.is_of(ni.generation))
    }

    /// The path between two entries, by their present names.
    fn path(&self, local: u32, hop: u32) -> Option<Path> {
        let local = NiId::of(local as usize, self.locals.get(local as usize)?.generation)?;
        let hop = PeerNiId::of(hop, self.peer_nis.get(hop as usize)?.generation);
        Some(Path { local, hop })
    }

    /// The peer's interfaces that the request may mean.
    #[inline]
    fn hops(&self, wanted: &Wanted<'_>) -> impl Iterator<Item = (u32, &'a Ni)> + use<'a> {
        let (nis, only) = (self.peer_nis, wanted.destination.map(PeerNiId::raw));
        let mut next = only.unwrap_or(wanted.first.raw());
        (0..MAX_PEER_NIS).map_while(move |_| {
            let index = next;
            let ni = nis.get(index as usize)?;
            next = if only.is_some() { u32::MAX } else { ni.next };
            Some((index, ni))
        })
    }

    /// Our interfaces that the request may mean.
    #[inline]
    fn sources(&self, wanted: &Wanted<'_>) -> impl Iterator<Item = (u32, &'a Ni)> + use<'a> {
        let (from, count) = match wanted.source {
            Some(source) => (source.index(), 1),
            None => (0, self.locals.len()),
        };
        let rest = self.locals.get(from..).unwrap_or(&[]);
        (from as u32..).zip(rest.iter().take(count))
    }

    /// S4-7, S4-12: in the seed's profile what is down or fatal is not used at all; LNet's ranks it
    /// last.
    #[inline]
    fn usable(&self, ni: &Ni) -> bool {
        let mask = match self.profile {
            Profile::Seed => Shut::UNUSED | Shut::DRAINING | Shut::FATAL | Shut::DOWN,
            Profile::LnetCompat => Shut::UNUSED | Shut::DRAINING,
        };
        let mask = if seeded("fatal-selected") { mask & !Shut::FATAL } else { mask };
        let mask = if seeded("down-selected") { mask & !Shut::DOWN } else { mask };
        !ni.shut.has(mask)
    }

    /// A recovery ping is for what may be down.
    #[inline]
    fn usable_hop(&self, ni: &Ni, wanted: &Wanted<'_>) -> bool {
        self.usable(ni)
            || wanted.recovery && wanted.destination.is_some() && !ni.shut.has(Shut::UNUSED)
    }

    /// Whether a local interface has a path left that the message's history allows.
    fn open(&self, wanted: &Wanted<'_>, local: u32, net: u8) -> bool {
        self.hops(wanted).any(|(hop, ni)| {
            ni.net == net && self.usable_hop(ni, wanted) && wanted.allows(self, local, hop)
        })
    }

    fn local_key(&self, wanted: &Wanted<'_>, index: u32, ni: &Ni) -> Key {
        let key = Key::of(ni, self.turn);
        match wanted.distances.get(index as usize) {
            Some(d) => key.device(d.device).numa(d.numa, self.numa_range),
            None => key,
        }
    }

    /// The best network, and the best pair on it.
    fn decide(&self, wanted: &Wanted<'_>, on: &Contests) -> Option<Choice> {
        let mut contest = Contest::EMPTY;
        let mut left = if seeded("first-network-only") { on.both & 1 } else { on.both };
        while left != 0 {
            let slot = left.trailing_zeros();
            left &= left - 1;
            let (at, tables) = (slot as usize, (&on.local, &on.hop, self.nets));
            let (Some(local), Some(hop), Some(net)) =
                (tables.0.get(at), tables.1.get(at), tables.2.get(at))
            else {
                break;
            };
            let rank = net_rank(local.rank(), hop.rank(), net.priority);
            contest.offer(Key { rank, turn: key::turn(net.turn, self.turn) }, slot);
        }
        let slot = contest.winner()? as usize;
        let (local, hop) = (on.local.get(slot)?, on.hop.get(slot)?);
        let given =
            |given: bool, c: &Contest| if given { Because::Given } else { c.because(key::NI) };
        let reasons = Reasons {
            net: contest.because(NET),
            local: given(wanted.source.is_some(), local),
            hop: given(wanted.destination.is_some(), hop),
        };
        let path = self.path(local.winner()?, hop.winner()?)?;
        Some(Choice { path, destination: path.hop, route: None, reasons })
    }

    /// Why there is no direct path. Cold.
    fn why_not(&self, wanted: &Wanted<'_>) -> NoPath {
        let (mut ours, mut ours_usable, mut theirs, mut theirs_usable) = (0, 0, 0, 0);
        for (_, ni) in self.sources(wanted).filter(|(_, ni)| ni.nid.is_some()) {
            ours |= net_bit(ni.net);
            ours_usable |= if self.usable(ni) { net_bit(ni.net) } else { 0 };
        }
        for (_, ni) in self.hops(wanted) {
            theirs |= net_bit(ni.net);
            theirs_usable |= if self.usable_hop(ni, wanted) { net_bit(ni.net) } else { 0 };
        }
        if ours & theirs == 0 {
            NoPath::NoRoute
        } else if ours_usable & theirs_usable == 0 {
            NoPath::Unusable
        } else {
            NoPath::Tried
        }
    }
}

/// The fields of a network's rank.
const NET: &key::Fields =
    &[(63, Because::Fatal), (53, Because::Health), (37, Because::Policy), (27, Because::Health)];

/// A network's rank: the peer's health there, policy, our own health there (A6).
const fn net_rank(local: u64, hop: u64, priority: u16) -> u64 {
    let (local, hop) = (key::condition(local), key::condition(hop));
    // Both have a health of 10 bits at 53. The peer's stays there, ours goes to 27.
    (local | hop) >> 63 << 63 | hop | key::policy(priority) | local << 1 >> 27
}
