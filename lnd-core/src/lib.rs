// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(any(test, loom))]
extern crate std;

mod base;
mod handshake;
pub mod host;
mod links;
mod machines;
mod peers;
pub mod ports;
pub mod prelude;
mod recovery;
mod rx;
mod shard;
mod slots;
mod table;
mod tx;

#[doc(hidden)]
pub use base::defect;
pub use base::{counters, fragment, id, key, message, owned, sync, time, wake};
pub use machines::{link, peer, transfer};
pub use ports::trace;
pub use shard::config;
pub use slots::shared;
pub use table::{arena, claims, completed, deadlines, lanes, nids};

/// The driver of one shard, with its arguments and results.
pub mod driver {
    pub use crate::id::Identity;
    pub use crate::recovery::{Blocker, Report};
    pub use crate::rx::{
        Arrival, Immediate, Inbound, Receive, Received, RecvError, Reply, ReplyError, RequestKind,
        RxRequest,
    };
    pub use crate::shard::{
        Broken, CreditView, Driver, Interrupt, IrqHandle, PeerView, RunState, Served, TransferView,
    };
    pub use crate::slots::Role;
    pub use crate::tx::{Kind, Refused, Request, Submitted, To, Why};
}
