// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fuzz targets of the LND core: each takes any bytes and panics if a rule is broken.
//!
//! The same function is played on the committed corpus by `cargo test`, and fuzzed by `tests/run
//! fuzz`. Where the input is a sequence of operations, a naive oracle runs beside the shipped code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod abi;
mod claims;
mod credits;
mod deadlines;
mod device;
mod driver;
mod fabric_file;
mod fault_plan;
mod frame;
mod hardware;
mod health;
mod hello;
mod host;
mod mailbox;
mod node;
mod pair;
mod ring;

pub use abi::abi;
pub use claims::claims;
pub use credits::credits;
pub use deadlines::deadlines;
pub use device::device;
pub use driver::driver;
pub use fabric_file::fabric_file;
pub use fault_plan::fault_plan;
pub use frame::frame;
pub use health::health;
pub use hello::hello;
pub use mailbox::{hostile_mailbox, mailbox};
pub use pair::pair;

/// A fuzz target: its name, which is also that of its corpus, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 14] = [
    ("abi", abi),
    ("claims", claims),
    ("credits", credits),
    ("deadlines", deadlines),
    ("device", device),
    ("driver", driver),
    ("fabric_file", fabric_file),
    ("fault_plan", fault_plan),
    ("frame", frame),
    ("health", health),
    ("hello", hello),
    ("hostile_mailbox", hostile_mailbox),
    ("mailbox", mailbox),
    ("pair", pair),
];
