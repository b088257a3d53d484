// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The other nodes of the fabric.

use core::mem::size_of;

use lnd_core::id::Incarnation;

use super::error::{lnd_error, outcome};
use super::fabric::{fabric_of, lnd_soft_fabric};
use super::memory::{fill, given, input, object, put_if};
use super::node::lnd_soft_node;
use super::types::lnd_soft_node_info;
use crate::nodes::{Node, NodeState};
use crate::set::NodeSet;

impl lnd_soft_node_info {
    fn of(number: u32, node: Node) -> Self {
        Self {
            size: size_of::<Self>() as u32,
            node: number,
            state: node.state as u32,
            flags: u32::from(node.flags.bits()),
            incarnation: node.incarnation.map_or(0, Incarnation::raw),
        }
    }
}

/// lnd_soft_node_get() - The node table's entry of a node.
/// @fabric: the fabric.
/// @node: the node's number.
/// @info: the caller sets its size; filled.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_ARGUMENT (no such node).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_node_get(
    fabric: *const lnd_soft_fabric,
    node: u32,
    info: *mut lnd_soft_node_info,
) -> lnd_error {
    let get = || {
        let fabric = given!(fabric_of(fabric))?;
        if node >= fabric.shape().nodes {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        given!(fill(info, lnd_soft_node_info::of(node, fabric.node(node))))
    };
    outcome(get())
}

/// lnd_soft_watch() - The next node whose state has changed since its last report to this node.
/// @node: the node; its own changes are not reported.
/// @info: the caller sets its size; filled with the other node's current state.
///
/// Call it when rung, and periodically, until LND_E_END. A node found dead or absent, or with
/// another incarnation, is down: call lnd_peer_event().
///
/// Context: any.
/// Return: LND_OK, LND_E_END (no change), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI,
/// LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_watch(
    node: *mut lnd_soft_node,
    info: *mut lnd_soft_node_info,
) -> lnd_error {
    let watch = || {
        let node = given!(object(node))?;
        // SAFETY: by the contract of the ABI. Checked first: a change that cannot be reported must
        // stay unseen.
        unsafe { input(info.cast_const()) }?;
        let mut watch = node.watch.enter()?;
        let mut notified = watch.next(&node.fabric);
        if notified.is_some_and(|(number, _)| number == node.number) {
            notified = watch.next(&node.fabric);
        }
        let (number, found) = notified.ok_or(lnd_error::LND_E_END)?;
        if number == node.number {
            return Err(lnd_error::LND_E_END);
        }
        given!(fill(info, lnd_soft_node_info::of(number, found)))
    };
    outcome(watch())
}

/// lnd_soft_declare_dead() - Declares a node dead.
/// @fabric: the fabric.
/// @node: the node's number.
/// @incarnation: the incarnation that has ended; 0: any.
/// @ring: where the set of nodes to ring is written, or NULL.
///
/// The caller has the proof that none of the node's engines accesses memory any more: its machine
/// is gone. A node that is already dead is no error.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT (no such node), LND_E_GONE (no
/// member has this node), LND_E_STALE (it has another incarnation).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_declare_dead(
    fabric: *const lnd_soft_fabric,
    node: u32,
    incarnation: u64,
    ring: *mut u64,
) -> lnd_error {
    let declare = || {
        let fabric = given!(fabric_of(fabric))?;
        fabric.declare_dead(node, Incarnation::from_raw(incarnation))?;
        let others = NodeSet::others(fabric.shape().nodes, node);
        given!(put_if(ring, others.bits()))
    };
    outcome(declare())
}

// `lnd_soft_state` has the numbers of the table's states.
const _: () = {
    use super::types::lnd_soft_state::*;
    assert!(LND_SOFT_ABSENT as u32 == NodeState::Absent as u32);
    assert!(LND_SOFT_JOINING as u32 == NodeState::Joining as u32);
    assert!(LND_SOFT_ALIVE as u32 == NodeState::Alive as u32);
    assert!(LND_SOFT_DEAD as u32 == NodeState::Dead as u32);
};
