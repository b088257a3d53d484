// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The test bench: nodes built from the shipped parts, on a fabric in shared memory or in a world
//! of virtual time.
//!
//! ```text
//! fabric/   one region of memory: link memories, mailboxes, payload windows, memory oracle
//! lnet/     the upper layer: portals, match bits, PUT, ACK, GET, REPLY, routing
//! node/     driver + upper layer, glued the same way in every program
//! files/    a file service on the upper layer
//! world/    virtual time, the adversary, the invariants
//! rails/    nodes with several interfaces, and their health, in virtual time
//! shrink.rs from a plan that fails to the smallest one
//! runtime/  real time: clocks, threads, stations
//! demo/     two nodes, threads, real time, failures: the demonstration
//! process/  separate processes over one fabric file
//! output.rs what the program prints
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod demo;
pub mod fabric;
pub mod files;
pub mod lnet;
pub mod node;
pub mod output;
pub mod process;
pub mod rails;
pub mod rng;
pub mod runtime;
pub mod shrink;
pub mod world;
