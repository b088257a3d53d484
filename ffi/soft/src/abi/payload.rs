// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Payload windows. Addresses of payload are offsets into the node's window.

use core::ffi::c_void;

use lnd_core::fragment::Fragment;
use lnd_core::ports::Memory;

use super::error::{lnd_error, outcome};
use super::fabric::{fabric_of, lnd_soft_fabric};
use super::memory::{bytes, bytes_mut, given, put};
use crate::oracle::Lease;
use crate::window::MemoryWindow;

/// lnd_soft_window() - The place of a node's payload window.
/// @fabric: the fabric.
/// @node: the node's number.
/// @base: where the address of its first byte is written.
/// @len: where its length in bytes is written.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT (no such node).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_window(
    fabric: *const lnd_soft_fabric,
    node: u32,
    base: *mut *mut c_void,
    len: *mut u64,
) -> lnd_error {
    let window = || {
        let fabric = given!(fabric_of(fabric))?;
        let place = fabric.window(node).ok_or(lnd_error::LND_E_ARGUMENT)?;
        given!(put(len, fabric.window_bytes()))?;
        given!(put(base, place.as_ptr().cast()))
    };
    outcome(window())
}

/// lnd_soft_read() - Copies from a node's window: for lnd_ops.mem_read.
/// @fabric: the fabric.
/// @node: the node's number.
/// @addr: offset in its window.
/// @into: where to, initialised.
/// @len: bytes.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ADDRESS.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_read(
    fabric: *const lnd_soft_fabric,
    node: u32,
    addr: u64,
    into: *mut c_void,
    len: u32,
) -> lnd_error {
    let read = || {
        let fabric = given!(fabric_of(fabric))?;
        let into = given!(bytes_mut(into, len as usize))?;
        MemoryWindow::new(&fabric, node).read(addr, into).map_err(|_| lnd_error::LND_E_ADDRESS)
    };
    outcome(read())
}

/// lnd_soft_write() - Copies into a node's window: for lnd_ops.mem_write.
/// @fabric: the fabric.
/// @node: the node's number.
/// @addr: offset in its window.
/// @from: where from.
/// @len: bytes.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ADDRESS.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_write(
    fabric: *const lnd_soft_fabric,
    node: u32,
    addr: u64,
    from: *const c_void,
    len: u32,
) -> lnd_error {
    let write = || {
        let fabric = given!(fabric_of(fabric))?;
        let from = given!(bytes(from, len as usize))?;
        MemoryWindow::new(&fabric, node).write(addr, from).map_err(|_| lnd_error::LND_E_ADDRESS)
    };
    outcome(write())
}

/// lnd_soft_valid() - Whether bytes lie in a node's window: for lnd_ops.mem_valid.
/// @fabric: the fabric.
/// @node: the node's number.
/// @addr: offset in its window.
/// @len: bytes.
///
/// Context: any.
/// Return: 1 or 0.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_valid(
    fabric: *const lnd_soft_fabric,
    node: u32,
    addr: u64,
    len: u32,
) -> u32 {
    given!(fabric_of(fabric)).map_or(0, |fabric| {
        u32::from(MemoryWindow::new(&fabric, node).valid(&Fragment::new(addr, len)))
    })
}

/// Lends bytes, or takes them back.
///
/// # Safety
/// As for [`fabric_of`].
unsafe fn lease(
    fabric: *const lnd_soft_fabric,
    node: u32,
    addr: u64,
    len: u32,
    written: u32,
    back: bool,
) -> Result<(), lnd_error> {
    // SAFETY: the same promise.
    let fabric = unsafe { fabric_of(fabric) }?;
    let fragment = Fragment::new(addr, len);
    if written > 1 {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    if !MemoryWindow::new(&fabric, node).valid(&fragment) {
        return Err(lnd_error::LND_E_ADDRESS);
    }
    let (oracle, fragments) = (fabric.oracle(), [fragment]);
    let lease = if written == 1 { Lease::Write } else { Lease::Read };
    if back {
        oracle.take_back(node, &fragments, lease);
    } else {
        oracle.lend(node, &fragments, lease);
    }
    Ok(())
}

/// lnd_soft_lend() - Reports to the memory oracle that engines may access bytes of a node's window.
/// @fabric: the fabric.
/// @node: this host's node, joined with LND_SOFT_LEASES.
/// @addr: offset in its window.
/// @len: bytes.
/// @written: 0: engines may read them; 1: engines may write them.
///
/// Call it before the transfer is submitted, and lnd_soft_take_back() when it is finalized.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT, LND_E_ADDRESS.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_lend(
    fabric: *const lnd_soft_fabric,
    node: u32,
    addr: u64,
    len: u32,
    written: u32,
) -> lnd_error {
    outcome(given!(lease(fabric, node, addr, len, written, false)))
}

/// lnd_soft_take_back() - Reports to the memory oracle that engines may no longer access bytes.
/// @fabric: the fabric.
/// @node: this host's node.
/// @addr: as it was lent.
/// @len: as it was lent.
/// @written: as it was lent.
///
/// Context: any.
/// Return: as lnd_soft_lend().
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_take_back(
    fabric: *const lnd_soft_fabric,
    node: u32,
    addr: u64,
    len: u32,
    written: u32,
) -> lnd_error {
    outcome(given!(lease(fabric, node, addr, len, written, true)))
}
