// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Faults on demand, register accesses on record, numbers from a seed.

use std::collections::VecDeque;
use std::sync::Mutex;

use lnd_core::id::{Nid, Tag};
use lnd_core::time::Instant;
use lnd_dma::driver::Nodes;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};
use lnd_dma::soft::{CompletionFault, Faults};

/// Faults that a test turns on.
#[derive(Default)]
pub struct Script<'p> {
    /// Results of the next completions; afterwards all are delivered.
    pub completion_faults: VecDeque<CompletionFault>,
    /// How many looks at an invalidation are missed.
    pub overlook: u32,
    /// Nothing happens before.
    pub stalled_until: Instant,
    /// Bytes per chunk, if not all.
    pub chunk: Option<u32>,
    /// A refused remote read is the engine's last deed.
    pub fragile: bool,
    /// What another node does while the next invalidation is looked at.
    pub during_invalidate: Option<Box<dyn FnOnce() + 'p>>,
    /// What the other node does right after the next claim.
    pub after_claim: Option<Box<dyn FnOnce() + 'p>>,
}

impl Faults for Script<'_> {
    fn stalls(&mut self, now: Instant) -> bool {
        now < self.stalled_until
    }

    fn completion(&mut self, _tag: Tag) -> CompletionFault {
        self.completion_faults.pop_front().unwrap_or(CompletionFault::Deliver)
    }

    fn overlooks_invalidate(&mut self, _tag: Tag) -> bool {
        if let Some(happens) = self.during_invalidate.take() {
            happens();
        }
        let overlooked = self.overlook > 0;
        self.overlook = self.overlook.saturating_sub(1);
        overlooked
    }

    fn claimed(&mut self, _source: Tag) {
        if let Some(happens) = self.after_claim.take() {
            happens();
        }
    }

    fn bad_read_breaks(&mut self) -> bool {
        self.fragile
    }

    fn chunk(&mut self, chunk: u32) -> u32 {
        self.chunk.map_or(chunk, |c| c.min(chunk))
    }
}

/// Registers in memory whose writes are noted.
#[derive(Clone, Copy)]
pub struct Logged<'p> {
    pub memory: LinkMemory<'p>,
    pub log: &'p Mutex<Vec<(Register, u32)>>,
}

impl RegisterAccess for Logged<'_> {
    fn read(&self, register: Register) -> u32 {
        self.memory.read(register)
    }

    fn write(&self, register: Register, value: u32) {
        self.log.lock().unwrap().push((register, value));
        self.memory.write(register, value);
    }
}

/// Node `n` has the NID `n + 1`.
#[derive(Clone, Copy, Debug)]
pub struct Numbers;

impl Nodes for Numbers {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        u32::try_from(nid.raw() - 1).ok().filter(|&node| node < 1000)
    }
}

pub fn nid(node: u32) -> Nid {
    Nid::from_raw(u64::from(node) + 1).unwrap()
}

/// Numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `0..bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.next().to_le_bytes()[..piece.len()]);
        }
        bytes
    }

    /// Random pieces, each `1..=most`, that add up to `total`.
    pub fn split(&mut self, total: u32, most: u32) -> Vec<u32> {
        let mut pieces = Vec::new();
        let mut left = total;
        while left > 0 {
            let piece = (1 + self.below(most)).min(left);
            pieces.push(piece);
            left -= piece;
        }
        pieces
    }
}
