// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Regions and fabrics.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr::NonNull;

use lnd_core::arena::{Arena, LINE};
use lnd_core::id::Nid;

use super::error::{lnd_error, outcome};
use super::memory::{arena, fill, given, input, object, put, Kind, Object};
use super::types::{lnd_soft_shape, LND_SOFT_NO_NODE};
use crate::fabric::SoftFabric;
use crate::region::{SharedRegion, ALIGN};
use crate::shape::{nid_of, node_of, Shape};

/// struct lnd_soft_fabric - An attached fabric; opaque.
#[derive(Debug)]
#[repr(C)]
pub struct lnd_soft_fabric {
    kind: Kind,
    pub(super) fabric: SoftFabric<'static>,
}

// SAFETY: `repr(C)`, the kind first.
unsafe impl Object for lnd_soft_fabric {
    const KIND: u32 = 0x4c53_4601;
}

/// The fabric behind a pointer.
///
/// # Safety
/// As for [`object`].
pub(super) unsafe fn fabric_of(
    pointer: *const lnd_soft_fabric,
) -> Result<SoftFabric<'static>, lnd_error> {
    // SAFETY: the same promise.
    Ok(unsafe { object(pointer.cast_mut())? }.fabric)
}

impl lnd_soft_shape {
    const fn of(shape: &Shape) -> Self {
        Self {
            size: size_of::<Self>() as u32,
            nodes: shape.nodes,
            links: shape.links,
            descriptors: shape.descriptors,
            lists: shape.lists,
            request_slots: shape.requests.0,
            request_bytes: shape.requests.1,
            control_slots: shape.control.0,
            control_bytes: shape.control.1,
            reserved: 0,
            window: shape.window,
        }
    }

    const fn understand(&self) -> Result<Shape, lnd_error> {
        if self.reserved != 0 {
            return Err(lnd_error::LND_E_CONFIG);
        }
        Ok(Shape {
            nodes: self.nodes,
            links: self.links,
            descriptors: self.descriptors,
            lists: self.lists,
            window: self.window,
            requests: (self.request_slots, self.request_bytes),
            control: (self.control_slots, self.control_bytes),
        })
    }
}

/// lnd_soft_shape_init() - The numbers of a fabric, with mailboxes of usual sizes.
/// @shape: every byte of it is written.
/// @nodes: nodes.
/// @links: links of each.
/// @descriptors: descriptors of each link.
/// @window: bytes of each node's payload window.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_shape_init(
    shape: *mut lnd_soft_shape,
    nodes: u32,
    links: u32,
    descriptors: u32,
    window: u64,
) -> lnd_error {
    let usual = lnd_soft_shape::of(&Shape::new(nodes, links, descriptors, window));
    outcome(given!(put(shape, usual)))
}

/// lnd_soft_region_size() - Bytes that a fabric needs.
/// @shape: its numbers.
///
/// Context: any.
/// Return: the bytes, or 0 if the numbers are not valid.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_region_size(shape: *const lnd_soft_shape) -> usize {
    let shape = given!(input(shape)).and_then(|shape| shape.understand());
    shape.ok().and_then(|shape| shape.offsets().ok()).map_or(0, |offsets| offsets.end)
}

/// The caller's region.
///
/// # Safety
/// As for [`SharedRegion::new`], unless the base is null.
unsafe fn region(base: *mut c_void, len: usize) -> Result<SharedRegion<'static>, lnd_error> {
    let base = NonNull::new(base.cast::<u8>()).ok_or(lnd_error::LND_E_NULL)?;
    if base.addr().get() % ALIGN != 0 {
        return Err(lnd_error::LND_E_ALIGN);
    }
    // SAFETY: the same promise.
    unsafe { SharedRegion::new(base, len) }.ok_or(lnd_error::LND_E_MEMORY)
}

