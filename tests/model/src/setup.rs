// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a model explores: what is sent, and what may go wrong how often.

use lnd_core::config::Config;
use lnd_core::driver::Kind;
use lnd_core::time::Span;

/// One message that a node wants to send to the other.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Who sends: 0 or 1.
    pub node: usize,
    /// What.
    pub kind: Kind,
    /// Bytes of payload; up to [`Setup::INLINE`] travel inline.
    pub length: u32,
}

/// How often each fault may occur in one run. All zero: everything goes well, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// Frames lost; their sender is told that they were not delivered, or that it is not known.
    pub lost: u8,
    /// Frames delivered, of which the sender is told that it is not known.
    pub unverified: u8,
    /// Frames delivered twice.
    pub twice: u8,
    /// Descriptors that come back with an error without a cause.
    pub broken: u8,
    /// Completions that the engine reports twice.
    pub repeated: u8,
    /// Requests that the upper layer refuses.
    pub refused: u8,
    /// Verdicts that the upper layer puts off.
    pub put_off: u8,
    /// Transfers that the node's upper layer gives up.
    pub withdrawn: [u8; 2],
    /// Notices, in an interrupt, that the other node is down.
    pub peer_down: [u8; 2],
    /// Failures of the node's link, told in an interrupt.
    pub link_down: [u8; 2],
    /// Failures of the node's connection.
    pub connection_down: [u8; 2],
    /// Deaths of the node, which comes back as another incarnation at once.
    pub restarted: [u8; 2],
    /// Shutdowns of the node, without grace.
    pub shutdown: [u8; 2],
    /// Pauses of the node: it does not run for any time while the other does.
    pub pause: [u8; 2],
    /// Times that the node's link stops working, for any time; the node is told.
    pub unplug: [u8; 2],
    /// Times that the clock runs on although something else could happen.
    pub slow: u8,
}

/// A model's bounds.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Name, for messages.
    pub name: &'static str,
    /// In the order in which each node submits its own.
    pub orders: Vec<Order>,
    /// What may go wrong.
    pub faults: Faults,
    /// Whether the nodes have met before; otherwise the handshake is explored as well.
    pub met: bool,
    /// Slots of each node.
    pub slots: u32,
    /// Credits of each node at the other.
    pub depth: u16,
    /// Pulls that each node may have under way from the other.
    pub pulls: u16,
    /// Whether engines tell the staging side that it was pulled from.
    pub signalled: bool,
    /// Whether engines push the answers to GETs.
    pub pushes: bool,
    /// Whether engines have connections, which are stopped in place of the link.
    pub connects: bool,
    /// Whether engines take staged memory back while it may be pulled.
    pub safe_invalidate: bool,
    /// Whether a message has ended when the channel has taken it; no message is lost then.
    pub ends_at_once: bool,
}

impl Setup {
    /// Payloads up to this size travel inline.
    pub const INLINE: u32 = 8;

    /// Two nodes that have met, with two slots and one credit each.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            orders: Vec::new(),
            faults: Faults::default(),
            met: true,
            slots: 2,
            depth: 1,
            pulls: 2,
            signalled: true,
            pushes: false,
            connects: false,
            safe_invalidate: true,
            ends_at_once: false,
        }
    }

    /// With one more message to send.
    #[must_use]
    pub fn sends(mut self, node: usize, kind: Kind, length: u32) -> Self {
        self.orders.push(Order { node, kind, length });
        self
    }

    /// With these faults.
    #[must_use]
    pub fn with(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// The drivers' configuration: as small as it gets.
    pub fn config(&self) -> Config {
        let mut config = Config::new(self.slots, 1, 1);
        config.passive_slots = self.slots.div_ceil(2);
        config.connections = u8::from(self.connects);
        config.lists = 0;
        config.depth = self.depth;
        config.pulls = self.pulls;
        config.immediate_max = Self::INLINE;
        config.hello_tries = 2;
        config.hello_timeout = Span::from_secs(1);
        config.credit_stall = Span::from_secs(2);
        config.drain_bound = Span::from_secs(3);
        config.decision_bound = Span::from_secs(5);
        config.link_poll = Span::from_secs(1);
        config
    }

    /// Time that each message has.
    pub const DEADLINE: Span = Span::from_secs(10);
}
