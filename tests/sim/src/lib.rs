// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The test bench: nodes built from the shipped parts, on a fabric in shared memory or in a world
//! of virtual time.
//!
//! ```text
//! fabric/   one region of memory: link memories, mailboxes, payload windows, memory oracle
//! lnet/     the upper layer: portals, match bits, PUT, ACK, GET, REPLY, routing
//! node/     driver + upper layer, glued the same way in every program
//! simulator/ virtual time, the network, users, the adversary, shrinking
//! world/    nodes with one driver over several links, and a byzantine one, in virtual time
//! rails/    nodes with several interfaces, and their health, in virtual time
//! runtime/  real time: clocks, threads, stations
//! ```
//!
//! What runs on these nodes, and the program `lnd`, are `tests/app`.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod fabric;
pub mod lnet;
mod mixer;
pub mod node;
pub mod rails;
pub mod rng;
pub mod runtime;
pub mod simulator;
pub mod world;
