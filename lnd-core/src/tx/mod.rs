// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder sends: the upper layer's messages, replies to peers' requests, pulls.

mod cancel;
mod copy;
mod credits;
mod flush;
mod gate;
mod invalidate;
mod post;
mod pull;
mod queue;
mod reply;
mod request;
mod send;
mod short;
mod submit;
mod turn;

pub(crate) use copy::scatter;
pub(crate) use gate::PostFrom;
pub use request::{Kind, Refused, Request, Submitted, To, Why};
