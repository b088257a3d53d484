// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Direct paths: the best network, and the best pair of interfaces on it.

use super::choice::{Choice, NoPath, Reasons};
use super::key::{self, Because, Contest, Key};
use super::view::{net_bit, View, Wanted};
use crate::ids::MAX_NETS;
use crate::ni::Ni;
use crate::rank;

/// For each network, the best local interface and the best of the peer.
struct Contests {
    local: [Contest; MAX_NETS],
    hop: [Contest; MAX_NETS],
    /// Slots of networks with both, as a mask.
    both: u32,
}

/// The best direct path.
pub(super) fn select_direct(view: &View<'_>, wanted: &Wanted<'_>) -> Result<Choice, NoPath> {
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

impl View<'_> {
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
        let mut left = on.both;
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
    let (local, hop) = (rank::condition(local), rank::condition(hop));
    // Both have a health of 10 bits at 53. The peer's stays there, ours goes to 27.
    (local | hop) >> 63 << 63 | hop | rank::policy(priority) | local << 1 >> 27
}
