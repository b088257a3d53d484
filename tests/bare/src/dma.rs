// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-dma`: the register driver over foreign registers, and the software engine.

use core::ptr::NonNull;

use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::ports::{Bd, Completion, Completions, Engine, PostError, Returned};
use lnd_core::time::Instant;
use lnd_dma::driver::{CompletionQueue, MmioEngine, Nodes};
use lnd_dma::memory::{LayoutError, LinkGeometry, LinkMemory};
use lnd_dma::regs::{Register, RegisterAccess};
use lnd_dma::soft::{
    BusAddress, BusFault, CompletionFault, Fabric, Faults, Progress, Settings, SoftEngine,
};

use crate::ports::{ask, show, yes, Foreign};

impl RegisterAccess for Foreign {
    fn read(&self, register: Register) -> u32 {
        show(&register);
        ask() as u32
    }

    fn write(&self, register: Register, value: u32) {
        show(&(register, value));
    }
}

impl Nodes for Foreign {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        show(&nid);
        u32::try_from(ask()).ok()
    }
}

impl<'m> Fabric<'m> for Foreign {
    fn memory_of(&self, node: u32, link: LinkId) -> Option<LinkMemory<'m>> {
        show(&(node, link));
        let base = NonNull::new(ask() as *mut u8)?;
        // SAFETY: linked for inspection, never run.
        unsafe { LinkMemory::attach(base, ask() as usize) }.ok()
    }

    fn alive(&self, node: u32) -> bool {
        show(&node);
        yes()
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        show(&(from, to, length));
        yes().then_some(()).ok_or(BusFault)
    }
}

impl Faults for Foreign {
    fn stalls(&mut self, _: Instant) -> bool {
        yes()
    }

    fn completion(&mut self, tag: Tag) -> CompletionFault {
        show(&tag);
        match ask() {
            0 => CompletionFault::Deliver,
            1 => CompletionFault::Lose,
            2 => CompletionFault::Twice,
            3 => CompletionFault::Garble,
            n => CompletionFault::Hold(Instant::from_nanos(n)),
        }
    }

    fn chunk(&mut self, _: u32) -> u32 {
        ask() as u32
    }
}

type Mmio<'m> = MmioEngine<'m, Foreign, Foreign>;
type Soft<'m> = SoftEngine<'m, Foreign, Foreign>;

#[no_mangle]
pub fn lnd_bare_dma_format(
    base: NonNull<u8>,
    len: usize,
    geometry: LinkGeometry,
    start: u32,
) -> Result<LinkMemory<'static>, LayoutError> {
    // SAFETY: linked for inspection, never run.
    unsafe { LinkMemory::format(base, len, geometry, 0, 0, start) }
}

#[no_mangle]
pub fn lnd_bare_dma_attach(
    base: NonNull<u8>,
    len: usize,
) -> Result<LinkMemory<'static>, LayoutError> {
    // SAFETY: linked for inspection, never run.
    unsafe { LinkMemory::attach(base, len) }
}

#[no_mangle]
pub fn lnd_bare_dma_new(link: LinkId, memory: LinkMemory<'_>) -> Mmio<'_> {
    MmioEngine::new(link, Foreign, memory, Foreign)
}

#[no_mangle]
pub fn lnd_bare_dma_post(engine: &mut Mmio<'_>, bd: &Bd<'_>) -> Result<(), PostError> {
    engine.post(bd)
}

#[no_mangle]
pub fn lnd_bare_dma_doorbell(engine: &mut Mmio<'_>) {
    engine.doorbell();
}

#[no_mangle]
pub fn lnd_bare_dma_invalidate(engine: &mut Mmio<'_>, tag: Tag) {
    engine.invalidate(tag);
}

#[no_mangle]
pub fn lnd_bare_dma_stop(engine: &mut Mmio<'_>) -> Option<Quiesced> {
    engine.stop();
    engine.quiesced()
}

#[no_mangle]
pub fn lnd_bare_dma_reclaim(engine: &mut Mmio<'_>, tag: Tag, proof: &Quiesced) -> Option<Returned> {
    engine.reclaim(tag, proof)
}

#[no_mangle]
pub fn lnd_bare_dma_reset(engine: &mut Mmio<'_>, proof: Quiesced) -> bool {
    engine.reset(proof);
    engine.link_up()
}

#[no_mangle]
pub fn lnd_bare_dma_pop(queue: &mut CompletionQueue<'_, Foreign>) -> Option<Completion> {
    queue.pop()
}

#[no_mangle]
pub fn lnd_bare_dma_soft_new(
    node: u32,
    link: LinkId,
    memory: LinkMemory<'_>,
    settings: Settings,
) -> Soft<'_> {
    SoftEngine::new(node, link, memory, Foreign, Foreign, settings)
}

#[no_mangle]
pub fn lnd_bare_dma_soft_step(engine: &mut Soft<'_>, now: Instant, budget: u32) -> Progress {
    engine.step(now, budget)
}
