// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds what the caller chooses at creation, checked as a whole (R22, R67).

use crate::base::time::Span;
use crate::machines::transfer::Policy;

/// Largest number of transfer slots.
pub const MAX_SLOTS: u32 = 1 << 20;
/// Largest number of peers.
pub const MAX_PEERS: u32 = 1 << 20;
/// Largest credit depth: half of the duplicate window.
pub const MAX_DEPTH: u16 = 32;

/// Sizes and times of one shard's driver. All are fixed at creation.
///
/// ```
/// use lnd_core::config::{Config, ConfigError};
/// use lnd_core::time::Span;
///
/// // 64 transfers, 8 peers, one link; the link's engine has no lists of fragments.
/// let config = Config { lists: 0, drain_bound: Span::from_secs(1), ..Config::new(64, 8, 1) };
/// assert_eq!(config.check(), Ok(()));
/// // The memory that Driver::create needs is known in advance, also at compile time.
/// const BYTES: usize = Config::new(64, 8, 1).bytes_needed();
/// assert!(config.bytes_needed() <= BYTES);
/// assert_eq!(Config { depth: 99, ..config }.check(), Err(ConfigError::Depth));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Transfer slots, `2..=1,048,576`.
    pub slots: u32,
    /// Slots that only requests of peers may use, `1..slots`. Two nodes that wait for each other's
    /// answers then always have room to give them (INV-11). A quarter of the others, one at least,
    /// is for our own transfers alone (decision 0061).
    pub passive_slots: u32,
    /// Peers known at once, `1..=1,048,576`.
    pub peers: u32,
    /// Links, `1..=8`.
    pub links: u8,
    /// Connections that may be out of service at once, `0..=255`, for engines that [have
    /// connections](crate::ports::Engine::connection). A connection that fails beyond that number
    /// waits for its drain bound. Zero: a descriptor that does not come back stops its whole link.
    pub connections: u8,
    /// Fragment lists for transfers of more than one fragment, `0..=slots`.
    pub lists: u16,
    /// Largest inline payload in bytes, `0..=65,536`. The limits of the channel and of the peer
    /// apply too.
    pub immediate_max: u32,
    /// Requests that each peer may have in flight to this node: its credits, `1..=32`.
    pub depth: u16,
    /// Pulls under way from each peer at once, `1..=65,535` (S3-12, R25). Further pulls wait, in
    /// order, for one of them to end. Pulls from other peers do not wait behind them.
    pub pulls: u16,
    /// Time after an invalidation within which the descriptor must come back (S0-9). After it, or
    /// up to a thousandth later, the link is failed (decision 0034). At least 1 ms.
    pub drain_bound: Span,
    /// Time to wait for the answer to a hello before the next try. At least 1 ms.
    pub hello_timeout: Span,
    /// Hellos sent before a peer counts as down, `1..=255`. The peer stays down for as many
    /// `hello_timeout`s, its hold-off, unless a frame of it arrives earlier.
    pub hello_tries: u8,
    /// Time without a single credit after which the handshake is repeated. At least 1 ms. On a
    /// channel that may lose what it has sent, requests that wait longer than this for room at the
    /// receiver are taken for lost: it is to be longer than a usual decision takes.
    pub credit_stall: Span,
    /// Time between two polls of what has no event: a link that is stopping or down, and room in
    /// the channel. If a host has not called for twice as long, it may have paused. A silence then
    /// counts with the next call that comes a `link_poll` later (R41). At least 1 µs.
    pub link_poll: Span,
    /// Time within which the upper layer must answer a request. At least 1 ms.
    pub decision_bound: Span,
    /// Most slots, queue entries or timers handled in one call. `1..=1,048,576`.
    pub batch: u32,
    /// The table that translates ends.
    pub policy: Policy,
    /// The start of numbers that wrap: of sessions, of each session's requests and credits, and of
    /// peers' incarnations. Zero, unless a test lets them wrap. Both ends of a session count from
    /// here, so all nodes have the same value.
    pub counting_from: u32,
}

