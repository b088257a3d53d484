// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The byzantine node's engines: hardware as every node's, told to do anything.

use lnd_core::id::{Incarnation, LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Completions, Engine, Motion};
use lnd_core::time::{Instant, Span};
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::SoftEngine;
use lnd_soft::{Join, JoinError, NodeFlags};

use super::Byzantine;
use crate::fabric::{nid_of, Bus, NodeNumbers};
use crate::simulator::adversary::Adversary;
use crate::simulator::device::Device;
use crate::simulator::event::Event;
use crate::simulator::fail::Violation;
use crate::world::defect::Wire;
use crate::world::faults::Own;
use crate::world::world::World;

/// One link.
pub struct EngineRef<'m> {
    device: Device<'m, Wire<'m>>,
    driver: MmioEngine<'m, LinkMemory<'m>, NodeNumbers>,
    completions: CompletionQueue<'m, LinkMemory<'m>>,
}

impl Byzantine<'_> {
    /// Posts a descriptor in any slot that is free; its tag.
    pub(super) fn post(&mut self, link: LinkId, motion: Motion, length: u32) -> Option<Tag> {
        let index = self.rng.below(u64::from(self.slots)) as u32;
        let tag = Tag { index, generation: self.rng.next() as u32 };
        let held = self.any_length().max(length).min(lnd_core::fragment::MAX_FRAGMENT);
        let memory = [self.any_memory(held)];
        let length = length.min(held);
        let wanted = self.rng.below(4) == 0;
        let engine_ref = self.engine_refs.get_mut(link.index())?;
        let posted =
            engine_ref.driver.post(&Bd { tag, motion, length, fragments: &memory, list: None });
        if posted.is_err() {
            // In use: it wants it back, and does not wait.
            if wanted {
                let own = engine_ref.device.memory.descriptor(index)?.own();
                let generation = u32::from(own.generation());
                engine_ref.driver.invalidate(Tag { index, generation });
            }
            return None;
        }
        engine_ref.driver.doorbell();
        self.tally.count("byzantine: descriptors");
        Some(tag)
    }

    /// Pulls from a node by a cookie that was meant for another, or for none.
    pub(super) fn pull_anything(&mut self, _now: Instant, to: u32, link: LinkId) {
        let (source, length) = (self.any_tag(), self.any_length());
        self.post(link, Motion::Pull { from: nid_of(to), source, key: Key::NONE }, length);
    }

    /// Takes all completions, and looks at none.
    pub(super) fn drain(&mut self) {
        for engine_ref in &mut self.engine_refs {
            while engine_ref.completions.pop().is_some() {}
        }
    }
}

impl<'m> World<'m> {
    /// An incarnation in the fabric, and an engine for each link. The memory oracle does not look
    /// at its own memory: there it may do what it wants.
    pub(super) fn take_place(
        &mut self,
        node: u32,
    ) -> Result<(Incarnation, Vec<EngineRef<'m>>), String> {
        let (fabric, setup) = (self.ground.fabric, &self.layer.setup);
        let (features, start) = (setup.features, setup.start);
        let random = self.rng.next() as u32;
        let join = Join { random, features, start, flags: NodeFlags(0) };
        let joining = fabric.claim(node, &join).map_err(|error| error.to_string())?;
        let place = joining.finish().map_err(|(error, joining): (JoinError, _)| {
            joining.abandon();
            error.to_string()
        })?;
        place.announce();
        let mut engine_refs = Vec::new();
        for link in self.layer.setup.all_links() {
            let memory = fabric.link_memory(node, link).map_err(|error| format!("{error:?}"))?;
            let wire = Wire::noting(Bus::new(fabric, self.ground.objections));
            let faults = self.layer.engine_faults.clone();
            let adversary = Adversary::new(self.rng.fork(), faults, self.tally.clone());
            let engine =
                SoftEngine::new(node, link, memory, wire, adversary, self.layer.setup.engine);
            engine_refs.push(EngineRef {
                device: Device::new(engine, memory),
                driver: MmioEngine::new(link, memory, memory, NodeNumbers),
                completions: CompletionQueue::new(memory, memory),
            });
        }
        Ok((place.incarnation(), engine_refs))
    }

    /// Has its engines work soon, if there is something to do.
    pub(in crate::world) fn kick_byzantine(&mut self) {
        let at = self.now.after(Span::from_nanos(200 + self.rng.below(10_000)));
        let Some(it) = self.layer.byzantine.as_mut() else { return };
        for (number, engine_ref) in it.engine_refs.iter_mut().enumerate() {
            let device = &mut engine_ref.device;
            let bells = device.bells();
            let event = device.engine_at.is_none() || device.heard != bells;
            let Some(link) = LinkId::new(number).filter(|_| event) else { continue };
            if device.has_work() && device.engine_at.is_none_or(|old| at < old) {
                device.heard = bells;
                device.engine_at = Some(at);
                self.queue.push(at, Event::Own(Own::Unlawful(link)));
            }
        }
    }

    /// One of its engines works. It reads nothing of an honest node that was not lent for a
    /// transfer with it.
    pub(in crate::world) fn byzantine_engine(
        &mut self,
        link: LinkId,
    ) -> Result<Option<u32>, Violation> {
        let now = self.now;
        let Some(it) = self.layer.byzantine.as_mut() else { return Ok(None) };
        let node = it.node;
        let Some(engine_ref) = it.engine_refs.get_mut(link.index()) else { return Ok(None) };
        let pace = self.layer.setup.pace();
        let device = &mut engine_ref.device;
        let Some(worked) = device.step(now, pace) else { return Ok(None) };
        let reads = device.engine.fabric_mut().reads();
        let objection = device.objection();
        if device.has_work() {
            let at = now.after(worked.pause);
            device.engine_at = Some(at);
            self.queue.push(at, Event::Own(Own::Unlawful(link)));
        }
        it.drain();
        for other in self.all().filter(|&other| other != node) {
            self.kick(other);
        }
        if let Some(what) = objection {
            return Err(Violation::at(node, what));
        }
        for (place, length) in reads {
            let host = self.hosts.get(place.node as usize);
            let Some(incarnation) = host.and_then(|host| host.incarnation.as_ref()) else {
                continue;
            };
            if !incarnation.node.lends_to(nid_of(node), place.address, length) {
                let what = format!(
                    "R76: {length} bytes at {:#x} were read by a node that they were not lent to",
                    place.address
                );
                return Err(Violation::at(place.node, what));
            }
        }
        Ok(Some(node))
    }
}
