// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A small upper layer with LNet's semantics, to put on top of the driver.
//!
//! ```text
//!   user      put() get() attach()          next_event()
//!               │                              ▲
//!   Lnet      requests · match entries · router · ledger
//!               │ next_send()     on_request() │ ▲ on_finalized()
//!               ▼                              │ │
//!   driver    submit ………………………… parse ─────────┘ └── report
//! ```
//!
//! It is pure: no clock, no thread, no callback. Calls change state; what follows from them waits
//! in two queues, [`Lnet::next_send`] for the driver and [`Lnet::next_event`] for the user. The
//! same calls in the same order give the same answers.
//!
//! - **Two levels** (S1-9). The driver's end of a message (`SendDone`) says that the *next hop* has
//!   it. Only an ACK or REPLY speaks for the far end, and only the final destination makes one
//!   (S1-12).
//! - **Exactly once.** An id that was handed over, by [`Lnet::next_send`] or in a [`Decision`], is
//!   owed one [`Lnet::on_finalized`]; a second one is a [`Violation`]. A message that the driver
//!   refuses comes back by [`Lnet::requeue`] or [`Lnet::send_refused`] and is owed none (INV-1).
//! - **Memory** is the layer's from the call that names it until `RequestDone` or `Unlinked`, and
//!   the driver's from the hand-over of its id until the finalize (INV-2).
//! - **No resend** for a missing ACK or REPLY (S1-13): [`Lnet::expire`] ends the wait and says so.
//! - **Routing** is store and forward. A GET that does not go straight to its destination has
//!   [`Outgoing::routed`] set: it may not be optimised, its REPLY comes as a message (S3-14).
//!
//! What is left out of LNet: several NIDs a node, health, delayed matching, several event queues
//! (the words that users attach to entries and requests tell their events apart).

mod events;
mod finalize;
mod header;
mod layer;
mod ledger;
mod md;
mod memory;
mod receive;
mod requests;
mod router;
mod send;
mod table;
#[cfg(test)]
mod tests;

pub use events::{AckDue, DropReason, Event, SendEnd, Violation};
pub use header::{Body, HeaderError, Kind, LnetHeader, Target, HEADER_BYTES, MAGIC, VERSION};
pub use layer::{AckPolicy, Blocker, Config, Lnet};
pub use ledger::{Fault, Ledger};
pub use md::{Match, Md, MeHandle};
pub use memory::{slice, span};
pub use receive::Decision;
pub use requests::{Expiry, Get, Put, RequestHandle};
pub use router::{RouterConfig, Routes, Unlisted};
pub use send::{Outgoing, SendError};
