// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Selection: which local interface, which of the peer's, by which route (R52, A6).
//!
//! A pure function of tables and request. It writes nothing, so that a choice can be repeated,
//! replayed from a dump, and explained. In order: the network, the local interface, the peer's
//! interface; through a router if there is no direct path.

mod choice;
mod direct;
mod key;
mod route;
mod routed;
mod rule;
mod view;

use crate::effect::Profile;
use crate::ids::NiId;
use crate::ni::Ni;
use direct::select_direct;
use routed::select_routed;

pub use choice::{Choice, NoPath, Reasons};
pub use key::Because;
pub use route::Route;
pub use rule::{Match, Rule};
pub(crate) use view::net_bit;
pub use view::{Distance, Net, View, Wanted, MAX_NUMA};

/// Selects a path. Context: any; bounded by the numbers of local interfaces, the peer's interfaces
/// and the routes.
///
/// # Errors
/// Why there is no path.
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
        Err(NoPath::NoRoute) => select_routed(view, wanted),
        // S4-17: a route is a wholly new path, also where direct ones are only unusable or tried.
        // LNet routes only to networks that it is not on; a ping is for the direct path itself.
        Err(why) if matches!(view.profile, Profile::Seed) && !wanted.recovery => {
            select_routed(view, wanted).map_err(|_| why)
        }
        other => other,
    }
}