/// lnd_soft_format() - Makes a fabric in fresh memory.
/// @base: the memory, all zero, aligned to 64.
/// @len: its bytes, at least lnd_soft_region_size().
/// @shape: the fabric's numbers.
///
/// Context: any, alone with the memory.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_CONFIG, LND_E_MEMORY.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_format(
    base: *mut c_void,
    len: usize,
    shape: *const lnd_soft_shape,
) -> lnd_error {
    let format = || {
        let shape = given!(input(shape))?.understand()?;
        let region = given!(region(base, len))?;
        SoftFabric::format(region, shape)?;
        Ok(())
    };
    outcome(format())
}

/// lnd_soft_fabric_size() - Bytes of memory for a fabric's object.
///
/// Context: any.
/// Return: the bytes.
#[no_mangle]
pub extern "C" fn lnd_soft_fabric_size() -> usize {
    LINE + Arena::table_bytes::<lnd_soft_fabric>(1)
}

/// lnd_soft_attach() - Attaches to a formatted fabric.
/// @mem: memory for the object, until lnd_soft_detach().
/// @len: its bytes, at least lnd_soft_fabric_size().
/// @base: the region, aligned to 64; it must stay until everything made of it has been destroyed.
/// @bytes: its bytes.
/// @fabric: where the object's pointer is written.
///
/// The header is read once and checked: nothing in the region is trusted afterwards. A host may
/// attach to one region several times, and have several nodes in it.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_MEMORY (object or region too small), LND_E_RING
/// (not a fabric, or damaged), LND_E_VERSION, LND_E_CONFIG.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_attach(
    mem: *mut c_void,
    len: usize,
    base: *mut c_void,
    bytes: usize,
    fabric: *mut *mut lnd_soft_fabric,
) -> lnd_error {
    let attach = || {
        let mut memory = given!(arena(mem, len))?;
        let region = given!(region(base, bytes))?;
        let made = lnd_soft_fabric {
            kind: Kind::of::<lnd_soft_fabric>(),
            fabric: SoftFabric::attach(region)?,
        };
        given!(put(fabric, core::ptr::null_mut()))?;
        let made = memory.place(made).map_err(|_| lnd_error::LND_E_MEMORY)?;
        given!(put(fabric, made))
    };
    outcome(attach())
}

/// lnd_soft_detach() - Ends a fabric's object; its memory is the caller's again.
/// @fabric: the fabric. Nodes and engines made of it no longer need it.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_detach(fabric: *mut lnd_soft_fabric) -> lnd_error {
    match given!(object(fabric)) {
        Ok(fabric) if fabric.kind.end() => lnd_error::LND_OK,
        Ok(_) => lnd_error::LND_E_NI,
        Err(error) => error,
    }
}

/// lnd_soft_shape_get() - The numbers of a fabric.
/// @fabric: the fabric.
/// @shape: the caller sets its size; filled.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_SIZE.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_shape_get(
    fabric: *const lnd_soft_fabric,
    shape: *mut lnd_soft_shape,
) -> lnd_error {
    let get = || {
        let fabric = given!(fabric_of(fabric))?;
        given!(fill(shape, lnd_soft_shape::of(fabric.shape())))
    };
    outcome(get())
}

/// lnd_soft_frame_max() - Bytes of a buffer that holds every short message.
/// @fabric: the fabric.
///
/// Context: any.
/// Return: the bytes, or 0 if @fabric is not a fabric.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_frame_max(fabric: *const lnd_soft_fabric) -> usize {
    given!(fabric_of(fabric)).map_or(0, |fabric| fabric.shape().frame_max())
}

/// lnd_soft_nid() - The NID of a node's number.
/// @node: the number.
///
/// Context: any.
/// Return: the NID, never 0.
#[no_mangle]
pub extern "C" fn lnd_soft_nid(node: u32) -> u64 {
    nid_of(node).raw()
}

/// lnd_soft_node_of() - The number of the node with a NID.
/// @nid: any number.
///
/// Context: any.
/// Return: the number, or LND_SOFT_NO_NODE if no fabric has such a node.
#[no_mangle]
pub extern "C" fn lnd_soft_node_of(nid: u64) -> u32 {
    Nid::from_raw(nid).and_then(node_of).unwrap_or(LND_SOFT_NO_NODE)
}
