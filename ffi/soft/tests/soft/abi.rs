// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The same from C: an incarnation, and misuse.
// A C program is one unsafe block.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use core::ffi::c_void;
use core::mem::{size_of, zeroed};
use core::ptr::{null, null_mut};

use lnd_error::*;
use lnd_soft::abi::*;

use crate::land::Land;

/// A struct with its size set.
macro_rules! sized {
    ($name:ident) => {
        made::<$name>(|made| made.size = size_of::<$name>() as u32)
    };
}

fn made<T: Copy>(set_size: impl FnOnce(&mut T)) -> T {
    // SAFETY: used for structs of integers and pointers only.
    let mut made: T = unsafe { zeroed() };
    set_size(&mut made);
    made
}

pub struct Host {
    region: Land,
    object: Land,
    pub fabric: *mut lnd_soft_fabric,
}

pub fn host() -> Host {
    let mut shape = sized!(lnd_soft_shape);
    // SAFETY: everything pointed to is there.
    let (region, object, fabric) = unsafe {
        assert_eq!(lnd_soft_shape_init(&mut shape, 2, 1, 4, 8192), LND_OK);
        let region = Land::new(lnd_soft_region_size(&shape));
        let base = region.base().as_ptr().cast();
        assert_eq!(lnd_soft_format(base, region.len(), &shape), LND_OK);
        let object = Land::new(lnd_soft_fabric_size());
        let mut fabric = null_mut();
        let mem = object.base().as_ptr().cast();
        assert_eq!(lnd_soft_attach(mem, object.len(), base, region.len(), &mut fabric), LND_OK);
        (region, object, fabric)
    };
    Host { region, object, fabric }
}

/// A node that has not been prepared.
pub fn begin_to_join(host: &Host, number: u32) -> (Land, *mut lnd_soft_node) {
    let mut args = sized!(lnd_soft_join_args);
    (args.node, args.random, args.features) = (number, 77, u32::MAX);
    let mut node = null_mut();
    // SAFETY: as above.
    unsafe {
        let memory = Land::new(lnd_soft_node_size(host.fabric));
        let mem = memory.base().as_ptr().cast();
        assert_eq!(lnd_soft_join(mem, memory.len(), host.fabric, &args, &mut node), LND_OK);
        assert_eq!(lnd_soft_incarnation(node), 0);
        (memory, node)
    }
}

fn begin(host: &Host, number: u32) -> (Land, *mut lnd_soft_node) {
    let (memory, node) = begin_to_join(host, number);
    // SAFETY: as above.
    unsafe {
        assert_eq!(lnd_soft_prepare(node), LND_OK);
        assert_eq!(lnd_soft_prepare(node), LND_OK, "twice is once");
        let mut ring = 0;
        assert_eq!(lnd_soft_announce(node, &mut ring), LND_OK);
        assert_eq!(ring, 3 & !(1 << number));
        assert_ne!(lnd_soft_incarnation(node), 0);
        (memory, node)
    }
}

