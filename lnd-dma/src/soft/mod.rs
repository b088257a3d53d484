// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The engine in software: executes the registers of one link and moves real bytes.
//!
//! [`SoftEngine::step`] does a bounded piece of work and returns. Its caller determines what the
//! engine is: a thread at full speed, a kernel thread, or a simulator in virtual time whose
//! [`Faults`] make it an adversary. One step does, in this order:
//!
//! 1. reset and stop (`stop.rs`): a stopped engine holds nothing, and no engine holds its memory;
//! 2. cuts (`part.rs`): the same for the connections with single nodes;
//! 3. invalidations (`invalidate.rs`): descriptors that the driver has invalidated;
//! 4. returns (`returns.rs`): staged descriptors that other engines are done with;
//! 5. pulls (`pull.rs`): takes new ones from the post ring, moves one chunk of each;
//! 6. the remote read (`read.rs`): one attempt.
//!
//! Each node's engine is the only producer of its own completion ring. Another node's engine
//! changes the own word of our staged descriptor and sets a bit. If it dies in between, it leaves
//! no gap.
//!
//! # Example
//! Node 1 pulls eight bytes that node 0 has staged.
//!
//! ```
//! use lnd_core::fragment::Fragment;
//! use lnd_core::id::{LinkId, Nid, Tag};
//! use lnd_core::key::Key;
//! use lnd_core::ports::{Bd, Completions, Engine, Motion, Returned};
//! use lnd_core::time::Instant;
//! use lnd_dma::driver::{CompletionQueue, MmioEngine, Nodes};
//! use lnd_dma::memory::{LinkGeometry, LinkMemory};
//! use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
//! use lnd_dma::soft::{BusAddress, BusFault, Fabric, NoFaults, Settings, SoftEngine};
//! use std::{cell::RefCell, ptr::NonNull};
//!
//! /// Two nodes with one link each, and sixteen bytes of payload each.
//! struct Wire<'a> {
//!     links: [LinkMemory<'static>; 2],
//!     payload: &'a RefCell<[[u8; 16]; 2]>,
//! }
//!
//! impl Fabric<'static> for Wire<'_> {
//!     fn memory_of(&self, node: u32, _: LinkId) -> Option<LinkMemory<'static>> {
//!         self.links.get(node as usize).copied()
//!     }
//!     fn alive(&self, _: u32) -> bool {
//!         true
//!     }
//!     fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
//!         let place = |at: BusAddress| at.address as usize..at.address as usize + length as usize;
//!         let mut payload = self.payload.borrow_mut();
//!         let bytes = payload[from.node as usize].get(place(from)).ok_or(BusFault)?.to_vec();
//!         let into = payload[to.node as usize].get_mut(place(to)).ok_or(BusFault)?;
//!         into.copy_from_slice(&bytes);
//!         Ok(())
//!     }
//! }
//!
//! /// NIDs 1 and 2 are nodes 0 and 1.
//! struct Numbers;
//! impl Nodes for Numbers {
//!     fn node_of(&self, nid: Nid) -> Option<u32> {
//!         u32::try_from(nid.raw() - 1).ok()
//!     }
//! }
//!
//! #[repr(align(64))]
//! struct Ring([u8; 16 << 10]);
//! let links = [0, 1].map(|node| {
//!     let ring = Box::leak(Box::new(Ring([0; 16 << 10])));
//!     let base = NonNull::from(&mut ring.0).cast();
//!     let geometry = LinkGeometry { descriptors: 64, lists: 0 };
//!     // SAFETY: the memory is leaked, aligned and this example's alone.
//!     unsafe { LinkMemory::format(base, 16 << 10, geometry, node, 0, 0).unwrap() }
//! });
//! let payload = RefCell::new([*b"from node 0 here", [0; 16]]);
//! let link = LinkId::new(0).unwrap();
//! let mut drivers = links.map(|memory| MmioEngine::new(link, memory, memory, Numbers));
//! let mut rings = links.map(|memory| CompletionQueue::new(memory, memory));
//! let mut engines = [0, 1].map(|node| {
//!     let wire = Wire { links, payload: &payload };
//!     SoftEngine::new(node, link, links[node as usize], wire, NoFaults, Settings::default())
//! });
//! links.map(|memory| memory.write(Register::Link, LinkBits::UP.bits()));
//!
//! let nid = |raw| Nid::from_raw(raw).unwrap();
//! let (source, sink) = (Tag { index: 3, generation: 1 }, Tag { index: 5, generation: 1 });
//! let at = |address| [Fragment::new(address, 8)];
//! let staged = Motion::Stage { to: nid(2) };
//! let bd = Bd { tag: source, motion: staged, length: 8, fragments: &at(5), list: None };
//! drivers[0].post(&bd).unwrap();
//! let pull = Motion::Pull { from: nid(1), source, key: Key::NONE };
//! let bd = Bd { tag: sink, motion: pull, length: 8, fragments: &at(0), list: None };
//! drivers[1].post(&bd).unwrap();
//! drivers.iter_mut().for_each(|driver| driver.doorbell());
//!
//! for _ in 0..8 {
//!     engines.iter_mut().for_each(|engine| drop(engine.step(Instant::ORIGIN, 16)));
//! }
//! let ends = rings.each_mut().map(|ring| ring.pop().unwrap());
//! assert!(ends.iter().all(|end| end.returned == Returned::Ok));
//! assert_eq!(ends.map(|end| end.tag), [source, sink]);
//! assert_eq!(payload.borrow()[1][..8], *b"node 0 h");
//! ```

