// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The hardware of a pair in software: both engines of `lnd_dma::soft`, and the wires between them.
//! Who executes it is the board's business: another hart, or a low interrupt.

use core::ptr;

use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::{Instant, Span};
use lnd_dma::driver::Nodes;
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{BusAddress, BusFault, CompletionFault, Fabric, Faults, Settings, SoftEngine};

use crate::memory::Window;
use crate::node::{nid, LINK};

/// Bytes moved per step: a transfer of 64 KiB is under way for some time.
const CHUNK: u32 = 4096;

/// Where a node's engine stands.
const AT_WORK: u32 = 0;
const TO_DIE: u32 = 1;
const DEAD: u32 = 2;

/// What the board tells the hardware beside the registers. Context: any.
#[derive(Debug)]
pub struct Switches {
    incarnations: [AtomicU32; 2],
    /// Engines whose pulls are held up, a bit for each node.
    stalled: AtomicU32,
}

impl Switches {
    /// Both engines are at work.
    pub const fn new() -> Self {
        Self { incarnations: [const { AtomicU32::new(AT_WORK) }; 2], stalled: AtomicU32::new(0) }
    }

    /// Holds up a node's pulls, or lets them go on.
    pub fn stall(&self, node: u32, stalled: bool) {
        let bit = 1 << (node & 1);
        if stalled {
            // Release: partner is the Acquire in `Manners::chunk`.
            self.stalled.fetch_or(bit, Ordering::Release);
        } else {
            self.stalled.fetch_and(!bit, Ordering::Release);
        }
    }

    /// Asks a node's engine to stop for ever.
    pub fn kill(&self, node: u32) {
        if let Some(incarnation) = self.incarnations.get(node as usize) {
            // Release: partner is the Acquire in `Engines::step`.
            incarnation.store(TO_DIE, Ordering::Release);
        }
    }

    /// Whether a node's engine has stopped for ever: it touches nothing any more.
    pub fn is_dead(&self, node: u32) -> bool {
        // Acquire: partner is the Release in `Engines::step`; what the engine has moved is seen.
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

/// What the engines are connected to.
#[derive(Clone, Copy, Debug)]
pub struct Wires {
    /// The links' memories.
    pub memories: [LinkMemory<'static>; 2],
    /// The nodes' payload.
    pub windows: [Window; 2],
    /// What the board says.
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
        // SAFETY: both ranges are in their windows; payload is copied by address only, and while it
        // is lent to an engine its owner keeps away.
        unsafe { ptr::copy(source.as_ptr(), sink.as_ptr(), length as usize) };
        if cfg!(feature = "seed-corrupt") && length == CHUNK {
            // SAFETY: the first byte of the range above.
            unsafe { sink.as_ptr().write_volatile(0) };
        }
        Ok(())
    }
}

/// The hardware does what it should, but for a seeded defect.
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

/// What a step has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stepped {
    /// Nodes with new completions, a bit each: their interrupt is to be raised.
    pub completions: u32,
    /// Nodes that have died in this step, a bit each.
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
                    // What this engine did may be work for the other.
                    stepped.more |= progress.busy || progress.bytes > 0 || progress.completions > 0;
                }
                TO_DIE => {
                    // From here on it touches nothing. Release: partner is the Acquire in `is_dead`.
                    incarnation.store(DEAD, Ordering::Release);
                    stepped.died |= 1 << node;
                }
                _ => {}
            }
        }
        stepped
    }
}
