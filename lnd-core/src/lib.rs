// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(any(test, loom))]
extern crate std;

mod base;
mod handshake;
mod links;
mod machines;
pub mod observe;
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

pub mod host {
    //! What every host would write itself: a round of its thread, messages that wait, simple ports.
    //!
    //! The driver depends on nothing here. A host takes what suits it and writes the rest.
    //!
    //! A polling host is three calls:
    //!
    //! ```
    //! use lnd_core::driver::{Arrival, Driver, Report};
    //! use lnd_core::host::Backlog;
    //! use lnd_core::id::LinkId;
    //! use lnd_core::ports::{Completion, Ports};
    //! use lnd_core::time::Instant;
    //!
    //! fn round<P: Ports>(
    //!     driver: &mut Driver<'_, P>,
    //!     (now, link): (Instant, LinkId),
    //!     mail: &mut Backlog<4096, 16>,
    //!     completions: &mut Vec<Completion>,
    //!     decide: impl FnMut(Arrival<'_, '_, '_, P>) -> bool,
    //!     reported: impl FnMut(Report),
    //! ) -> Option<Instant> {
    //!     let waits = mail.offer(now, link, driver, decide);
    //!     let next = driver.run_once(now, completions.drain(..), reported);
    //!     // Room for what waits: the next round begins at once.
    //!     if waits && driver.offer_again() { Some(now) } else { next }
    //! }
    //! ```

    pub use crate::ports::{LinearMemory, WithoutEngine};
    pub use crate::rx::Backlog;
}

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
