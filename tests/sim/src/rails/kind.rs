// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Kinds of fabric (S4-4): what interfaces of a network can do, and how fast they are. All run the
//! shipped driver and engine; their numbers differ as those of real fabrics do.

use lnd_core::config::Config;
use lnd_core::ports::Features;
use lnd_core::time::Span;
use lnd_core::transfer::Policy;
use lnd_dma::soft::Settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of fabric.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Both ends hear of a transfer's end, untouched descriptors are known to be so, every kind of
    /// remote read: as verbs.
    Verbs,
    /// Only the puller hears of the end, and nothing says "untouched"; it reads nothing but words
    /// that are published.
    Tagged,
    /// A stream below: small pieces, much inline, no remote reads at all. Its errors are those
    /// that o2iblnd would report.
    Stream,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Verbs, Self::Tagged, Self::Stream];

    /// What its engines can do.
    pub const fn features(self) -> Features {
        let bits = match self {
            Self::Verbs => {
                Features::REMOTE_COMPLETION.bits()
                    | Features::KNOWS_UNTOUCHED.bits()
                    | Features::ILLEGAL_READ.bits()
                    | Features::ZERO_READ.bits()
                    | Features::PUBLISHED_READ.bits()
            }
            Self::Tagged => Features::PUBLISHED_READ.bits(),
            Self::Stream => Features::KNOWS_UNTOUCHED.bits(),
        };
        Features::from_bits_retain(bits)
    }

    /// How its engines work.
    pub const fn engine(self) -> Settings {
        match self {
            Self::Verbs => Settings { chunk: 64 << 10, retry_bound: Span::from_millis(50) },
            Self::Tagged => Settings { chunk: 256 << 10, retry_bound: Span::from_millis(100) },
            Self::Stream => Settings { chunk: 4 << 10, retry_bound: Span::from_millis(200) },
        }
    }

    /// Nanoseconds that an engine takes for a KiB.
    pub const fn slowness(self) -> u64 {
        match self {
            Self::Verbs => 100,
            Self::Tagged => 60,
            Self::Stream => 1_000,
        }
    }

    /// Bytes of the largest frame.
    pub const fn frame(self) -> usize {
        match self {
            Self::Verbs => 4352,
            Self::Tagged => 1024,
            Self::Stream => 4480,
        }
    }

    /// Frames that a mailbox has room for: requests, control.
    pub const fn room(self) -> [u32; 2] {
        match self {
            Self::Verbs | Self::Tagged => [32, 64],
            Self::Stream => [8, 32],
        }
    }

    /// Sizes and times of its drivers, with `slots` transfers and up to `peers` peers.
    pub const fn config(self, slots: u32, peers: u32) -> Config {
        let mut config = Config::new(slots, peers, 1);
        config.immediate_max = match self {
            Self::Verbs => 2048,
            Self::Tagged => 512,
            Self::Stream => 4096,
        };
        config.depth = match self {
            Self::Verbs => 8,
            Self::Tagged => 16,
            Self::Stream => 4,
        };
        config.policy = match self {
            Self::Stream => Policy::O2ibCompat,
            Self::Verbs | Self::Tagged => Policy::Seed,
        };
        config.drain_bound = Span::from_millis(300);
        config.hello_timeout = Span::from_millis(50);
        config.hello_tries = 3;
        config.credit_stall = Span::from_millis(150);
        config.link_poll = Span::from_millis(1);
        config.decision_bound = Span::from_secs(5);
        config
    }
}
