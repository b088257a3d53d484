// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder brings every transfer to its end: time, the sweep, failing links, the shutdown, the
//! report.

mod blocker;
mod connection;
mod expect;
mod final_message;
mod finalize;
mod link;
mod reclaim;
mod round;
mod shutdown;
mod sweep;
mod timeout;

pub use blocker::Blocker;
pub use finalize::Report;
