// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the fabric's table says about a node that does not answer.

use lnd_core::id::{LinkId, Nid};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_sim::fabric::{nid_of, node_of, Fabric, NodeState};

const NOT_HERE: &str = "not present on this fabric";
/// So many nodes are named where one is not there.
const NAMED: usize = 8;

/// Why `to` cannot be reached from node `me` now; `None`: by the table it can.
pub(super) fn obstacle(fabric: &Fabric<'_>, me: u32, to: Nid) -> Option<String> {
    let Some(node) = node_of(to).filter(|node| *node < fabric.shape().nodes) else {
        return Some(no_route(fabric, to));
    };
    if node == me {
        return Some(itself(fabric, me, to));
    }
    // A process that was killed counts as alive until another has looked at its lock.
    fabric.probe_death(node);
    match fabric.state_of(node) {
        NodeState::Absent => return Some(format!("{to}: {NOT_HERE}; {}", present(fabric, me, to))),
        NodeState::Dead => {
            return Some(format!("{to}: {NOT_HERE} (it is dead); {}", present(fabric, me, to)));
        }
        NodeState::Joining => return Some(format!("{to}: not present yet: it is joining")),
        NodeState::Alive => {}
    }
    let (ours, theirs) = (links_up(fabric, me), links_up(fabric, node));
    if theirs == 0 {
        Some(format!("{to}: its links are down"))
    } else if ours == 0 {
        Some(format!("{to}: the links of {}, this node, are down", nid_of(me)))
    } else if ours & theirs == 0 {
        Some(format!("{to}: no route: no link is up at both ends"))
    } else {
        None
    }
}

/// Which nodes are there beside `me`; if there is none, how `to` comes to be there.
fn present(fabric: &Fabric<'_>, me: u32, to: Nid) -> String {
    let alive = |node: &u32| {
        *node != me && {
            fabric.probe_death(*node);
            fabric.state_of(*node) == NodeState::Alive
        }
    };
    let nids = (0..fabric.shape().nodes).filter(alive).map(|node| nid_of(node).to_string());
    let mut named: Vec<String> = nids.take(NAMED + 1).collect();
    if named.is_empty() {
        return format!("no other node is; `lnd node --me {to}` starts it");
    }
    if named.len() > NAMED {
        named[NAMED] = "…".into();
    }
    format!("present: {}", named.join(", "))
}

/// Why there is never a way from node `me` to `to`; `None`: it is another node of the fabric.
pub(super) fn stranger(fabric: &Fabric<'_>, me: u32, to: Nid) -> Option<String> {
    match node_of(to).filter(|node| *node < fabric.shape().nodes) {
        None => Some(no_route(fabric, to)),
        Some(node) => (node == me).then(|| itself(fabric, me, to)),
    }
}

/// A command takes any place that is free, and that of an absent node is.
fn itself(fabric: &Fabric<'_>, me: u32, to: Nid) -> String {
    format!("{to}: {NOT_HERE} but for this command; {}", present(fabric, me, to))
}

fn no_route(fabric: &Fabric<'_>, to: Nid) -> String {
    let last = nid_of(fabric.shape().nodes.saturating_sub(1));
    format!("{to}: no route: this fabric has the nodes {} to {last}", nid_of(0))
}

/// The links of a node that are up: bit `n` is link `n`.
fn links_up(fabric: &Fabric<'_>, node: u32) -> u32 {
    let is_up = |link: &LinkId| {
        fabric.link_memory(node, *link).is_ok_and(|memory| {
            LinkBits::from_bits_retain(memory.read(Register::Link)).contains(LinkBits::UP)
        })
    };
    fabric.links().filter(is_up).fold(0, |set, link| set | 1 << link.index())
}
