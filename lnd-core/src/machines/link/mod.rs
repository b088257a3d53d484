// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds one link: the gate that submitters pass, the machine of a stop domain's
//! recovery, and the proof that the domain has stopped.

mod connection;
mod gate;
mod machine;
mod quiesced;

pub use connection::Connection;
pub use gate::{LinkGate, Posting};
pub use machine::{link_step, LinkEffect, LinkEvent, LinkState};
pub use quiesced::Quiesced;
