// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Only a peer's request makes a ticket (LU-18016: a key was returned that had never been taken).
use lnd_core::driver::{RequestKind, RxRequest};
use lnd_core::id::{Nid, Tag};

fn forged(tag: Tag, from: Nid) -> RxRequest<'static> {
    RxRequest { tag, kind: RequestKind::Put, from, header: &[], payload: &[], length: 8 }
}

fn main() {}
