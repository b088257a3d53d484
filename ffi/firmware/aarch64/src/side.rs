// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The adapter's state of one node, and its interface to that node's driver: own words and
//! completions in memory.

use lnd_core::id::Tag;
use lnd_core::ports::Returned;
use lnd_core::sync::Ordering;
use lnd_dma::completion;
use lnd_dma::descriptor::{Content, Own, State};
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{ControlBits, ErrorBits, LinkBits, Register, RegisterAccess, StatusBits};
use lnd_fw::memory::Window;

use crate::zdma::Channel;

/// What one node has.
#[derive(Debug)]
pub struct Side {
    pub memory: LinkMemory<'static>,
    pub channel: Channel,
    pub window: Window,
    pub moving: Option<Moving>,
    pub head: u32,
    completions: u32,
    /// Pulls stay at their pause.
    pub stalled: bool,
    pub alive: bool,
}

/// A pull that the channel works on.
#[derive(Clone, Copy, Debug)]
pub struct Moving {
    pub content: Content,
    /// The other side's descriptor, as we have claimed it.
    pub source: Own,
}

impl Side {
    /// A node's link, the channel that shall move its bytes, and its payload.
    pub const fn new(memory: LinkMemory<'static>, channel: Channel, window: Window) -> Self {
        Self {
            memory,
            channel,
            window,
            moving: None,
            head: 0,
            completions: 0,
            stalled: false,
            alive: true,
        }
    }

    pub fn control(&self) -> ControlBits {
        ControlBits::from_bits_retain(self.memory.read(Register::Control))
    }

    /// Whether the engine works: enabled, not stopping, its link plugged.
    pub fn in_service(&self) -> bool {
        let link = LinkBits::from_bits_retain(self.memory.read(Register::Link));
        let control = self.control();
        let enabled = control.contains(ControlBits::ENABLE) && !control.contains(ControlBits::STOP);
        self.alive && enabled && link.contains(LinkBits::UP)
    }

    /// Whether the status register says stopped.
    pub fn is_stopped(&self) -> bool {
        let status = StatusBits::from_bits_retain(self.memory.read(Register::Status));
        status.contains(StatusBits::STOPPED)
    }

    /// Starts again: the rings start where the driver has set.
    pub fn reset(&mut self) {
        self.head = self.memory.read(Register::PostStart);
        self.memory.write(Register::PostHead, self.head);
        self.completions = self.memory.read(Register::CompletionStart);
        self.show(StatusBits::empty());
    }

    pub fn show(&self, status: StatusBits) {
        self.memory.write(Register::Status, status.bits());
    }

    /// Writes a completion. Each descriptor has one at most, and the ring has room for all.
    fn complete(&mut self, tag: Tag, returned: Returned, cause: ErrorBits) {
        let entry = self.memory.completion(self.completions);
        // Relaxed: published by the sequence word.
        entry.status.store(completion::encode(returned, cause), Ordering::Relaxed);
        entry.index.store(tag.index, Ordering::Relaxed);
        entry.generation.store(tag.generation, Ordering::Relaxed);
        self.completions = self.completions.wrapping_add(1);
        // Release: partner is the Acquire in the driver's `pop`.
        entry.sequence.store(self.completions, Ordering::Release);
    }

    /// Returns a descriptor of this node as `state`, and notifies the driver, if it is out.
    pub fn give_back(&mut self, index: u32, state: State, cause: ErrorBits) -> bool {
        let Some(descriptor) = self.memory.descriptor(index) else { return false };
        let own = descriptor.own();
        let back = own.into(state).reporting();
        let out = own.is(State::Owned) || own.is(State::Busy);
        if !out || !descriptor.swap(own, back) {
            return false;
        }
        if let Some(returned) = back.returned() {
            self.complete(descriptor.read().tag, returned, cause);
        }
        true
    }

    /// As [`give_back`](Self::give_back), without notifying the driver: it will reclaim.
    pub fn leave(&self, index: u32, state: State) {
        if let Some(descriptor) = self.memory.descriptor(index) {
            let own = descriptor.own();
            if own.is(State::Owned) || own.is(State::Busy) {
                descriptor.swap(own, own.into(state));
            }
        }
    }

    /// Whether another node's pull has a claim on memory staged here.
    pub fn is_claimed(&self) -> bool {
        let all = 0..self.memory.geometry().descriptors;
        all.filter_map(|at| self.memory.descriptor(at)).any(|d| d.own().is(State::Busy))
    }
}
