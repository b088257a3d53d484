// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file lists the bounds that are in effect, and where each comes from.

use crate::base::time::Span;
use crate::shard::config::Config;

/// Where a bound comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundOrigin {
    /// The configuration has the value that [`Config::new`] gives.
    Default,
    /// The configuration has another value.
    Given,
    /// It follows from other values.
    Derived,
}

impl BoundOrigin {
    /// The origin in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Given => "given",
            Self::Derived => "derived",
        }
    }
}

/// A bound in effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveBound {
    /// Its name: lower case, underscores. That of the configuration's field, if it is one.
    pub name: &'static str,
    /// Its length.
    pub span: Span,
    /// Where it comes from.
    pub origin: BoundOrigin,
    /// What it bounds; of a derived one, also from what it follows.
    pub help: &'static str,
}

/// How many bounds there are.
pub const BOUNDS: usize = 9;

/// The bounds that a configuration puts in effect. The deadline of a message is not among them: it
/// comes with the message.
///
/// ```
/// use lnd_core::config::Config;
/// use lnd_core::observe::{effective_bounds, BoundOrigin};
/// use lnd_core::time::Span;
///
/// let config = Config { hello_timeout: Span::from_millis(200), ..Config::new(64, 8, 1) };
/// let bounds = effective_bounds(&config);
/// let down = bounds.iter().find(|it| it.name == "peer_down").unwrap();
/// assert_eq!((down.span, down.origin), (Span::from_secs(1), BoundOrigin::Derived));
/// ```
pub fn effective_bounds(config: &Config) -> [EffectiveBound; BOUNDS] {
    let usual = Config::new(config.slots, config.peers, config.links);
    let field = |name, span: Span, default: Span, help| EffectiveBound {
        name,
        span,
        origin: if span == default { BoundOrigin::Default } else { BoundOrigin::Given },
        help,
    };
    let derived =
        |name, span, help| EffectiveBound { name, span, origin: BoundOrigin::Derived, help };
    // With connections, a connection is stopped first, and its link after two further bounds.
    let stops = if config.connections > 0 { 3 } else { 1 };
    [
        field(
            "hello_timeout",
            config.hello_timeout,
            usual.hello_timeout,
            "the answer to a hello, before the next try",
        ),
        derived(
            "peer_down",
            config.hello_timeout.times(u32::from(config.hello_tries)),
            "from the first hello to a peer that is down: hello_timeout x hello_tries",
        ),
        field(
            "credit_stall",
            config.credit_stall,
            usual.credit_stall,
            "the time without a credit, before the handshake is repeated",
        ),
        field(
            "decision_bound",
            config.decision_bound,
            usual.decision_bound,
            "the upper layer's decision on a request",
        ),
        field(
            "drain_bound",
            config.drain_bound,
            usual.drain_bound,
            "the return of a descriptor that was asked back, before its engine is stopped",
        ),
        derived(
            "link_stop",
            config.drain_bound.times(stops),
            "from a cancellation to the stop of the link: drain_bound, with connections x 3",
        ),
        field(
            "link_poll",
            config.link_poll,
            usual.link_poll,
            "between two looks at what has no event of its own",
        ),
        derived(
            "granularity",
            config.granularity(),
            "a host that runs calls so often: link_poll, at most a quarter of the shorter of \
             hello_timeout and credit_stall",
        ),
        derived(
            "pause",
            config.granularity().times(2),
            "a host that has not called for longer may have paused, and silence counts later: \
             granularity x 2",
        ),
    ]
}
