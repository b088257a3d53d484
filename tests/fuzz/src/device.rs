// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The MMIO driver and the software engine over memory in which anybody writes anything: completion
//! entries, registers, descriptors, rings, lists and bitmaps.

use std::ptr::NonNull;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::ports::{Bd, Completions, Engine, Motion, PostError};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::{Instant, Span};
use lnd_dma::descriptor::State;
use lnd_dma::driver::{CompletionQueue, MmioEngine, Nodes};
use lnd_dma::memory::{Geometry, LinkMemory};
use lnd_dma::regs::{Control, LinkBits, Register, RegisterAccess, Status};
use lnd_dma::soft::{BusFault, Fabric, NoFaults, Place, Settings, SoftEngine};
use lnd_shortmsg::mailbox::Line;

const NODES: usize = 2;
const GEOMETRY: Geometry = Geometry { descriptors: 6, lists: 2 };
/// Where each node's payload begins, and how long it is.
const WINDOW: (u64, u64) = (0x1_0000, 4096);

#[derive(Arbitrary, Debug)]
enum Op {
    Post {
        slot: u8,
        generation: u8,
        pull: bool,
        list: Option<u8>,
        pieces: u8,
        length: u16,
    },
    Doorbell,
    Invalidate {
        slot: u8,
        generation: u8,
    },
    Stop,
    Quiesced,
    Yank {
        slot: u8,
        generation: u8,
    },
    Reset,
    /// A well-formed entry with any content at the ring's tail.
    Complete {
        slot: u32,
        generation: u32,
        status: u32,
    },
    Pop,
    /// Any word of node 0's or node 1's link memory.
    Write {
        node: bool,
        word: u16,
        value: u32,
    },
    /// A value that leads further in: small numbers, own words, near the wrap.
    WriteKnown {
        node: bool,
        word: u16,
        value: u8,
        shift: u8,
    },
    Link(bool),
    /// The engines work.
    Step {
        node: bool,
        budget: u8,
        micros: u16,
    },
}

struct Numbers;

impl Nodes for Numbers {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        Some((nid.raw() - 1) as u32)
    }
}

#[derive(Clone)]
struct Bus<'m> {
    memories: [LinkMemory<'m>; NODES],
    payloads: [Vec<u8>; NODES],
}

impl Bus<'_> {
    /// The bounds are this function's own: an engine that asks for more gets a fault.
    fn range(place: Place, length: u32) -> Option<std::ops::Range<usize>> {
        let from = place.address.checked_sub(WINDOW.0)?;
        let to = from.checked_add(u64::from(length)).filter(|&to| to <= WINDOW.1)?;
        ((place.node as usize) < NODES).then_some(from as usize..to as usize)
    }
}

impl<'m> Fabric<'m> for Bus<'m> {
    fn memory_of(&self, node: u32, _link: LinkId) -> Option<LinkMemory<'m>> {
        self.memories.get(node as usize).copied()
    }

    fn alive(&self, _node: u32) -> bool {
        true
    }

    fn copy(&mut self, from: Place, to: Place, length: u32) -> Result<(), BusFault> {
        let source = Self::range(from, length).ok_or(BusFault)?;
        let sink = Self::range(to, length).ok_or(BusFault)?;
        let bytes = self.payloads[from.node as usize][source].to_vec();
        self.payloads[to.node as usize][sink].copy_from_slice(&bytes);
        Ok(())
    }
}

struct Plant<'m> {
    memories: [LinkMemory<'m>; NODES],
    bases: [NonNull<u8>; NODES],
    driver: MmioEngine<'m, LinkMemory<'m>, Numbers>,
    queue: CompletionQueue<'m, LinkMemory<'m>>,
    engines: [SoftEngine<'m, Bus<'m>, NoFaults>; NODES],
    proof: Option<Quiesced>,
    now: Instant,
}

/// INV-3, INV-10, R77: no panic, no access outside of memory, bounded work; a proof only if the
/// registers say so; no index beyond the table is ever passed on.
pub fn device(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let start = u32::arbitrary(&mut input).unwrap_or(0);
    let lines = GEOMETRY.bytes_needed().div_ceil(64);
    let mut blocks = [vec![Line::ZERO; lines], vec![Line::ZERO; lines]];
    let bases = blocks.each_mut().map(|block| NonNull::from(block.as_mut_slice()).cast::<u8>());
    let mut plant = Plant::new(bases, lines * 64, start);
    while let Ok(op) = Op::arbitrary(&mut input) {
        plant.apply(&op);
        if input.is_empty() {
            break;
        }
    }
}