#[test]
fn an_incarnation_from_c() {
    let host = host();
    let (a_memory, a) = begin(&host, 0);
    let (b_memory, b) = begin(&host, 1);
    // SAFETY: everything pointed to is there.
    unsafe {
        let mut info = sized!(lnd_soft_node_info);
        assert_eq!(lnd_soft_watch(a, &mut info), LND_OK);
        assert_eq!((info.node, info.state), (1, lnd_soft_state::LND_SOFT_ALIVE as u32));
        assert_eq!(info.incarnation, lnd_soft_incarnation(b));
        assert_eq!(lnd_soft_watch(a, &mut info), LND_E_END);

        let (frame, mut sent) = (*b"frame", 9);
        let text = frame.as_ptr().cast::<c_void>();
        assert_eq!(lnd_soft_ready(a, 0, 1, 1), 1);
        assert_eq!(lnd_soft_send(a, 0, 1, 1, text, 5, &mut sent), LND_OK);
        assert_eq!(sent, 0);
        let (mut arrival, mut room) = (sized!(lnd_soft_arrival), vec![0_u8; 4352]);
        let into = room.as_mut_ptr().cast::<c_void>();
        assert_eq!(lnd_soft_receive(b, 1, into, 100, &mut arrival), LND_E_ROOM);
        assert_eq!(lnd_soft_receive(b, 1, into, 4352, &mut arrival), LND_OK);
        assert_eq!((arrival.from, arrival.lane, arrival.len), (0, 1, 5));
        assert_eq!(lnd_soft_release(b), LND_OK);
        assert_eq!(lnd_soft_receive(b, 1, into, 4352, &mut arrival), LND_E_END);
        assert_eq!(&room[..5], b"frame");

        let memory = Land::new(lnd_soft_engine_size());
        let (mem, mut engine) = (memory.base().as_ptr().cast(), null_mut());
        let made = lnd_soft_engine_create(mem, memory.len(), a, 0, 0, 0, &mut engine);
        assert_eq!(made, LND_OK);
        assert_eq!(lnd_soft_reg_write32(host.fabric, 0, 0, 196, 1), 1, "enable");
        let mut progress = sized!(lnd_soft_progress);
        assert_eq!(lnd_soft_engine_step(engine, 1, 8, &mut progress), LND_OK);
        assert_eq!((progress.interrupts, progress.busy), (2, 0), "the link works");
        let mut ring = 0;
        assert_eq!(lnd_soft_way(host.fabric, 0, 1), LND_OK);
        assert_eq!(lnd_soft_link_set(host.fabric, 0, 0, 0, &mut ring), LND_OK);
        assert_eq!(ring, 1);
        assert_eq!(lnd_soft_way(host.fabric, 0, 1), LND_E_LINK);
        assert_eq!(lnd_soft_way(host.fabric, 1, 0), LND_E_LINK, "either end's cable");
        assert_eq!(lnd_soft_way(host.fabric, 1, 1), LND_OK);
        assert_eq!(lnd_soft_way(host.fabric, 1, 2), LND_E_LINK, "no such node");
        assert_eq!(lnd_soft_way(null_mut(), 0, 1), LND_E_NULL);
        assert_eq!(lnd_soft_send(a, 0, 1, 1, text, 5, &mut sent), LND_E_LINK);
        assert_eq!(sent, 2);
        assert_eq!(lnd_soft_engine_step(engine, 2, 8, &mut progress), LND_OK);
        assert_eq!(lnd_soft_reg_read32(host.fabric, 0, 0, 128), 4, "no clock");
        assert_eq!(lnd_soft_engine_destroy(engine), LND_OK);
        assert_eq!(lnd_soft_engine_destroy(engine), LND_E_NI);
        assert_eq!(lnd_soft_engine_step(engine, 3, 8, &mut progress), LND_E_NI);

        let incarnation = lnd_soft_incarnation(b);
        assert_eq!(lnd_soft_declare_dead(host.fabric, 1, incarnation ^ 1, null_mut()), LND_E_STALE);
        assert_eq!(lnd_soft_declare_dead(host.fabric, 1, incarnation, null_mut()), LND_OK);
        assert_eq!(lnd_soft_is_alive(b), 0);
        assert_eq!(lnd_soft_announce(b, null_mut()), LND_E_STALE);
        assert_eq!(lnd_soft_leave(b, null_mut()), LND_OK);
        assert_eq!(lnd_soft_leave(b, null_mut()), LND_E_NI);
        assert_eq!(lnd_soft_leave(a, null_mut()), LND_OK);
        assert_eq!(lnd_soft_node_get(host.fabric, 1, &mut info), LND_OK);
        assert_eq!(info.state, lnd_soft_state::LND_SOFT_DEAD as u32);
        assert_eq!(lnd_soft_detach(host.fabric), LND_OK);
        assert_eq!(lnd_soft_detach(host.fabric), LND_E_NI);
    }
    drop((a_memory, b_memory, host.region, host.object));
}

