// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! User-defined selection policies (UDSP): which networks, interfaces, pairs and gateways come first.

use lnd_core::id::Nid;

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// A network, by its number.
    Net(u32),
    /// An interface, ours or a peer's.
    Nid(Nid),
    /// A pair: the peer's interface is preferred from ours. Its priority has no meaning.
    Pair {
        /// Our interface.
        local: Nid,
        /// The peer's.
        peer: Nid,
    },
    /// A gateway's interface: all routes through it.
    Gateway(Nid),
}

/// One rule. They are applied in order, so that a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// To what it applies.
    pub to: Match,
    /// Priority, 0 the best.
    pub priority: u16,
}