impl<'m> Plant<'m> {
    fn new(bases: [NonNull<u8>; NODES], bytes: usize, start: u32) -> Self {
        let link = LinkId::new(0).expect("there is a first link");
        let mut node = 0;
        let memories = bases.map(|base| {
            node += 1;
            // SAFETY: the block outlives the plant and is accessed by words only; no engine runs.
            unsafe { LinkMemory::format(base, bytes, GEOMETRY, node - 1, 0, start) }
                .expect("the block is large enough")
        });
        memories.iter().for_each(|memory| memory.write(Register::Link, LinkBits::UP.bits()));
        let bus = Bus { memories, payloads: [vec![1; 4096], vec![2; 4096]] };
        let settings = Settings { chunk: 512, retry_bound: Span::from_millis(1) };
        let engine = |node: usize| {
            SoftEngine::new(node as u32, link, memories[node], bus.clone(), NoFaults, settings)
        };
        Self {
            memories,
            bases,
            driver: MmioEngine::new(link, memories[0], memories[0], Numbers),
            queue: CompletionQueue::new(memories[0], memories[0]),
            engines: [engine(0), engine(1)],
            proof: None,
            now: Instant::ORIGIN,
        }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Post { slot, generation, pull, list, pieces, length } => {
                self.post(tag(slot, generation), pull, list, pieces, length);
            }
            Op::Doorbell => self.driver.doorbell(),
            Op::Invalidate { slot, generation } => self.driver.invalidate(tag(slot, generation)),
            Op::Stop => self.driver.stop(),
            Op::Quiesced => self.quiesced(),
            Op::Yank { slot, generation } => {
                if let Some(proof) = &self.proof {
                    self.driver.yank(tag(slot, generation), proof);
                }
            }
            Op::Reset => {
                if let Some(proof) = self.proof.take() {
                    self.driver.reset(proof);
                }
            }
            Op::Complete { slot, generation, status } => self.complete(slot, generation, status),
            Op::Pop => self.pop_all(),
            Op::Write { node, word, value } => self.set(node, word, value),
            Op::WriteKnown { node, word, value, shift } => {
                self.set(node, word, u32::from(value).rotate_left(u32::from(shift)));
            }
            Op::Link(up) => {
                let bits = if up { LinkBits::UP.bits() } else { 0 };
                self.memories[0].write(Register::Link, bits);
            }
            Op::Step { node, budget, micros } => {
                self.now = self.now.after(Span::from_micros(u64::from(micros)));
                let progress = self.engines[usize::from(node)].step(self.now, u32::from(budget));
                let most = u32::from(budget) * 2 + 64;
                assert!(progress.completions <= most, "{} completions", progress.completions);
            }
        }
        let _ = (self.driver.link_up(), self.driver.features(), self.queue.is_empty());
    }

    fn post(&mut self, tag: Tag, pull: bool, list: Option<u8>, pieces: u8, length: u16) {
        let fragment = |n| Fragment::new(WINDOW.0 + u64::from(n) * 300, 1 + u32::from(n) * 40);
        let fragments: Vec<_> = (0..pieces % 5).map(fragment).collect();
        let peer = Nid::from_raw(2).expect("not zero");
        let motion = if pull {
            Motion::Pull { from: peer, source: Tag { index: tag.index, generation: 1 } }
        } else {
            Motion::Stage { to: peer }
        };
        let own = self.memories[0].descriptor(tag.index).map(|descriptor| descriptor.own());
        let list = list.map(u16::from);
        let bd = Bd { tag, motion, length: u32::from(length), fragments: &fragments, list };
        let posted = self.driver.post(&bd);
        match own {
            None => assert_eq!(posted, Err(PostError::Invalid), "beyond the table"),
            Some(own) if own.is(State::Owned) || own.is(State::Busy) => {
                assert_eq!(posted, Err(PostError::Busy), "R17: the device still has it");
            }
            Some(_) => assert_ne!(posted, Err(PostError::Busy)),
        }
    }

    fn quiesced(&mut self) {
        let control = Control::from_bits_retain(self.memories[0].read(Register::Control));
        let status = Status::from_bits_retain(self.memories[0].read(Register::Status));
        let says_so = control.contains(Control::STOP)
            && status.contains(Status::STOPPED)
            && control.round() == status.round();
        let proof = self.driver.quiesced();
        assert_eq!(proof.is_some(), says_so, "INV-3");
        self.proof = proof;
    }

    fn complete(&self, slot: u32, generation: u32, status: u32) {
        let memory = &self.memories[0];
        let tail = memory.read(Register::CompletionHead);
        let entry = memory.completion(tail);
        entry.index.store(slot, Ordering::Relaxed);
        entry.generation.store(generation, Ordering::Relaxed);
        entry.status.store(status, Ordering::Relaxed);
        entry.sequence.store(tail.wrapping_add(1), Ordering::Release);
    }

    fn pop_all(&mut self) {
        // Every entry is given at most once: its sequence word fits one lap only.
        for _ in 0..=GEOMETRY.ring() {
            let Some(completion) = self.queue.pop() else { return };
            assert!(completion.tag.index < GEOMETRY.descriptors, "{completion:?}");
        }
        panic!("more completions than the ring holds");
    }

    fn set(&self, node: bool, word: u16, value: u32) {
        let words = GEOMETRY.bytes_needed() / 4;
        // The lists are long and dull: most writes go to what lies before them.
        let at = usize::from(word) % if word & 0x8000 == 0 { words.min(256) } else { words };
        // SAFETY: within the block.
        let place = unsafe { self.bases[usize::from(node)].cast::<AtomicU32>().add(at) };
        // SAFETY: aligned and alive; an atomic is valid for every bit pattern.
        unsafe { place.as_ref() }.store(value, Ordering::Relaxed);
    }
}

fn tag(slot: u8, generation: u8) -> Tag {
    // One beyond the table is possible.
    Tag { index: u32::from(slot) % (GEOMETRY.descriptors + 1), generation: u32::from(generation) }
}
