// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! User-defined selection policies (UDSP): preferred networks, interfaces, pairs and gateways.

use lnd_core::id::Nid;

/// What a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// A network, by its number.
    Net(u32),
    /// An interface, local or a peer's.
    Nid(Nid),
    /// A pair: the peer's interface is preferred from ours. Its priority has no meaning.
    Pair {
        /// The local interface.
        local: Nid,
        /// The peer's interface.
        peer: Nid,
    },
    /// A gateway's interface: all routes through it.
    Gateway(Nid),
}

/// One rule. Rules are applied in order, so that a later one overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it applies to.
    pub to: Match,
    /// Priority, 0 the best.
    pub priority: u16,
}
