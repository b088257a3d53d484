// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The application of the test bench: files as PUT and GET between nodes of [`lnd_sim`].
//!
//! ```text
//! files/      a file service on the upper layer: server, client, stores
//! cluster.rs  a description of nodes, and their processes
//! control/    the control socket of a running node
//! demo/       two nodes, threads, real time, failures: the demonstration
//! events.rs   the driver's trace as events of the crate `tracing`
//! metrics/    what a node counts, for Prometheus
//! process/    separate processes over one fabric file
//! recorded/   files about a simulated run: their options, who played
//! capture/    its frames as pcapng
//! report/     a simulated run as one page of HTML
//! output.rs   what the program prints
//! progress.rs bars for what takes long
//! text.rs     files that people write
//! yaml/       values as YAML, as lnetctl prints them, and back
//! commands/   the program `lnd`: `mod.rs` is the list of its commands, each has a file beside it
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod capture;
pub mod cluster;
pub mod control;
pub mod demo;
#[cfg(feature = "tracing")]
pub mod events;
pub mod files;
pub mod metrics;
pub mod output;
pub mod process;
pub mod progress;
pub mod recorded;
pub mod report;
pub mod text;
pub mod yaml;
