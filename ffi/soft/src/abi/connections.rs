// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Connections, one with each other node on each link: for the operations of `lnd_ops` that stop them one
//! by one.

use core::num::NonZeroU32;

use lnd_dma::driver::Connections;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};

use super::error::lnd_error;
use super::links::memory_of;
use super::memory::object;
use super::node::lnd_soft_node;

/// Registers, and whether something was written that the engine is to be stepped for.
struct Rung<'m> {
    memory: LinkMemory<'m>,
    before: u32,
}

impl Rung<'_> {
    fn has_rung(&self) -> u32 {
        u32::from(self.memory.read(Register::CutRound) != self.before)
    }
}

/// What `of` says of the connections of one of our links; they are taken charge of with the first call.
///
/// # Safety
/// As for [`object`].
unsafe fn enter<T>(
    node: *mut lnd_soft_node,
    link: u32,
    of: impl FnOnce(&mut Connections, &Rung<'static>) -> T,
) -> Result<T, lnd_error> {
    // SAFETY: the same promise.
    let node = unsafe { object(node) }?;
    let memory = memory_of(&node.fabric, node.number, link)?;
    let mut all = node.connections.enter()?;
    let its = all.get_mut(link as usize).ok_or(lnd_error::LND_E_LINK)?;
    let its = its.get_or_insert_with(|| Connections::new(&memory));
    let before = memory.read(Register::CutRound);
    Ok(of(its, &Rung { memory, before }))
}

/// lnd_soft_connection() - The number of the present connection with another node.
/// @node: our node, prepared.
/// @link: the link.
/// @peer: the number of the other node; lnd_soft_node_of() says it.
///
/// All that is staged for that node and pulled from it by the link is of the connection. For lnd_ops.connection.
///
/// Context: one at a time for a node, with the other lnd_soft_connection functions.
/// Return: the number, which no other connection of the link has had; 0: the node has none of its own, or is
/// none.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_connection(
    node: *mut lnd_soft_node,
    link: u32,
    peer: u32,
) -> u32 {
    // SAFETY: by the contract of the ABI.
    let number = unsafe { enter(node, link, |its, _| its.number(peer)) };
    number.ok().flatten().map_or(0, NonZeroU32::get)
}

/// lnd_soft_connection_stop() - Asks for the stop of a connection.
/// @node: our node.
/// @link: the link.
/// @number: of the connection. Of one that is not there any more, nothing is asked.
///
/// For lnd_ops.connection_stop.
///
/// Context: as lnd_soft_connection().
/// Return: 1 if the link's engine must be stepped for it, else 0.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_connection_stop(
    node: *mut lnd_soft_node,
    link: u32,
    number: u32,
) -> u32 {
    let Some(number) = NonZeroU32::new(number) else { return 0 };
    let stop = |its: &mut Connections, rung: &Rung<'_>| {
        its.cut(&rung.memory, number);
        rung.has_rung()
    };
    // SAFETY: by the contract of the ABI.
    unsafe { enter(node, link, stop) }.unwrap_or(0)
}

/// lnd_soft_connection_quiesced() - Whether a connection is proven stopped.
/// @node: our node.
/// @link: the link.
/// @number: of the connection.
///
/// It waits for the other node's engine while that is in the middle of a copy and its node is alive. Step
/// our engine meanwhile. For lnd_ops.connection_quiesced.
///
/// Context: as lnd_soft_connection().
/// Return: 1 if it is, or is not there any more; else 0.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_connection_quiesced(
    node: *mut lnd_soft_node,
    link: u32,
    number: u32,
) -> u32 {
    let Some(number) = NonZeroU32::new(number) else { return 0 };
    let parted = |its: &mut Connections, rung: &Rung<'_>| its.has_parted(&rung.memory, number);
    // SAFETY: by the contract of the ABI.
    let parted = unsafe { enter(node, link, parted) };
    u32::from(parted.is_ok_and(|parted| parted == Some(true)))
}

/// lnd_soft_connection_reset() - Puts the next connection in the place of a stopped one.
/// @node: our node.
/// @link: the link.
/// @number: of the connection; 0: all of the link, whose engine is about to be reset.
///
/// For lnd_ops.connection_reset.
///
/// Context: as lnd_soft_connection().
/// Return: 1 if the link's engine must be stepped for it, else 0.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_connection_reset(
    node: *mut lnd_soft_node,
    link: u32,
    number: u32,
) -> u32 {
    let reset = |its: &mut Connections, rung: &Rung<'_>| {
        match NonZeroU32::new(number) {
            Some(number) => its.renew(&rung.memory, number),
            None => its.renew_all(),
        }
        rung.has_rung()
    };
    // SAFETY: by the contract of the ABI.
    unsafe { enter(node, link, reset) }.unwrap_or(0)
}