/// The reason for which a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// `slots` is out of range.
    Slots,
    /// `passive_slots` is zero or leaves none for our own transfers.
    PassiveSlots,
    /// `peers` is out of range.
    Peers,
    /// `links` is out of range.
    Links,
    /// The number of engines differs from `links`.
    Engines,
    /// `lists` exceeds `slots`.
    Lists,
    /// `immediate_max` is out of range.
    ImmediateMax,
    /// `depth` is out of range.
    Depth,
    /// `pulls` is zero.
    Pulls,
    /// `hello_tries` is zero.
    HelloTries,
    /// `drain_bound` is shorter than 1 ms (LU-16260).
    DrainBound,
    /// `hello_timeout` is shorter than 1 ms.
    HelloTimeout,
    /// `credit_stall` is shorter than 1 ms.
    CreditStall,
    /// `link_poll` is shorter than 1 µs.
    LinkPoll,
    /// `decision_bound` is shorter than 1 ms.
    DecisionBound,
    /// `batch` is out of range.
    Batch,
    /// The memory given is smaller than [`Config::bytes_needed`].
    Memory,
}

crate::sentences! { ConfigError {
    Self::Slots => "slots is not 2 to 1,048,576",
    Self::PassiveSlots => "passive_slots is not 1 to slots - 1",
    Self::Peers => "peers is not 1 to 1,048,576",
    Self::Links => "links is not 1 to 8",
    Self::Engines => "there is not one engine for each link",
    Self::Lists => "lists exceeds slots",
    Self::ImmediateMax => "immediate_max exceeds 65,536 bytes",
    Self::Depth => "depth is not 1 to 32",
    Self::Pulls => "pulls is zero",
    Self::HelloTries => "hello_tries is zero",
    Self::DrainBound => "drain_bound is shorter than 1 ms",
    Self::HelloTimeout => "hello_timeout is shorter than 1 ms",
    Self::CreditStall => "credit_stall is shorter than 1 ms",
    Self::LinkPoll => "link_poll is shorter than 1 us",
    Self::DecisionBound => "decision_bound is shorter than 1 ms",
    Self::Batch => "batch is not 1 to 1,048,576",
    Self::Memory => "the memory is smaller than Config::bytes_needed()",
}}

impl Config {
    /// A configuration for `slots` transfers and `peers` peers on `links` links, with the times
    /// that the field uses.
    pub const fn new(slots: u32, peers: u32, links: u8) -> Self {
        let passive = if slots >= 4 { slots / 4 } else { 1 };
        Self {
            slots,
            passive_slots: passive,
            peers,
            links,
            connections: 0,
            lists: if slots < 1024 { slots as u16 } else { 1024 },
            immediate_max: 4096,
            depth: 8,
            pulls: 8,
            drain_bound: Span::from_secs(5),
            hello_timeout: Span::from_secs(1),
            hello_tries: 5,
            credit_stall: Span::from_secs(2),
            link_poll: Span::from_millis(1),
            decision_bound: Span::from_secs(50),
            batch: 256,
            policy: Policy::Seed,
            counting_from: 0,
        }
    }

    /// How often a host that runs all the time calls [`on_time`](crate::driver::Driver::on_time) at
    /// least: each `link_poll`, and at least four times in the shortest silence of a peer.
    pub(crate) const fn granularity(&self) -> Span {
        let (hello, stall) = (self.hello_timeout.as_nanos(), self.credit_stall.as_nanos());
        // A call must fall into every silence, or a host that runs looks like one that was paused
        // (R41).
        let quarter = if hello < stall { hello } else { stall } >> 2;
        let poll = self.link_poll.as_nanos();
        Span::from_nanos(if poll < quarter { poll } else { quarter })
    }

