// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sizes and knobs, checked as a whole (R22, R67).

use crate::attempts::UNTIL_DEADLINE;
use crate::backoff::Backoff;
use crate::effect::Profile;
use crate::ids::MAX_LOCAL;
use crate::prober::ProbeSettings;
use crate::reconnect::ReconnectSettings;
use crate::standing::Thresholds;
use crate::value::MAX_HEALTH;
use lnd_core::id::Incarnation;
use lnd_core::time::Span;

/// Most peers.
pub const MAX_PEERS: u32 = 16_384;
/// Most interfaces of all peers together.
pub(crate) const MAX_ALL_PEER_NIS: u32 = 1 << 18;

/// The caller's configuration at creation.
#[derive(Clone, Copy, Debug)]
pub struct HealthConfig {
    /// Our own interfaces, `1..=32`.
    pub locals: u8,
    /// Peers, `1..=16,384`.
    pub peers: u32,
    /// Interfaces of all peers together, `peers..=262,144`.
    pub peer_nis: u32,
    /// Routes, `0..=4,096`.
    pub routes: u16,
    /// Entries of the journal, `0..=65,536`.
    pub journal: u32,
    /// The profile.
    pub profile: Profile,
    /// By how much one failure decrements health (`lnet_health_sensitivity`), `0..=1000`; 0 turns
    /// health and resends off.
    pub sensitivity: u16,
    /// An operator's limit of one message's resends (`lnet_retry_count`); [`UNTIL_DEADLINE`]: only
    /// the deadline limits them, as in S4-19.
    pub retries: u8,
    /// Pauses of a message whose paths have all been tried. The time left until its deadline
    /// shortens them; with less than `first` left the message ends.
    pub resend: Backoff,
    /// The same for a message that found no room: back-pressure ends sooner.
    pub pressure: Backoff,
    /// The health values at which an interface goes down and up; `down < up`.
    pub thresholds: Thresholds,
    /// Delays between recovery pings.
    pub recovery: Backoff,
    /// How long an interface is pinged without an answer until its recovery stops
    /// (`lnet_recovery_limit`): since its last message or, if that is later, since it lost health.
    /// Zero: for ever.
    pub recovery_limit: Span,
    /// NUMA distances below this are equal (`lnet_numa_range`).
    pub numa_range: u16,
    /// This node is a router.
    pub routing: bool,
    /// This node's incarnation, the same as in all its interfaces' drivers. Without it messages
    /// have no numbers, and a message that may have arrived is not resent.
    pub incarnation: Option<Incarnation>,
    /// Settings of the prober.
    pub probe: ProbeSettings,
    /// Settings of reconnecting.
    pub reconnect: ReconnectSettings,
    /// The budget of pings, probes and reconnects together: one per this time. At least 1 µs.
    pub action_every: Span,
    /// Most of them in one burst. At least 1.
    pub action_burst: u32,
    /// Seed of the jitter: each node uses a different one.
    pub seed: u32,
}

/// Why a configuration is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthConfigError {
    /// `locals` is out of range.
    Locals,
    /// `peers` is out of range.
    Peers,
    /// `peer_nis` is out of range.
    PeerNis,
    /// `routes` is out of range.
    Routes,
    /// `journal` is out of range.
    Journal,
    /// `sensitivity` exceeds full health.
    Sensitivity,
    /// The thresholds are not in order.
    Thresholds,
    /// A back-off has no delay, a cap below its first delay, or too much jitter.
    Backoff,
    /// A setting of the prober is out of range.
    Probe,
    /// No reconnect may be under way, or none has time.
    Reconnect,
    /// The budget has no actions, or no time.
    Budget,
    /// The memory given is smaller than [`HealthConfig::bytes_needed`].
    Memory,
}

lnd_core::sentences! { HealthConfigError {
    Self::Locals => "locals is out of range",
    Self::Peers => "peers is out of range",
    Self::PeerNis => "peer_nis is out of range",
    Self::Routes => "routes is out of range",
    Self::Journal => "journal is out of range",
    Self::Sensitivity => "sensitivity exceeds full health",
    Self::Thresholds => "thresholds are not in order",
    Self::Backoff => "a back-off has no delay, a cap below its first delay, or too much jitter",
    Self::Probe => "a setting of probe is out of range",
    Self::Reconnect => "reconnect has no time, or no place",
    Self::Budget => "action_every or action_burst is zero",
    Self::Memory => "the memory is smaller than Config::bytes_needed()",
}}

