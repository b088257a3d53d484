// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file reads the present state of a driver as numbers.

use super::unit::Unit;
use super::Observer;
use crate::base::id::{LinkId, MAX_LINKS};
use crate::base::time::Instant;
use crate::machines::link::LinkState;
use crate::machines::peer::HelloState;
use crate::ports::Ports;
use crate::shard::Driver;

macro_rules! gauges {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal, $unit:ident,)+) => {
        /// A value that rises and falls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Gauge { $($(#[doc = $doc])+ $name,)+ }

        /// How many gauges there are.
        pub const GAUGES: usize = [$($text,)+].len();

        impl Gauge {
            /// Every gauge, in order.
            pub const ALL: [Self; GAUGES] = [$(Self::$name,)+];

            /// Its name: lower case, underscores.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// What it counts.
            pub const fn unit(self) -> Unit {
                match self { $(Self::$name => Unit::$unit,)+ }
            }

            /// What it is, in words.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc,)+),)+ }.trim_ascii()
            }
        }
    };
}

gauges! {
    /// Slots in use by transfers of ours.
    ActiveSlots => "active_slots", Transfers,
    /// Slots in use by requests of peers.
    PassiveSlots => "passive_slots", Transfers,
    /// Peers in the table.
    PeersKnown => "peers_known", Peers,
    /// Peers that may be sent to.
    PeersGood => "peers_good", Peers,
    /// Peers that are down.
    PeersDownNow => "peers_down_now", Peers,
    /// Links that are up.
    LinksUp => "links_up", Links,
    /// Descriptors in quarantine: their engine has not given them back after their link failed.
    Quarantined => "quarantined", Descriptors,
    /// Requests that may be sent at once to all peers together.
    CreditsLeft => "credits_left", Messages,
    /// Requests of ours that peers have not consumed yet.
    InFlight => "in_flight", Messages,
    /// Pulls under way.
    PullsNow => "pulls_now", Descriptors,
    /// Pulls that wait for others from the same peer.
    PullsWaiting => "pulls_waiting", Descriptors,
    /// Age of the oldest descriptor that the engine has not given back. Needs an observer.
    OldestPosted => "oldest_posted", Nanoseconds,
}

/// The gauges at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaugeValues([u64; GAUGES]);

impl GaugeValues {
    /// Reads a driver. Visits all its peers.
    pub fn read<P: Ports>(driver: &Driver<'_, P>) -> Self {
        let mut values = Self::default();
        let (active, passive) = driver.in_use();
        values.add(Gauge::ActiveSlots, u64::from(active));
        values.add(Gauge::PassiveSlots, u64::from(passive));
        for peer in (0..driver.peers_known()).filter_map(|at| driver.peer_view(at)) {
            values.add(Gauge::PeersKnown, 1);
            values.add(Gauge::PeersGood, u64::from(peer.state == HelloState::Good));
            values.add(Gauge::PeersDownNow, u64::from(peer.state == HelloState::Down));
            if peer.state == HelloState::Good {
                values.add(Gauge::CreditsLeft, u64::from(peer.credits));
            }
            values.add(Gauge::InFlight, u64::from(peer.in_flight));
            values.add(Gauge::PullsNow, u64::from(peer.pulls));
            values.add(Gauge::PullsWaiting, u64::from(peer.pulls_waiting));
        }
        for link in (0..MAX_LINKS).filter_map(LinkId::new) {
            let up = driver.link_state(link) == Some(LinkState::Up);
            values.add(Gauge::LinksUp, u64::from(up));
            values.add(Gauge::Quarantined, u64::from(driver.quarantined(link)));
        }
        values
    }

    /// Adds what an observer knows. Visits all its slots.
    #[must_use]
    pub fn with(mut self, now: Instant, observer: &Observer<'_>) -> Self {
        let age = observer.oldest_posted().map_or(0, |(at, _)| now.since(at).as_nanos());
        self.add(Gauge::OldestPosted, age);
        self
    }

    /// One value.
    pub fn value(&self, gauge: Gauge) -> u64 {
        self.0.get(gauge as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, gauge: Gauge, n: u64) {
        if let Some(value) = self.0.get_mut(gauge as usize) {
            *value = value.saturating_add(n);
        }
    }
}