mod cursor;
mod ends;
mod engine;
mod fabric;
mod faults;
mod held;
mod invalidate;
mod part;
mod parting;
mod progress;
mod pull;
mod pulls;
mod read;
mod returns;
mod settings;
mod stop;

pub use engine::SoftEngine;
pub use fabric::{let_go_of, BusAddress, BusFault, Fabric};
pub use faults::{CompletionFault, Faults, NoFaults};
pub use progress::Progress;
pub use settings::Settings;

use lnd_core::time::Instant;

use crate::regs::{ControlBits, InterruptBits, LinkBits, Register, RegisterAccess, StatusBits};

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Does a bounded piece of work: at most `budget` invalidations, returns and new pulls each,
    /// and one chunk of every active pull.
    pub fn step(&mut self, now: Instant, budget: u32) -> Progress {
        self.progress = Progress::default();
        self.work(now, budget);
        self.untold |= self.progress.completions > 0;
        if self.untold {
            self.notify();
        }
        self.progress
    }

    /// Raises the interrupt for posted completions, if it is armed. If not, the next step checks
    /// again, because arming is a doorbell. Completions that the driver has taken since need none.
    fn notify(&mut self) {
        let armed = InterruptBits::from_bits_retain(self.memory.read(Register::InterruptMask));
        if armed.contains(InterruptBits::COMPLETION) {
            self.untold = false;
            if self.memory.read(Register::CompletionHead) != self.completion_tail {
                self.raise(InterruptBits::COMPLETION);
            }
        }
    }

    fn work(&mut self, now: Instant, budget: u32) {
        let control = ControlBits::from_bits_retain(self.memory.read(Register::Control));
        let link = LinkBits::from_bits_retain(self.memory.read(Register::Link));
        if control.contains(ControlBits::RESET) && self.status().contains(StatusBits::STOPPED) {
            self.reset();
        }
        if control.contains(ControlBits::STOP) {
            self.stop_some(control.round(), budget);
            return;
        }
        self.stop_at = 0;
        self.part_some(budget);
        if !link.contains(LinkBits::UP) {
            // No clock: nothing happens, and transfers stay where they are (S0-10). Time without
            // attempts is no evidence against the other end.
            self.read_since = None;
            self.show(StatusBits::CLOCK_OFF);
            return;
        }
        if self.broken {
            self.show(StatusBits::empty());
            return;
        }
        if !control.contains(ControlBits::ENABLE) || self.faults.stalls(now) {
            self.read_since = None;
            return;
        }
        self.show(StatusBits::RUNNING);
        self.deliver_held(now);
        self.invalidate_some(budget);
        self.return_some(budget);
        self.fetch_some(now, budget);
        self.pull_all(now);
        self.read_some(now);
        self.progress.busy |= self.pulls.iter().any(Option::is_some) || self.held.any();
    }
}