impl HealthConfig {
    /// The usual numbers (A5, A10) for that many interfaces and peers.
    pub const fn new(locals: u8, peers: u32, peer_nis: u32) -> Self {
        let second = Span::from_secs(1);
        Self {
            locals,
            peers,
            peer_nis,
            routes: 16,
            journal: 256,
            profile: Profile::Seed,
            sensitivity: 100,
            retries: UNTIL_DEADLINE,
            resend: Backoff { first: Span::from_millis(100), cap: Span::from_secs(10), jitter: 4 },
            pressure: Backoff {
                first: Span::from_millis(1),
                cap: Span::from_millis(100),
                jitter: 4,
            },
            thresholds: Thresholds { down: 0, up: MAX_HEALTH },
            recovery: Backoff { first: second, cap: Span::from_secs(900), jitter: 4 },
            recovery_limit: Span::from_nanos(0),
            numa_range: 0,
            routing: false,
            incarnation: None,
            probe: ProbeSettings {
                idle: Span::from_secs(30),
                again: Span::from_secs(5),
                hold_off: Span::from_secs(15),
                results: 3,
                jitter: 4,
            },
            reconnect: ReconnectSettings {
                backoff: Backoff { first: second, cap: Span::from_secs(60), jitter: 4 },
                negative: Span::from_secs(5),
                at_once: 64,
                bound: Span::from_secs(30),
            },
            action_every: Span::from_millis(10),
            action_burst: 100,
            seed: 0x5eed,
        }
    }

    /// The behaviour of LNet today: its profile, its limit of resends, and its pings without
    /// jitter.
    #[must_use]
    pub const fn lnet_compat(mut self) -> Self {
        self.profile = Profile::LnetCompat;
        self.retries = 2;
        self.recovery.jitter = 0;
        self
    }

    /// Checks every value, and the values against each other.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub const fn check(&self) -> Result<(), HealthConfigError> {
        use HealthConfigError as E;
        let t = self.thresholds;
        let checks = [
            (self.locals >= 1 && self.locals as usize <= MAX_LOCAL, E::Locals),
            (self.peers >= 1 && self.peers <= MAX_PEERS, E::Peers),
            (self.peer_nis >= self.peers && self.peer_nis <= MAX_ALL_PEER_NIS, E::PeerNis),
            (self.routes <= 4096, E::Routes),
            (self.journal <= 65_536, E::Journal),
            (self.sensitivity <= MAX_HEALTH, E::Sensitivity),
            (t.down < t.up && t.up <= MAX_HEALTH, E::Thresholds),
            (self.recovery.is_sound() && self.reconnect.backoff.is_sound(), E::Backoff),
            (self.resend.is_sound() && self.pressure.is_sound(), E::Backoff),
            (self.probe.is_sound(), E::Probe),
            (
                self.reconnect.at_once >= 1 && self.reconnect.bound.as_nanos() >= 1_000_000,
                E::Reconnect,
            ),
            (self.action_every.as_nanos() >= 1_000 && self.action_burst >= 1, E::Budget),
        ];
        let mut left: &[(bool, HealthConfigError)] = &checks;
        while let Some(((good, error), rest)) = left.split_first() {
            if !*good {
                return Err(*error);
            }
            left = rest;
        }
        Ok(())
    }

    /// The limit of a message's resends: none without sensitivity, as in LNet.
    pub(crate) const fn resends(&self) -> u8 {
        if self.sensitivity == 0 {
            0
        } else {
            self.retries
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_is_checked() {
        let good = HealthConfig::new(8, 10, 40);
        assert_eq!(good.check(), Ok(()));
        assert_eq!(
            HealthConfig::new(32, MAX_PEERS, MAX_ALL_PEER_NIS).lnet_compat().check(),
            Ok(())
        );
        type Spoil = fn(&mut HealthConfig);
        let cases: [(Spoil, HealthConfigError); 17] = [
            (|c| c.locals = 0, HealthConfigError::Locals),
            (|c| c.locals = 33, HealthConfigError::Locals),
            (|c| c.peers = 0, HealthConfigError::Peers),
            (|c| c.peer_nis = 9, HealthConfigError::PeerNis),
            (|c| c.routes = 4097, HealthConfigError::Routes),
            (|c| c.journal = 65_537, HealthConfigError::Journal),
            (|c| c.sensitivity = 1001, HealthConfigError::Sensitivity),
            (|c| c.resend.cap = Span::from_nanos(0), HealthConfigError::Backoff),
            (|c| c.pressure.jitter = 5, HealthConfigError::Backoff),
            (|c| c.thresholds.down = 1000, HealthConfigError::Thresholds),
            (|c| c.recovery.jitter = 5, HealthConfigError::Backoff),
            (|c| c.reconnect.backoff.first = Span::from_nanos(0), HealthConfigError::Backoff),
            (|c| c.probe.results = 0, HealthConfigError::Probe),
            (|c| c.reconnect.at_once = 0, HealthConfigError::Reconnect),
            (|c| c.reconnect.bound = Span::from_nanos(0), HealthConfigError::Reconnect),
            (|c| c.action_burst = 0, HealthConfigError::Budget),
            (|c| c.action_every = Span::from_nanos(999), HealthConfigError::Budget),
        ];
        for (spoil, error) in cases {
            let mut config = good;
            spoil(&mut config);
            assert_eq!(config.check(), Err(error));
        }
    }
}
