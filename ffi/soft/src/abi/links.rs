// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Links: their memory, their registers and their cables.

use core::mem::size_of;

use lnd_core::id::LinkId;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};

use super::error::{lnd_error, outcome};
use super::fabric::{fabric_of, lnd_soft_fabric};
use super::memory::{fill, given, put_if};
use super::types::lnd_soft_link;
use crate::fabric::SoftFabric;
use crate::registers;
use crate::set::NodeSet;

pub(super) fn memory_of(
    fabric: &SoftFabric<'static>,
    node: u32,
    link: u32,
) -> Result<LinkMemory<'static>, lnd_error> {
    if node >= fabric.shape().nodes {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    let number = LinkId::new(link as usize).ok_or(lnd_error::LND_E_LINK)?;
    if link >= fabric.shape().links {
        return Err(lnd_error::LND_E_LINK);
    }
    fabric.link_memory(node, number).map_err(|_| lnd_error::LND_E_RING)
}

/// lnd_soft_link_get() - A link's memory.
/// @fabric: the fabric.
/// @node: a node that was prepared, in this or a former incarnation.
/// @link: the link.
/// @into: the caller sets its size; filled.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_ARGUMENT (no such node),
/// LND_E_LINK, LND_E_RING (never prepared, or damaged).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_link_get(
    fabric: *const lnd_soft_fabric,
    node: u32,
    link: u32,
    into: *mut lnd_soft_link,
) -> lnd_error {
    let get = || {
        let fabric = given!(fabric_of(fabric))?;
        let memory = memory_of(&fabric, node, link)?;
        let number = LinkId::new(link as usize).ok_or(lnd_error::LND_E_LINK)?;
        let (base, len) = fabric.link_place(node, number).ok_or(lnd_error::LND_E_LINK)?;
        let found = lnd_soft_link {
            size: size_of::<lnd_soft_link>() as u32,
            descriptors: memory.geometry().descriptors,
            lists: memory.geometry().lists,
            reserved: 0,
            base: base.as_ptr().cast(),
            len,
            features: memory.read(Register::Features),
            node,
        };
        given!(fill(into, found))
    };
    outcome(get())
}

/// lnd_soft_link_set() - Pulls a link's cable, or puts it back.
/// @fabric: the fabric.
/// @node: any node that was prepared.
/// @link: the link.
/// @up: 0 or 1.
/// @ring: where the set of nodes to ring is written (the node itself), or NULL.
///
/// Without the cable the link's clock stops, with everything in flight.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT, LND_E_LINK, LND_E_RING.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_link_set(
    fabric: *const lnd_soft_fabric,
    node: u32,
    link: u32,
    up: u32,
    ring: *mut u64,
) -> lnd_error {
    let set = || {
        let fabric = given!(fabric_of(fabric))?;
        memory_of(&fabric, node, link)?;
        let number = LinkId::new(link as usize).ok_or(lnd_error::LND_E_LINK)?;
        if up > 1 || !fabric.set_link(node, number, up == 1) {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        given!(put_if(ring, NodeSet::EMPTY.with(node).bits()))
    };
    outcome(set())
}

/// lnd_soft_way() - Whether any link has its cable at both of two nodes.
/// @fabric: the fabric.
/// @node: a node.
/// @other: another one.
///
/// What a request asks for moves by a link that has both its cables. Where no link has, requests
/// between the two nodes wait until their deadlines, or fail at the other node.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK (none has).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_way(
    fabric: *const lnd_soft_fabric,
    node: u32,
    other: u32,
) -> lnd_error {
    let way = || {
        let fabric = given!(fabric_of(fabric))?;
        fabric.has_way([node, other]).then_some(()).ok_or(lnd_error::LND_E_LINK)
    };
    outcome(way())
}

/// lnd_soft_reg_read32() - Reads a register of a software engine: for lnd_ops.reg_read32.
/// @fabric: the fabric.
/// @node: this host's node, prepared.
/// @link: the link.
/// @offset: the register's offset, see docs/registers.md.
///
/// Context: any.
/// Return: the value; all ones if there is no such register, as on a bus.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_reg_read32(
    fabric: *const lnd_soft_fabric,
    node: u32,
    link: u32,
    offset: u32,
) -> u32 {
    let memory = given!(fabric_of(fabric)).and_then(|fabric| memory_of(&fabric, node, link));
    memory.ok().and_then(|memory| registers::read(&memory, offset)).unwrap_or(u32::MAX)
}

/// lnd_soft_reg_write32() - Writes a register of a software engine: for lnd_ops.reg_write32.
/// @fabric: the fabric.
/// @node: this host's node, prepared.
/// @link: the link.
/// @offset: the register's offset, see docs/registers.md.
/// @value: the value. A write to a register that the driver must not write is dropped.
///
/// Context: any.
/// Return: 1 if the link's engine must be stepped for it, else 0.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_reg_write32(
    fabric: *const lnd_soft_fabric,
    node: u32,
    link: u32,
    offset: u32,
    value: u32,
) -> u32 {
    let memory = given!(fabric_of(fabric)).and_then(|fabric| memory_of(&fabric, node, link));
    let bell = memory.ok().and_then(|memory| registers::write(&memory, offset, value));
    u32::from(bell.unwrap_or(false))
}
