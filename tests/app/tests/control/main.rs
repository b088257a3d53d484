// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A running node as its operator meets it: the control socket, `lnd ping`, `lnd perf`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod measure;
#[path = "../place/mod.rs"]
mod place;
mod set;
mod show;
mod socket;

use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
