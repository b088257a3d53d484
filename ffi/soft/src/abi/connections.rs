// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Connections, one with each other node on each link: for the operations of `lnd_ops` that stop
//! them one by one.

use core::num::NonZeroU32;

use lnd_dma::driver::Connections;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};

use super::error::lnd_error;
use super::links::memory_of;
use super::memory::{given, object};
use super::node::lnd_soft_node;

/// Registers that record whether the engine must be stepped for a write.
struct Rung<'m> {
    memory: LinkMemory<'m>,
    before: u32,
}

impl Rung<'_> {
    fn has_rung(&self) -> u32 {
        u32::from(self.memory.read(Register::CutRound) != self.before)
    }
}

/// Applies `of` to the connections of one of the node's links. The first call takes control of
/// them.
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

/// lnd_soft_connection() - The number of the current connection with another node.
/// @node: this host's node, prepared.
/// @link: the link.
/// @peer: the number of the other node, from lnd_soft_node_of().
///
/// The connection covers all memory staged for that node and all pulls from it on the link. For
/// lnd_ops.connection.
///
/// Context: one at a time for a node, with the other lnd_soft_connection functions.
/// Return: the number, unique among the link's connections; 0: the node has no connections of its
/// own, or does not exist.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_connection(
    node: *mut lnd_soft_node,
    link: u32,
    peer: u32,
) -> u32 {
    let number = |its: &mut Connections, _: &Rung<'_>| its.number(peer);
    given!(enter(node, link, number)).ok().flatten().map_or(0, NonZeroU32::get)
}

/// lnd_soft_connection_stop() - Requests a stop of a connection.
/// @node: this host's node.
/// @link: the link.
/// @number: the connection. A number of a former connection has no effect.
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
    given!(enter(node, link, stop)).unwrap_or(0)
}

/// lnd_soft_connection_quiesced() - Whether a connection is proven stopped.
/// @node: this host's node.
/// @link: the link.
/// @number: the connection.
///
/// The stop waits for the other node's engine while that engine is in the middle of a copy and its
/// node is alive. Step this node's engine meanwhile. For lnd_ops.connection_quiesced.
///
/// Context: as lnd_soft_connection().
/// Return: 1 if it is, or no longer exists; else 0.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_connection_quiesced(
    node: *mut lnd_soft_node,
    link: u32,
    number: u32,
) -> u32 {
    let Some(number) = NonZeroU32::new(number) else { return 0 };
    let parted = |its: &mut Connections, rung: &Rung<'_>| its.has_parted(&rung.memory, number);
    let parted = given!(enter(node, link, parted));
    u32::from(parted.is_ok_and(|parted| parted == Some(true)))
}

/// lnd_soft_connection_reset() - Replaces a stopped connection by the next one.
/// @node: this host's node.
/// @link: the link.
/// @number: the connection; 0: all of the link, whose engine is about to be reset.
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
            // These registers are memory of the fabric: no bus loses the end of a cut.
            Some(number) => drop(its.renew(&rung.memory, number)),
            None => its.renew_all(),
        }
        rung.has_rung()
    };
    given!(enter(node, link, reset)).unwrap_or(0)
}
