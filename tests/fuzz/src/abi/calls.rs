// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The longer calls: submit, decide, take frames.

// A sequence of calls under one argument reads better than one block a call.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::ptr::{null, null_mut};

use lnd_ffi::abi::{
    lnd_blocker, lnd_decision, lnd_error, lnd_frag, lnd_kind, lnd_peer, lnd_request,
    lnd_send_request, lnd_stats, lnd_transfer, LND_ANY_LINK, LND_NEVER,
};
use lnd_ffi::decision::{lnd_recv, lnd_reply};
use lnd_ffi::peers::lnd_peer_find;
use lnd_ffi::shutdown::lnd_blocker_next;
use lnd_ffi::stats::lnd_stats_get;
use lnd_ffi::submit::lnd_submit;

use super::{never_ok, nid_of, pick, Twist, World};
use crate::host::SECOND;

impl World {
    pub(super) fn submit(
        &mut self,
        node: bool,
        kind: u8,
        len: u16,
        nfrags: u8,
        seconds: u8,
        user: u64,
    ) {
        let nfrags = u32::from(nfrags % 5);
        let frag = lnd_frag { addr: 4096, len: u32::from(len), reserved: 0 };
        let (header, frags) = (user.to_le_bytes(), [frag; 5]);
        let mut request = lnd_send_request {
            size: size_of::<lnd_send_request>() as u32,
            kind: if kind.is_multiple_of(3) {
                lnd_kind::LND_GET as u32
            } else {
                u32::from(kind % 5)
            },
            nid: nid_of(!node),
            link: LND_ANY_LINK,
            routed: u32::from(kind > 200),
            header: header.as_ptr().cast(),
            frags: frags.as_ptr(),
            header_len: 8,
            nfrags,
            deadline: if seconds == 0 { LND_NEVER } else { self.now + u64::from(seconds) * SECOND },
            user,
            peer: lnd_peer::default(),
        };
        let mut handle = lnd_transfer::default();
        let host = self.host(node);
        if user.is_multiple_of(2) {
            let (nid, found) = (request.nid, &raw mut request.peer);
            // SAFETY: see `Host::ni`; the place is there. What is not found stays as it is.
            unsafe { lnd_peer_find(host.ni(), nid, found) };
        }
        // SAFETY: see `Host::ni`; the request and what it points to are there.
        let error =
            unsafe { lnd_submit(host.ni(), &request, self.now, &raw mut handle, null_mut()) };
        if error == lnd_error::LND_OK {
            host.open.borrow_mut().insert(user);
            self.transfers[usize::from(node)].push(handle);
            // A routed GET is a header and no more.
            let pulled = u32::from(len) * nfrags > 256
                && (request.routed == 0 || request.kind != lnd_kind::LND_GET as u32);
            self.promises.accepted(user, pulled);
        }
    }

    pub(super) fn submit_wrong(
        &self,
        node: bool,
        size: u32,
        nulls: u8,
        [nid, link, header]: [u8; 3],
    ) {
        let frag = lnd_frag { addr: 4096, len: 100, reserved: u32::from(nulls & 1) };
        let bytes = [0_u8; 256];
        let right = size_of::<lnd_send_request>() as u32;
        let request = lnd_send_request {
            size: if nulls & 2 == 0 { right } else { size },
            kind: lnd_kind::LND_PUT as u32,
            nid: u64::from(nid % 4),
            link: u32::from(link),
            routed: 0,
            header: if nulls & 4 == 0 { bytes.as_ptr().cast() } else { null() },
            frags: if nulls & 8 == 0 { &raw const frag } else { null() },
            header_len: u32::from(header),
            nfrags: 1,
            deadline: if nulls & 16 == 0 { self.now + SECOND } else { self.now },
            user: 0,
            peer: lnd_peer::default(),
        };
        let host = self.host(node);
        // SAFETY: see `Host::ni`; the request is there, its pointers are null or right.
        let error = unsafe { lnd_submit(host.ni(), &request, self.now, null_mut(), null_mut()) };
        let size_ok = request.size == right;
        // A header of no bytes may be null.
        let header_ok = header <= 96 && (header == 0 || nulls & 4 == 0);
        if error == lnd_error::LND_OK {
            assert!(size_ok && header_ok && nulls & 25 == 0, "{nulls:#x} was taken");
            host.open.borrow_mut().insert(0);
            host.anonymous.set(host.anonymous.get() + 1);
        }
    }

    pub(super) fn decision(
        &mut self,
        node: bool,
        handle: u8,
        twist: Twist,
        give: bool,
        len: u16,
        seconds: u8,
    ) {
        let user = self.user();
        let host = self.host(node);
        let found = host.requests.borrow().clone();
        let handle: lnd_request = twisted!(pick(found, handle), twist);
        let frag = lnd_frag { addr: 8192, len: u32::from(len), reserved: 0 };
        let decision = lnd_decision {
            size: size_of::<lnd_decision>() as u32,
            nfrags: u32::from(len > 0),
            frags: &raw const frag,
            len: u32::from(len),
            reserved: 0,
            deadline: self.now + u64::from(seconds) * SECOND,
            user,
        };
        let (ni, now) = (host.ni(), self.now);
        // SAFETY: see `Host::ni`; the decision and its fragment are there.
        let error = unsafe {
            if give {
                lnd_reply(ni, handle, &decision, now, null_mut())
            } else {
                lnd_recv(ni, handle, &decision, now, null_mut(), null_mut())
            }
        };
        never_ok(error, twist);
        if error == lnd_error::LND_OK {
            host.open.borrow_mut().insert(user);
        }
    }

    /// Hands over the oldest frame that `node` has sent.
    pub(super) fn deliver(&self, node: bool, again: bool, flip: Option<u16>) {
        if self.reliable {
            self.offer(node, u32::from(again), 1);
            return;
        }
        let Some((link, _, mut bytes)) = self.host(node).wire.borrow_mut().pop_front() else {
            return;
        };
        if let Some(at) = flip {
            let at = usize::from(at) % bytes.len().max(1);
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (at % 8));
        }
        for _ in 0..=u8::from(again) {
            self.host(!node).frame_in(link, nid_of(node), &bytes, self.now);
        }
    }

    /// # Safety
    /// As for a call of `lnd_stats_get` and `lnd_blocker_next`.
    pub(super) unsafe fn queries(&self, node: bool, size: u8) {
        let ni = self.host(node).ni();
        // SAFETY: integers: zero is valid.
        let mut stats: lnd_stats = unsafe { std::mem::zeroed() };
        let right = size_of::<lnd_stats>() as u32;
        stats.size = if size < 128 { right } else { u32::from(size) };
        // SAFETY: see `Host::ni`; the struct is there.
        let error = unsafe { lnd_stats_get(ni, &raw mut stats) };
        assert!(error != lnd_error::LND_OK || stats.size == right);
        // SAFETY: integers: zero is valid.
        let mut blocker: lnd_blocker = unsafe { std::mem::zeroed() };
        blocker.size = size_of::<lnd_blocker>() as u32;
        let mut cursor = 0;
        for _ in 0..64 {
            // SAFETY: see `Host::ni`; cursor and struct are there.
            let error = unsafe { lnd_blocker_next(ni, &raw mut cursor, &raw mut blocker) };
            if error != lnd_error::LND_OK {
                return;
            }
        }
        panic!("more blockers than slots and links");
    }
}
