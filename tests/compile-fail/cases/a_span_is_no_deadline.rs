// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A deadline is a point in time, not a length of it (LU-17000: one number with two meanings was
//! taken for success; H14: wall clock and monotonic clock mixed).
use lnd_core::driver::{Kind, Request};
use lnd_core::id::Nid;
use lnd_core::time::Span;

fn in_ten_seconds(peer: Nid) -> Request<'static> {
    Request {
        kind: Kind::Put,
        peer: peer.into(),
        link: None,
        routed: false,
        header: &[],
        payload: &[],
        deadline: Span::from_secs(10),
        user: 0,
    }
}

fn main() {}
