// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds the pure parts of one peer: its gate, its handshake, its credits.

pub mod credits;
mod gate;
mod hello;
pub mod window;

pub use gate::{GateView, PeerGate, INCARNATION_BITS};
pub use hello::{hello_step, HelloEffect, HelloEvent, HelloState};
