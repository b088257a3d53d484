// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tests that need the inside of an object: a part that another context uses.
// A C program is one unsafe block.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use core::ffi::c_void;
use core::mem::{size_of, size_of_val, zeroed};
use core::ptr::null_mut;
use std::vec;
use std::vec::Vec;

use super::lnd_error::{LND_E_BUSY, LND_E_WAIT, LND_OK};
use super::*;

#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Page([u8; 4096]);

/// Zeroed memory.
fn memory(bytes: usize) -> Vec<Page> {
    vec![Page([0; 4096]); bytes.div_ceil(4096)]
}

/// Its address and length, for C.
fn raw(pages: &mut [Page]) -> (*mut c_void, usize) {
    (pages.as_mut_ptr().cast(), size_of_val(pages))
}

/// A context in one half of the node prevents its opening. The next call opens it: it does not
/// return OK only because the node has joined.
#[test]
fn what_was_busy_when_it_was_to_be_opened_is_opened_by_the_next_call() {
    // SAFETY: everything pointed to is there; zero is valid for structs of integers.
    unsafe {
        let mut shape: lnd_soft_shape = zeroed();
        shape.size = size_of::<lnd_soft_shape>() as u32;
        assert_eq!(lnd_soft_shape_init(&mut shape, 2, 1, 4, 8192), LND_OK);
        let mut region = memory(lnd_soft_region_size(&shape));
        let (base, len) = raw(&mut region);
        assert_eq!(lnd_soft_format(base, len, &shape), LND_OK);
        let mut attached = memory(lnd_soft_fabric_size());
        let (mem, room) = raw(&mut attached);
        let mut fabric = null_mut();
        assert_eq!(lnd_soft_attach(mem, room, base, len, &mut fabric), LND_OK);
        let mut args: lnd_soft_join_args = zeroed();
        args.size = size_of::<lnd_soft_join_args>() as u32;
        let mut joined = memory(lnd_soft_node_size(fabric));
        let (mem, room) = raw(&mut joined);
        let mut node = null_mut();
        assert_eq!(lnd_soft_join(mem, room, fabric, &args, &mut node), LND_OK);

        let object: &lnd_soft_node = &*node;
        let inside = object.receiving.enter();
        assert_eq!(lnd_soft_prepare(node), LND_E_BUSY);
        drop(inside);
        let inside = object.sending.enter();
        assert_eq!(lnd_soft_prepare(node), LND_E_BUSY);
        drop(inside);
        assert_eq!(lnd_soft_prepare(node), LND_OK);
        assert_eq!(lnd_soft_announce(node, null_mut()), LND_OK);
        // The other node has never joined; the sending half is open.
        let sending = lnd_soft_send(node, 0, 1, 1, b"x".as_ptr().cast(), 1, null_mut());
        assert_eq!(sending, LND_E_WAIT);
        assert_eq!(lnd_soft_leave(node, null_mut()), LND_OK);
    }
}
