// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The hardware of a pair in software: both engines of `lnd_dma::soft`, and the wires between them.
//! The board chooses the context that executes it: another hart, or a low interrupt.

use core::ptr;

use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::{Instant, Span};
use lnd_dma::driver::Nodes;
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{BusAddress, BusFault, CompletionFault, Fabric, Faults, Settings, SoftEngine};

use crate::memory::Window;
use crate::node::{nid, LINK};

/// Bytes moved per step: a transfer of 64 KiB takes several steps.
const CHUNK: u32 = 4096;

/// The states of a node's engine.
const AT_WORK: u32 = 0;
const TO_DIE: u32 = 1;
const DEAD: u32 = 2;

/// The board's control of the hardware beside the registers. Context: any.
#[derive(Debug)]
pub struct Switches {
    incarnations: [AtomicU32; 2],
    /// Engines whose pulls are held, a bit for each node.
    stalled: AtomicU32,
}

impl Switches {
    /// Both engines run.
    pub const fn new() -> Self {
        Self { incarnations: [const { AtomicU32::new(AT_WORK) }; 2], stalled: AtomicU32::new(0) }
    }

    /// Holds a node's pulls, or lets them continue.
    pub fn stall(&self, node: u32, stalled: bool) {
        let bit = 1 << (node & 1);
        if stalled {
            // Release: partner is the Acquire in `Manners::chunk`.
            self.stalled.fetch_or(bit, Ordering::Release);
        } else {
            self.stalled.fetch_and(!bit, Ordering::Release);
        }
    }

    /// Requests that a node's engine stop for ever.
    pub fn kill(&self, node: u32) {
        if let Some(incarnation) = self.incarnations.get(node as usize) {
            // Release: partner is the Acquire in `Engines::step`.
            incarnation.store(TO_DIE, Ordering::Release);
        }
    }

    /// Whether a node's engine has stopped for ever: it accesses nothing any more.
    pub fn is_dead(&self, node: u32) -> bool {
        // Acquire: partner is the Release in `Engines::step`; the bytes that the engine has moved
        // are visible.
        self.incarnations
            .get(node as usize)
            .is_some_and(|incarnation| incarnation.load(Ordering::Acquire) == DEAD)
    }
}

impl Default for Switches {
    fn default() -> Self {
        Self::new()
    }
}

/// The fabric's numbers of the two nodes.
#[derive(Clone, Copy, Debug)]
pub struct Numbers;

impl Nodes for Numbers {
    fn node_of(&self, of: Nid) -> Option<u32> {
        (0..2).find(|&number| nid(number) == of)
    }
}

/// The connections of the engines.
#[derive(Clone, Copy, Debug)]
pub struct Wires {
    /// The links' memories.
    pub memories: [LinkMemory<'static>; 2],
    /// The nodes' payload.
    pub windows: [Window; 2],
    /// The board's switches.
    pub switches: &'static Switches,
}

impl Fabric<'static> for Wires {
    fn memory_of(&self, node: u32, link: LinkId) -> Option<LinkMemory<'static>> {
        self.memories.get(node as usize).copied().filter(|_| link == LINK)
    }

    fn alive(&self, node: u32) -> bool {
        !self.switches.is_dead(node)
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        let window = |node: u32| self.windows.get(node as usize).ok_or(BusFault);
        let source = window(from.node)?.place(from.address, length).ok_or(BusFault)?;
        let sink = window(to.node)?.place(to.address, length).ok_or(BusFault)?;
        // SAFETY: both ranges are in their windows. Payload is copied by address only, and its
        // owner does not access it while it is lent to an engine.
        unsafe { ptr::copy(source.as_ptr(), sink.as_ptr(), length as usize) };
        if cfg!(feature = "seed-corrupt") && length == CHUNK {
            // SAFETY: the first byte of the range above.
            unsafe { sink.as_ptr().write_volatile(0) };
        }
        Ok(())
    }
}

/// The hardware without faults, except for a seeded defect.
#[derive(Debug)]
struct Manners {
    node: u32,
    switches: &'static Switches,
    completions: u32,
}

impl Faults for Manners {
    fn chunk(&mut self, chunk: u32) -> u32 {
        // Acquire: partner is the Release in `stall`.
        let stalled = self.switches.stalled.load(Ordering::Acquire) & (1 << self.node) != 0;
        if stalled {
            0
        } else {
            chunk
        }
    }

    fn completion(&mut self, _: Tag) -> CompletionFault {
        self.completions = self.completions.wrapping_add(1);
        if cfg!(feature = "seed-lost") && self.completions == 9 {
            return CompletionFault::Lose;
        }
        CompletionFault::Deliver
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stepped {
    /// Nodes with new completions, a bit each: their interrupt must be raised.
    pub completions: u32,
    /// Nodes whose engine has stopped for ever in this step, a bit each.
    pub died: u32,
    /// Step again soon.
    pub more: bool,
}

/// Both engines.
#[derive(Debug)]
pub struct Engines {
    engines: [SoftEngine<'static, Wires, Manners>; 2],
    switches: &'static Switches,
}

impl Engines {
    /// The engines on their wires.
    pub fn new(wires: Wires) -> Self {
        let settings = Settings { chunk: CHUNK, retry_bound: Span::from_millis(20) };
        let switches = wires.switches;
        let engine = |node: u32, memory: LinkMemory<'static>| {
            let manners = Manners { node, switches, completions: 0 };
            SoftEngine::new(node, LINK, memory, wires, manners, settings)
        };
        let [a, b] = wires.memories;
        Self { engines: [engine(0, a), engine(1, b)], switches }
    }

    /// One step of each engine that is alive. Context: the hardware's.
    pub fn step(&mut self, now: Instant) -> Stepped {
        let mut stepped = Stepped::default();
        for (node, (engine, incarnation)) in
            self.engines.iter_mut().zip(&self.switches.incarnations).enumerate()
        {
            match incarnation.load(Ordering::Acquire) {
                AT_WORK => {
                    let progress = engine.step(now, 16);
                    if progress.completions > 0 {
                        stepped.completions |= 1 << node;
                    }
                    // This engine's step may be work for the other.
                    stepped.more |= progress.busy || progress.bytes > 0 || progress.completions > 0;
                }
                TO_DIE => {
                    // From now on it accesses nothing. Release: partner is the Acquire in
                    // `is_dead`.
                    incarnation.store(DEAD, Ordering::Release);
                    stepped.died |= 1 << node;
                }
                _ => {}
            }
        }
        stepped
    }
}
