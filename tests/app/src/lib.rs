// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The application of the test bench: files as PUT and GET between nodes of [`lnd_sim`].
//!
//! ```text
//! files/      a file service on the upper layer: server, client, stores
//! demo/       two nodes, threads, real time, failures: the demonstration
//! process/    separate processes over one fabric file
//! output.rs   what the program prints
//! main.rs     the program `lnd`: its commands, those of the simulator (`simulate.rs`) included
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod demo;
pub mod files;
pub mod output;
pub mod process;
