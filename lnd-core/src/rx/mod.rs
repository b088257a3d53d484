// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What comes in: who is listened to, what requests become, and the upper layer's decisions on them.

mod admit;
mod answer;
mod arrival;
mod cancel;
mod decide;
mod message;
mod recv;
mod request;
mod rx_request;

pub use arrival::{Arrival, Inbound, Received};
pub use rx_request::{Receive, RecvError, Reply, ReplyError, RequestKind, RxRequest};
