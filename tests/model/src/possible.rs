// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What can happen next.

use lnd_core::message::Lane;
use lnd_core::ports::{Returned, Sent};
use lnd_core::time::Instant;

use crate::action::{Action, Decision};
use crate::device::Run;
use crate::setup::Order;
use crate::world::World;

/// Deadlines that may pass while a link does not work.
const PATIENCE: u32 = 12;

impl<const SAFE_INVALIDATE: bool> World<'_, '_, SAFE_INVALIDATE> {
    pub(crate) fn next_order(&self, node: usize) -> Option<(usize, Order)> {
        let orders = self.setup.orders.iter().copied().enumerate();
        orders.skip(self.submitted[node]).find(|(_, order)| order.node == node)
    }

    /// What can happen without a fault: all of it happens in the end, unless something else makes
    /// it impossible.
    pub(crate) fn fair(&self) -> Vec<Action> {
        let fabric = self.fabric.borrow();
        let mut all = Vec::new();
        for node in 0..2 {
            let (place, host) = (&fabric.places[node], &self.nodes[node]);
            if place.unplugged {
                all.push(Action::Plug(node));
            }
            if host.paused {
                all.push(Action::Resume(node));
            }
            if self.next_order(node).is_some() {
                all.push(Action::Submit(node));
            }
            if !place.control.is_empty() {
                all.push(Action::Deliver(node, Lane::Control, Decision::Take));
            }
            if !place.requests.is_empty() && !self.nodes[1 - node].full {
                all.push(Action::Deliver(node, Lane::Request, Decision::Take));
            }
            if place.ends.iter().any(|end| end.sent.is_some()) {
                all.push(Action::Told(node));
            }
            if !host.kept.is_empty() {
                all.push(Action::Decide(node, Decision::Take));
            }
            for &slot in place.device.posted.keys() {
                let ways = fabric.returns(node, slot, false);
                all.extend(ways.into_iter().map(|way| Action::Return(node, slot, way)));
            }
            if !place.device.ring.is_empty() {
                all.push(Action::Interrupt(node));
            }
            if place.device.connection == Run::Stopping {
                all.push(Action::Disconnected(node));
            }
            if place.device.run == Run::Stopping {
                all.push(Action::Stopped(node));
            }
            if host.dirty {
                all.push(Action::OnTime(node));
            }
        }
        all.retain(|action| action.runs().is_none_or(|node| !self.nodes[node].paused));
        all
    }

    /// What can happen by a fault that is left.
    fn faulty(&self) -> Vec<Action> {
        let fabric = self.fabric.borrow();
        let (left, mut all) = (&self.left, Vec::new());
        for node in 0..2 {
            let place = &fabric.places[node];
            for (lane, queue) in [(Lane::Request, &place.requests), (Lane::Control, &place.control)]
            {
                if let Some(letter) = queue.front() {
                    let held = lane == Lane::Request && self.nodes[1 - node].full;
                    self.spoilt(&mut all, node, lane, letter.tag.is_some(), held);
                }
            }
            if left.refused > 0 && !self.nodes[node].kept.is_empty() {
                all.push(Action::Decide(node, Decision::Refuse));
            }
            for &slot in place.device.posted.keys() {
                let asked = fabric.returns(node, slot, false);
                let any = fabric.returns(node, slot, left.broken > 0);
                let own = any.into_iter().filter(|way| !asked.contains(way));
                all.extend(own.map(|way| Action::Return(node, slot, way)));
                if left.repeated > 0 && asked.contains(&Returned::Ok) {
                    all.push(Action::Repeat(node, slot));
                }
            }
            let host_open = u8::from(!self.nodes[node].open.is_empty());
            let notified = [
                (left.withdrawn[node].min(host_open), Action::Withdraw(node)),
                (left.peer_down[node], Action::PeerDown(node)),
                (left.link_down[node], Action::LinkDown(node)),
                (left.connection_down[node], Action::ConnectionDown(node)),
                (left.restarted[node], Action::Restarted(node)),
                (left.shutdown[node], Action::Shutdown(node)),
                (left.pause[node], Action::Pause(node)),
                (left.unplug[node], Action::Unplug(node)),
            ];
            all.extend(
                notified.into_iter().filter(|(left, _)| *left > 0).map(|(_, action)| action),
            );
        }
        all.retain(|action| action.runs().is_none_or(|node| !self.nodes[node].paused));
        all
    }

    fn spoilt(&self, all: &mut Vec<Action>, from: usize, lane: Lane, tagged: bool, held: bool) {
        let left = &self.left;
        if left.refused > 0 && lane == Lane::Request && !held {
            all.push(Action::Deliver(from, lane, Decision::Refuse));
        }
        if left.put_off > 0 && lane == Lane::Request && !held {
            all.push(Action::Deliver(from, lane, Decision::Later));
        }
        if left.twice > 0 && !held {
            all.push(Action::DeliverTwice(from, lane, Decision::Take));
        }
        if left.lost > 0 {
            all.push(Action::Lose(from, lane, Sent::NotDelivered));
            if tagged {
                all.push(Action::Lose(from, lane, Sent::Unknown));
            }
        }
        if left.unverified > 0 && tagged && !held {
            all.push(Action::Unverified(from, lane));
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let running = self.nodes.iter().filter(|node| !node.paused);
        running.filter_map(|n| n.next).min().filter(|&at| at != Instant::NEVER)
    }

    /// Whether only what ends by choice is left: a pause, or a link that does not work.
    pub(crate) fn only_waits(&self, fair: &[Action]) -> bool {
        let waits = |action: &Action| matches!(action, Action::Resume(_) | Action::Plug(_));
        // A link that never works again keeps its node asking for ever.
        let patient = self.ticks.saturating_sub(self.unplugged_at) < PATIENCE
            || !fair.iter().any(|action| matches!(action, Action::Plug(_)));
        patient && fair.iter().all(waits)
    }

    /// Everything that may happen next.
    pub fn actions(&self) -> Vec<Action> {
        let mut all = self.fair();
        let quiet = self.only_waits(&all);
        all.extend(self.faulty());
        let looked = self.nodes.iter().all(|node| !node.dirty || node.paused);
        if self.deadline().is_some() && looked && (quiet || self.left.slow > 0) {
            all.push(Action::Tick);
        }
        all
    }
}
