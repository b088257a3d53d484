// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The result of a selection: a path with its reasons, or why there is none.

use super::key::Because;
use crate::ids::{PeerNiId, RouteId};
use crate::terms::Path;

/// Why each part was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reasons {
    /// The network.
    pub net: Because,
    /// Our interface.
    pub local: Because,
    /// The next hop's interface.
    pub hop: Because,
}

/// A selected path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// To the next hop.
    pub path: Path,
    /// The destination interface: the hop's own on a direct path.
    pub destination: PeerNiId,
    /// The route, if there is no direct path.
    pub route: Option<RouteId>,
    /// Why.
    pub reasons: Reasons,
}

/// Why there is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoPath {
    /// The request names something that does not exist.
    Unknown,
    /// No network has both ends, and no route leads to the destination.
    NoRoute,
    /// There are paths, but an end of each is down, fatal, or being drained.
    Unusable,
    /// All that differ as required have been tried.
    Tried,
}

lnd_core::sentences! { NoPath {
    Self::Unknown => "the request names something that does not exist",
    Self::NoRoute => "no network has both ends, and no route leads to the destination",
    Self::Unusable => "an end of each path is down, fatal, or being drained",
    Self::Tried => "all paths that differ as required have been tried",
}}
