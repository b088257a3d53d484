// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder receives: it admits senders, offers requests, and applies the upper layer's
//! decisions.

mod admit;
mod answer;
mod arrival;
mod backlog;
mod cancel;
mod decide;
mod immediate;
mod message;
mod recv;
mod request;
mod rx_request;

pub use arrival::{Arrival, Inbound, Received};
pub use backlog::Backlog;
pub use immediate::Immediate;
pub use rx_request::{Receive, RecvError, Reply, ReplyError, RequestKind, RxRequest};
