// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Defects to seed, so that the checks can be shown to bite. None occurs in a run unless asked for.

use lnd_core::id::LinkId;
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{BusAddress, BusFault, Fabric as EngineFabric};

use crate::fabric::{Bus, Violation};
use crate::simulator::device::WatchedBus;

/// A defect of the hardware, the channel or the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Engines repeat a write long after they have given its descriptor back (breaks INV-2).
    LateWrite,
    /// Engines now and then report bytes as moved that they have not moved.
    EmptyOk,
    /// The channel now and then reports the end of one message in the name of another (INV-5).
    WrongTag,
    /// The host loses a report (INV-1).
    LostReport,
    /// The host reports one end twice (INV-1).
    DoubleReport,
    /// The host never looks at the clock: deadlines do not pass (INV-9, INV-15).
    NoClock,
    /// The host takes every frame to come from whom it says. Between correct nodes that is so.
    AnySender,
}

impl Defect {
    /// Every defect, by its name and with what it does.
    pub const ALL: [(Self, &'static str, &'static str); 7] = [
        (
            Self::LateWrite,
            "late-write",
            "engines repeat a write after they have given its descriptor back",
        ),
        (Self::EmptyOk, "empty-ok", "engines report bytes as moved that they have not moved"),
        (
            Self::WrongTag,
            "wrong-tag",
            "the channel reports the end of one message in the name of another",
        ),
        (Self::LostReport, "lost-report", "the host loses a report"),
        (Self::DoubleReport, "double-report", "the host reports one end twice"),
        (Self::NoClock, "no-clock", "the host never looks at the clock: deadlines do not pass"),
        (
            Self::AnySender,
            "any-sender",
            "the host takes every frame to come from the node that it names",
        ),
    ];

    /// The defect of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, its, _)| *its == name).map(|(defect, ..)| *defect)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, ..)| *it == self).map_or("", |(_, name, _)| name)
    }
}

/// Steps of an engine after which a late write comes.
const LATE: u32 = 20;

/// The bus as a link's engine sees it.
#[derive(Debug)]
pub struct Wire<'m> {
    bus: Bus<'m>,
    defect: Option<Defect>,
    copies: u32,
    steps: u32,
    /// A copy to be repeated, and in which step.
    late: Option<(BusAddress, BusAddress, u32, u32)>,
    /// Nodes whose descriptors were given back.
    given_back: Vec<u32>,
    /// What was read, and how much, if the run records it.
    reads: Option<Vec<(BusAddress, u32)>>,
}

impl<'m> Wire<'m> {
    /// A wire with or without a defect.
    pub const fn new(bus: Bus<'m>, defect: Option<Defect>) -> Self {
        Self { bus, defect, copies: 0, steps: 0, late: None, given_back: Vec::new(), reads: None }
    }

    /// The same, and everything read is [noted](Self::reads).
    pub fn noting(bus: Bus<'m>) -> Self {
        let mut wire = Self::new(bus, None);
        wire.reads = Some(Vec::new());
        wire
    }

    /// What was read since the last call.
    pub fn reads(&mut self) -> Vec<(BusAddress, u32)> {
        self.reads.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl<'m> WatchedBus<'m> for Wire<'m> {
    fn first_violation(&self) -> Option<Violation> {
        self.bus.violations().1
    }

    fn given_back(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.given_back)
    }

    fn misbehave(&mut self) {
        self.steps += 1;
        if let Some((from, to, length, _)) = self.late.take_if(|late| late.3 <= self.steps) {
            let _ = self.bus.copy(from, to, length);
        }
    }
}

impl<'m> EngineFabric<'m> for Wire<'m> {
    fn memory_of(&self, node: u32, link: LinkId) -> Option<LinkMemory<'m>> {
        self.bus.memory_of(node, link)
    }

    fn alive(&self, node: u32) -> bool {
        self.bus.alive(node)
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        self.copies += 1;
        if let Some(reads) = &mut self.reads {
            reads.push((from, length));
        }
        if self.defect == Some(Defect::LateWrite) && self.late.is_none() {
            self.late = Some((from, to, length, self.steps + LATE));
        }
        if self.defect == Some(Defect::EmptyOk) && self.copies.is_multiple_of(8) {
            return Ok(());
        }
        self.bus.copy(from, to, length)
    }

    fn returned(&mut self, node: u32) {
        self.given_back.push(node);
    }
}
