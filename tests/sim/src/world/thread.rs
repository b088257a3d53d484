// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The turns of a host's thread.

use lnd_core::time::Span;

use super::defect::Defect;
use super::incarnation::HostIncarnation;
use super::world::World;
use crate::fabric::node_of;
use crate::simulator::book::Book;
use crate::simulator::fail::Violation;
use crate::simulator::layer::Running;

/// Frames that a host takes out of a mailbox before it looks at another one.
const FRAMES: u32 = 16;

impl<'m> World<'m> {
    /// The node's thread: mailboxes, time, reports, the user's ears, and what there is to send.
    pub(super) fn thread(&mut self, node: u32) -> Result<Option<u32>, Violation> {
        let now = self.now;
        let Some(incarnation) = self.incarnation(node) else { return Ok(None) };
        if incarnation.turns.thread_at != Some(now) {
            return Ok(None);
        }
        incarnation.turns.thread_at = None;
        if let Some(until) = incarnation.stands_still(now) {
            self.run_thread_at(node, until);
            return Ok(None);
        }
        let budget = if self.layer.tracking.is_some() { FRAMES } else { u32::MAX };
        let waiting = self.layer.net.borrow().waiting(node);
        for lane in waiting {
            self.read(lane, budget);
        }
        let defect = self.layer.defect;
        let host = self.hosts.get_mut(node as usize);
        let Some(incarnation) = host.and_then(|host| host.incarnation.as_mut()) else {
            return Ok(None);
        };
        let ending = incarnation.ending.is_some();
        let kept = incarnation.node.decide_kept(now, ending);
        if defect != Some(Defect::NoClock) {
            let _ = incarnation.node.driver.on_time(now);
        }
        super::checks::report(incarnation, now, defect);
        let ears = |incarnation: &mut HostIncarnation<'m>, book: &mut Book| {
            incarnation.user.listen(&mut incarnation.node.lnet, book, ending)
        };
        ears(incarnation, &mut self.book).map_err(|what| Violation::at(node, what))?;
        incarnation.node.send_all(now);
        ears(incarnation, &mut self.book).map_err(|what| Violation::at(node, what))?;
        incarnation.node.driver.ring();
        // What was just sent has deadlines too: what `on_time` said would be too late for them.
        let next = match defect {
            Some(Defect::NoClock) => Some(now.after(Span::from_secs(3600))),
            _ => incarnation.node.driver.wake_up_at(now),
        };
        let offer = incarnation.waiting.offer_again(&mut incarnation.node.driver);
        let is_interrupted = self.layer.setup.preemptions > 0;
        let mut net = self.layer.net.borrow_mut();
        if let Some(nerve) = net.nerves.get_mut(&node).filter(|_| is_interrupted) {
            let driver = &incarnation.node.driver;
            let views = (0..driver.peers_known()).filter_map(|at| driver.peer_view(at));
            let known = views.filter_map(|view| node_of(view.nid).zip(Some(view.id)));
            nerve.peers.clear();
            nerve.peers.extend(known);
        }
        drop(net);
        if let Some(at) = [next, kept].into_iter().flatten().min() {
            let soonest = now.after(Span::from_nanos(100));
            self.run_thread_at(node, at.max(soonest));
        }
        if offer || self.has_unread(node) {
            self.wake(node);
        }
        self.end_if_quiescent(node)?;
        Ok(Some(node))
    }

    /// Whether a mailbox has frames that were not offered yet, or are to be offered again.
    fn has_unread(&mut self, node: u32) -> bool {
        let net = self.layer.net.clone();
        let Some(incarnation) = self.incarnation(node) else { return false };
        let unread = net.borrow().unread(node).any(|lane| !incarnation.waiting.holds(lane));
        unread
    }
}
