// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Separate processes over one fabric file: `lnd node`, `lnd put`, `lnd get`, `lnd ping`,
//! and what is to be done with the file itself: `lnd fabric`.

mod client;
pub mod fabric;
mod host;
mod server;

use std::path::PathBuf;

use lnd_core::id::Nid;

pub use client::{get, ping, put};
pub use server::serve;

use crate::fabric::{nid_of, node_of};

/// What every process needs to know.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The fabric's file; made if there is none.
    pub fabric: PathBuf,
    /// Nodes of a fabric that has to be made.
    pub nodes: u32,
    /// MiB of each node's payload window in a fabric that has to be made.
    pub window: u64,
    /// The node to be; `None`: any that is free.
    pub me: Option<Nid>,
    /// Seconds after which a client gives up.
    pub timeout: u64,
}

/// Anything that can go wrong.
pub type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Reads a NID: `2@soft`, `2@soft0`.
///
/// # Errors
/// It is no NID, or not one of a fabric's network.
pub fn parse_nid(text: &str) -> Result<Nid, String> {
    let (address, network) = text.split_once('@').ok_or("a NID looks like 2@soft")?;
    if network != "soft" && network != "soft0" {
        return Err(format!("unknown network '{network}': a fabric's network is soft"));
    }
    let address: u32 = address.parse().map_err(|_| format!("'{address}' is no address"))?;
    let nid = Nid::from_raw(u64::from(address)).ok_or("addresses begin at 1")?;
    node_of(nid).map(nid_of).ok_or_else(|| format!("{nid} is beyond every fabric"))
}
