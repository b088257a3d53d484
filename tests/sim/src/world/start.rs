// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A host of this kind starts, and ends in good order.

use std::rc::Rc;

use lnd_core::driver::{Identity, Interrupt, RunState};
use lnd_core::id::{LinkId, Nid};
use lnd_core::time::{Instant, Span};
use lnd_dma::driver::CompletionQueue;
use lnd_dma::regs::{ControlBits, Register, RegisterAccess};
use lnd_dma::soft::SoftEngine;

use super::defect::{Defect, Wire};
use super::incarnation::{Ending, HostIncarnation, Port};
use super::world::World;
use crate::fabric::{nid_of, Bus, Membership, MemoryWindow};
use crate::lnet::{AckPolicy, Config, Lnet, Routes};
use crate::node::{Keeping, Node, Parts, Registers};
use crate::simulator::adversary::Adversary;
use crate::simulator::channel::VirtualChannel;
use crate::simulator::device::Device;
use crate::simulator::event::Fault;
use crate::simulator::fail::Violation;
use crate::simulator::layer::Turns;
use crate::simulator::network::Nerve;
use crate::simulator::user::User;
use crate::simulator::waiting::Waiting;

impl<'m> World<'m> {
    /// A node begins an incarnation.
    pub(super) fn new_incarnation(&mut self, node: u32) -> Result<HostIncarnation<'m>, String> {
        let (features, start) = (self.layer.setup.features, self.layer.setup.start);
        let random = match (start, self.hosts.get(node as usize)) {
            (0, _) | (_, None) => self.rng.next() as u32,
            (_, Some(host)) => wrapping_soon(host.incarnations + 1, self.rng.below(40) as u32),
        };
        let membership = self
            .ground
            .fabric
            .join_with(node, random, features, start)
            .map_err(|error| error.to_string())?;
        if start != 0 {
            self.begin_rounds_late(node, start);
        }
        for link in self.layer.net.borrow().links_down(node) {
            self.ground.fabric.set_link(node, link, false);
        }
        let incarnation = self.incarnation_of(node, membership)?;
        incarnation.membership.announce();
        Ok(incarnation)
    }

    /// The rounds of a node's links begin a few stops before they wrap.
    fn begin_rounds_late(&self, node: u32, start: u32) {
        let links = self.layer.setup.all_links();
        for memory in links.filter_map(|link| self.ground.fabric.link_memory(node, link).ok()) {
            let control = ControlBits(memory.read(Register::Control));
            let round = u32::from(u16::MAX) - start % 4;
            memory.write(Register::Control, control.in_round(round).bits());
        }
    }

    fn incarnation_of(
        &mut self,
        node: u32,
        membership: Membership<'m>,
    ) -> Result<HostIncarnation<'m>, String> {
        let ground = self.ground;
        let window = MemoryWindow::new(ground.fabric, node);
        let mut user = User::new(node, window, self.rng.fork(), self.layer.setup.habits(node));
        let lnet = self.new_lnet(node, &mut user)?;
        let recorder = match self.hosts.get(node as usize) {
            Some(host) => host.recorder.clone(),
            None => return Err("no such node".into()),
        };
        let parts = Parts {
            node,
            me: Identity { nid: nid_of(node), incarnation: membership.incarnation() },
            config: self.layer.setup.config,
            channel: VirtualChannel::new(node, self.layer.setup.frame, self.layer.net.clone()),
            tracer: recorder,
            lnet,
            timeout: self.layer.setup.timeout,
        };
        let mut incarnation = HostIncarnation {
            node: Node::new(ground.arena, ground.fabric, parts).map_err(|e| format!("{e:?}"))?,
            membership,
            ports: Vec::new(),
            waiting: Waiting::default(),
            user,
            counters: Rc::default(),
            turns: Turns::default(),
            frozen: Instant::ORIGIN,
            paused: Instant::ORIGIN,
            ending: None,
        };
        incarnation.node.trusting = self.layer.defect == Some(Defect::AnySender);
        self.begin_tracking(node, &mut incarnation);
        incarnation.user.furnish(&mut incarnation.node.lnet);
        let nerve = Nerve {
            irq_handle: incarnation.node.driver.irq_handle(),
            peers: Vec::new(),
            recorder: incarnation.node.driver.tracer_mut().clone(),
            counters: incarnation.counters.clone(),
        };
        self.layer.net.borrow_mut().nerves.insert(node, nerve);
        for link in self.layer.setup.all_links() {
            let port = self.new_port(node, link, &incarnation)?;
            incarnation.ports.push(port);
        }
        Ok(incarnation)
    }

    fn new_port(
        &mut self,
        node: u32,
        link: LinkId,
        incarnation: &HostIncarnation<'m>,
    ) -> Result<Port<'m>, String> {
        let fabric = self.ground.fabric;
        let memory = fabric.link_memory(node, link).map_err(|error| format!("{error:?}"))?;
        let wire = Wire::new(Bus::new(fabric, self.ground.objections), self.layer.defect);
        let faults = self.layer.engine_faults.clone();
        let adversary = Adversary::new(self.rng.fork(), faults, self.tally.clone());
        let blank = incarnation.node.blank.get(link.index()).cloned().unwrap_or_default();
        let queue = CompletionQueue::new(Registers::new(memory, blank), memory);
        let engine = SoftEngine::new(node, link, memory, wire, adversary, self.layer.setup.engine);
        let interrupt = Interrupt::new(incarnation.node.driver.irq_handle(), queue);
        Ok(Port::new(Device::new(engine, memory), interrupt))
    }

    fn new_lnet(&mut self, node: u32, user: &mut User<'m>) -> Result<Lnet, String> {
        let far = self.layer.setup.far(node);
        let routes = far.fold(Routes::default(), |r, other| r.with(nid_of(other), nid_of(1)));
        let by_event = self.rng.below(2) == 0;
        let config = Config {
            first_generation: self.rng.next() as u32,
            acks: if by_event { AckPolicy::ByEvent } else { AckPolicy::Auto },
            routes,
            router: (self.layer.setup.routed && node == 1).then(|| user.router()),
            symmetric: true,
            max_requests: self.rng.between(4, 40) as usize,
            max_messages: self.rng.between(24, 200) as usize,
            ..Config::new(self.nid(node))
        };
        Lnet::new(config).map_err(|error| format!("{error:?}"))
    }

    fn nid(&self, node: u32) -> Nid {
        nid_of(node)
    }

    /// A node's messages are followed from end to end, and some of its requests are kept.
    fn begin_tracking(&mut self, node: u32, incarnation: &mut HostIncarnation<'m>) {
        let Some(oracle) = &self.layer.tracking else { return };
        oracle.borrow_mut().incarnations(node, Some(incarnation.membership.incarnation()));
        incarnation.node.tracking = Some(oracle.clone());
        let rng = self.layer.host_rng.fork();
        incarnation.node.keeping = Some(Keeping { rates: self.layer.keep_rates.clone(), rng });
    }

    /// A node begins to shut down in good order. `away`: it comes back after that time.
    pub(super) fn begin_to_end(&mut self, node: u32, grace: Span, away: Option<Span>) {
        let (now, patience) = (self.now, self.layer.setup.patience());
        let Some(incarnation) = self.incarnation(node) else { return };
        if incarnation.ending.is_some() {
            return;
        }
        incarnation.ending = Some(Ending { bound: now.after(grace).after(patience), away });
        incarnation.node.lnet.shut_down();
        incarnation.user.give_up(&mut incarnation.node.lnet, now, true);
        incarnation.node.driver.shutdown(now, now.after(grace));
        self.wake(node);
    }

    /// Lets a node go that has shut down.
    pub(super) fn end_if_quiescent(&mut self, node: u32) -> Result<(), Violation> {
        let now = self.now;
        let Some(incarnation) = self.incarnation(node) else { return Ok(()) };
        let Some(ending) = incarnation.ending else { return Ok(()) };
        let quiescent = incarnation.node.driver.run_state() == RunState::Quiescent;
        if !(quiescent && incarnation.node.lnet.idle() && incarnation.user.offered() == 0) {
            if now <= ending.bound {
                return Ok(());
            }
            let what =
                format!("INV-15: shutdown does not end: {}", super::checks::blockers(incarnation));
            return Err(Violation::at(node, what));
        }
        super::checks::clean(incarnation).map_err(|what| Violation::at(node, what))?;
        let leases = self.ground.fabric.oracle().outstanding(node);
        if leases > 0 {
            let what = format!("INV-15: {leases} pages are still lent after the shutdown");
            return Err(Violation::at(node, what));
        }
        if let Some(incarnation) = self.mark_dead(node) {
            incarnation.membership.leave();
        }
        if let Some(away) = ending.away {
            self.later(away, Fault::Restart(node));
        }
        Ok(())
    }
}

/// The random half of an incarnation whose tags have `left` generations before they wrap. A
/// driver's first generation is the upper half of its incarnation times an odd constant; this is
/// the way back. `count` is the lower half: how many incarnations the node has begun, this one
/// included.
const fn wrapping_soon(count: u32, left: u32) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let odd = FACTOR as u32;
    // Newton's iteration: each round doubles the bits that are right.
    let mut inverse = odd;
    let mut round = 0;
    while round < 5 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    let carried = ((count as u64).wrapping_mul(FACTOR) >> 32) as u32;
    (u32::MAX - left).wrapping_sub(carried).wrapping_mul(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_begin_just_before_the_wrap() {
        for (count, left) in [(1, 0), (1, 39), (2, 7), (77, 20)] {
            let incarnation = u64::from(wrapping_soon(count, left)) << 32 | u64::from(count);
            let first = (incarnation.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
            assert_eq!(first, u32::MAX - left);
        }
    }
}