#[test]
fn misuse_is_an_error_and_changes_nothing() {
    let host = host();
    let (_memory, node) = begin(&host, 0);
    let (fabric, mut info) = (host.fabric, sized!(lnd_soft_node_info));
    // SAFETY: everything pointed to is there, or null.
    unsafe {
        assert_eq!(lnd_soft_node_get(null(), 0, &mut info), LND_E_NULL);
        assert_eq!(lnd_soft_node_get(fabric, 0, null_mut()), LND_E_NULL);
        assert_eq!(lnd_soft_node_get(fabric, 2, &mut info), LND_E_ARGUMENT);
        let crooked = fabric.cast::<u8>().add(1).cast::<lnd_soft_fabric>();
        assert_eq!(lnd_soft_node_get(crooked, 0, &mut info), LND_E_ALIGN);
        assert_eq!(lnd_soft_node_get(node.cast(), 0, &mut info), LND_E_NI, "a node is no fabric");
        for wrong in [0, 4, info.size - 1, info.size + 4, u32::MAX] {
            let mut info = info;
            info.size = wrong;
            assert_eq!(lnd_soft_node_get(fabric, 0, &mut info), LND_E_SIZE);
            assert_eq!(lnd_soft_watch(node, &mut info), LND_E_SIZE);
        }
        assert_eq!(lnd_soft_node_size(null()), 0);
        assert_eq!(lnd_soft_reg_read32(null(), 0, 0, 0), u32::MAX);
        assert_eq!(lnd_soft_reg_read32(fabric, 1, 0, 0), u32::MAX, "never joined");
        assert_eq!(lnd_soft_reg_write32(fabric, 9, 0, 64, 2), 0);
        let byte = [0_u8; 8];
        let bytes = byte.as_ptr().cast::<c_void>();
        assert_eq!(lnd_soft_send(node, 0, 2, 1, bytes, 8, null_mut()), LND_E_ARGUMENT);
        assert_eq!(lnd_soft_send(node, 8, 0, 1, bytes, 8, null_mut()), LND_E_LINK);
        assert_eq!(lnd_soft_send(node, 0, 0, 0, bytes, 8, null_mut()), LND_E_NO_ROUTE);
        assert_eq!(lnd_soft_send(node, 0, 0, 1, null(), 8, null_mut()), LND_E_NULL);
        let mut sent = 9;
        assert_eq!(lnd_soft_send(node, 0, 0, 1, bytes, 8, &mut sent), LND_E_WAIT);
        assert_eq!(sent, 3, "no node has ever read there");
        assert_eq!(lnd_soft_write(fabric, 0, 8190, bytes, 8), LND_E_ADDRESS);
        assert_eq!(lnd_soft_lend(fabric, 0, 8192, 1, 0), LND_E_ADDRESS);
        assert_eq!(lnd_soft_lend(fabric, 0, 0, 1, 2), LND_E_ARGUMENT);
        let mut args = sized!(lnd_soft_join_args);
        args.node = 0;
        let memory = Land::new(lnd_soft_node_size(fabric));
        let (mem, mut other) = (memory.base().as_ptr().cast::<c_void>(), null_mut());
        assert_eq!(lnd_soft_join(mem, memory.len(), fabric, &args, &mut other), LND_E_BUSY);
        assert!(other.is_null());
        args.node = 1;
        assert_eq!(lnd_soft_join(mem, 1024, fabric, &args, &mut other), LND_E_MEMORY);
        assert_eq!(lnd_soft_join(null_mut(), 1024, fabric, &args, &mut other), LND_E_NULL);
        args.flags = 2;
        assert_eq!(lnd_soft_join(mem, memory.len(), fabric, &args, &mut other), LND_E_ARGUMENT);
        assert_eq!(lnd_soft_node_get(fabric, 1, &mut info), LND_OK);
        assert_eq!(info.state, lnd_soft_state::LND_SOFT_ABSENT as u32);
        let base = host.region.base().as_ptr();
        let (object, mut made) = (host.object.base().as_ptr().cast::<c_void>(), null_mut());
        let attach = |base: *mut u8, len: usize, made: &mut *mut lnd_soft_fabric| {
            lnd_soft_attach(object, 4096, base.cast(), len, made)
        };
        assert_eq!(attach(base.add(4), 8192, &mut made), LND_E_ALIGN);
        assert_eq!(attach(base, 8192, &mut made), LND_E_MEMORY);
        assert_eq!(attach(base.add(4096), 8192, &mut made), LND_E_RING);
        assert_eq!(attach(null_mut(), 8192, &mut made), LND_E_NULL);
    }
}
