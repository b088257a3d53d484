// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The control socket of a running node: one JSON object a line each way, over a Unix socket.
//!
//! ```text
//! {"version":1,"do":"show","what":"peer"}           {"version":1,"ok":true,"answer":{…}}
//! {"version":1,"do":"set","knob":"…","value":5}     {"version":1,"ok":false,"error":"…"}
//! ```
//!
//! `place.rs` is where the socket lies, `socket.rs` its threads, `answer.rs` what a node answers,
//! `knobs.rs` what can be set, `client.rs` the other end.

mod answer;
pub mod client;
mod knobs;
mod place;
mod socket;
mod system;

pub use answer::{answer, Order, Process};
pub use knobs::OfProcess;
pub use place::{default_path, find, find_all};
pub use socket::{Asked, Socket};

/// Of requests and answers. A request of another version is refused.
pub const VERSION: u64 = 1;
/// Longest line in bytes.
const LINE: u64 = 1 << 20;

/// The parts of a node that can be shown, and what each is.
pub const PARTS: [(&str, &str); 7] = [
    ("net", "the interface: identity, links, knobs"),
    ("peer", "peers: state, credits, transfers"),
    ("stats", "counters, ends by role, refused frames"),
    ("health", "failures by health class, links and peers that are down"),
    ("transfers", "every transfer: role, peer, what it still owes"),
    ("nodes", "every node of the fabric: state and incarnation"),
    ("dump", "all of these, what blocks a shutdown, and the last events"),
];