    /// Checks every value, and the values against each other.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub const fn check(&self) -> Result<(), ConfigError> {
        const MS: u64 = 1_000_000;
        if self.slots < 2 || self.slots > MAX_SLOTS {
            return Err(ConfigError::Slots);
        }
        if self.passive_slots == 0 || self.passive_slots >= self.slots {
            return Err(ConfigError::PassiveSlots);
        }
        if self.peers == 0 || self.peers > MAX_PEERS {
            return Err(ConfigError::Peers);
        }
        if self.links == 0 || self.links as usize > crate::base::id::MAX_LINKS {
            return Err(ConfigError::Links);
        }
        // More lists than slots could never be in use.
        if self.lists as u32 > self.slots {
            return Err(ConfigError::Lists);
        }
        if self.immediate_max > 65_536 {
            return Err(ConfigError::ImmediateMax);
        }
        if self.depth == 0 || self.depth > MAX_DEPTH {
            return Err(ConfigError::Depth);
        }
        if self.pulls == 0 {
            return Err(ConfigError::Pulls);
        }
        if self.hello_tries == 0 {
            return Err(ConfigError::HelloTries);
        }
        if self.drain_bound.as_nanos() < MS {
            return Err(ConfigError::DrainBound);
        }
        if self.hello_timeout.as_nanos() < MS {
            return Err(ConfigError::HelloTimeout);
        }
        if self.credit_stall.as_nanos() < MS {
            return Err(ConfigError::CreditStall);
        }
        if self.link_poll.as_nanos() < 1_000 {
            return Err(ConfigError::LinkPoll);
        }
        if self.decision_bound.as_nanos() < MS {
            return Err(ConfigError::DecisionBound);
        }
        if self.batch == 0 || self.batch > MAX_SLOTS {
            return Err(ConfigError::Batch);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four times in the shortest silence of a peer, and each time that the links are looked at.
    #[test]
    fn a_host_that_runs_calls_often_enough_for_each_silence() {
        let of = |hello, stall, poll| {
            let mut config = Config::new(2, 1, 1);
            config.hello_timeout = Span::from_millis(hello);
            config.credit_stall = Span::from_millis(stall);
            config.link_poll = Span::from_millis(poll);
            config.granularity()
        };
        assert_eq!(of(100, 200, 1), Span::from_millis(1));
        assert_eq!(of(100, 200, 60), Span::from_millis(25));
        assert_eq!(of(200, 100, 60), Span::from_millis(25));
    }

    #[test]
    fn every_knob_is_checked() {
        let good = Config::new(64, 8, 2);
        assert_eq!(good.check(), Ok(()));
        assert_eq!(Config::new(2, 1, 1).check(), Ok(()));
        assert_eq!(Config::new(MAX_SLOTS, MAX_PEERS, 8).check(), Ok(()));
        type Spoil = fn(&mut Config);
        let cases: [(Spoil, ConfigError); 21] = [
            (|c| c.slots = 1, ConfigError::Slots),
            (|c| c.slots = MAX_SLOTS + 1, ConfigError::Slots),
            (|c| c.passive_slots = 64, ConfigError::PassiveSlots),
            (|c| c.passive_slots = 0, ConfigError::PassiveSlots),
            (|c| c.peers = 0, ConfigError::Peers),
            (|c| c.peers = MAX_PEERS + 1, ConfigError::Peers),
            (|c| c.links = 0, ConfigError::Links),
            (|c| c.links = 9, ConfigError::Links),
            (|c| c.lists = 65, ConfigError::Lists),
            (|c| c.immediate_max = 65_537, ConfigError::ImmediateMax),
            (|c| c.depth = MAX_DEPTH + 1, ConfigError::Depth),
            (|c| c.depth = 0, ConfigError::Depth),
            (|c| c.pulls = 0, ConfigError::Pulls),
            (|c| c.hello_tries = 0, ConfigError::HelloTries),
            (|c| c.drain_bound = Span::from_nanos(0), ConfigError::DrainBound),
            (|c| c.hello_timeout = Span::from_nanos(0), ConfigError::HelloTimeout),
            (|c| c.credit_stall = Span::from_nanos(0), ConfigError::CreditStall),
            (|c| c.decision_bound = Span::from_nanos(0), ConfigError::DecisionBound),
            (|c| c.link_poll = Span::from_nanos(0), ConfigError::LinkPoll),
            (|c| c.batch = 0, ConfigError::Batch),
            (|c| c.batch = MAX_SLOTS + 1, ConfigError::Batch),
        ];
        for (spoil, error) in cases {
            let mut config = good;
            spoil(&mut config);
            assert_eq!(config.check(), Err(error));
            // It names the field: the variant's own name, as fields are written.
            let name =
                std::format!("{error:?}").chars().fold(std::string::String::new(), |s, c| {
                    let gap = if c.is_uppercase() && !s.is_empty() { "_" } else { "" };
                    std::format!("{s}{gap}{}", c.to_ascii_lowercase())
                });
            assert!(error.sentence().starts_with(&name), "{name}: {error}");
        }
    }
}
