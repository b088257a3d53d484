// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Makes a copy-only DMA controller the engine that `lnd-dma` drives. `MmioEngine` and
//! `CompletionQueue` stay unchanged; every access to their registers ends here
//! ([`RegisterAccess`](lnd_dma::regs::RegisterAccess)).
//!
//! What the engine of `docs/registers.md` has and the ZDMA lacks, and how this adapter provides it:
//!
//! | the ZDMA lacks | this adapter |
//! |---|---|
//! | many pulls at a time | one; the others wait in the post ring |
//! | staged descriptors, claimed by the puller | own words in memory, by compare-and-swap |
//! | invalidate a waiting descriptor | it never left the ring: returned untouched |
//! | **invalidate a moving one** | stops the channel at its next pause |
//! | stop | stops the channel at its next pause |
//! | reclaim | the own words in memory show what the device has done; it is disabled |
//! | completion at both ends | the puller's interrupt reports on both rings (S3-4) |
//!
//! The device cannot invalidate a moving transfer, so it never moves more than a piece without a
//! pause. At the pause the adapter checks whether either side has invalidated the transfer, and
//! then stops the channel. An invalidated descriptor comes back after one piece at most, with an
//! error and `Touched`, or with its real end if that was the last piece (S0-16). STOPPED is shown
//! when the device's own status register shows disabled and no other channel has a claim on this
//! node's memory (INV-3).
//!
//! A piece is 4 KiB, or a sixteenth of the transfer: that bounds how long an invalidation or a stop
//! waits. A channel that hangs within a piece never shows disabled. Then there is no proof, and no
//! memory is freed (INV-2).
//!
//! Caches: descriptors are marked COHERENT. On silicon whose DMA is not wired to the snoop port,
//! clean the source before [`zdma::Channel::start`] and invalidate the sink before the completion
//! is posted.

use lnd_core::sync::Ordering;
use lnd_dma::descriptor::{Content, Descriptor, Flags, Own, State};
use lnd_dma::regs::{ControlBits, ErrorBits, Register, RegisterAccess, StatusBits};

use crate::side::{Moving, Side};
use crate::zdma;

/// Both nodes' engines over their channels. Context: interrupts off.
#[derive(Debug)]
pub struct Controller {
    sides: [Side; 2],
    /// Completions were posted: their interrupt must be raised.
    pub posted: bool,
}

impl Controller {
    /// The controller of both sides.
    pub const fn new(sides: [Side; 2]) -> Self {
        Self { sides, posted: false }
    }

    fn side(&mut self, node: usize) -> &mut Side {
        let [a, b] = &mut self.sides;
        if node == 0 {
            a
        } else {
            b
        }
    }

    /// Reads a register for the driver.
    pub fn read(&mut self, node: usize, register: Register) -> u32 {
        if register == Register::Status {
            self.look(node);
        }
        self.side(node).memory.read(register)
    }

    /// Writes a register for the driver.
    pub fn write(&mut self, node: usize, register: Register, value: u32) {
        self.side(node).memory.write(register, value);
        match register {
            Register::Control => self.control(node),
            Register::InvalidateBell => self.invalidate(node),
            Register::PostTail | Register::Link => self.fetch(node),
            _ => {}
        }
    }

    fn control(&mut self, node: usize) {
        let side = self.side(node);
        let control = side.control();
        if control.contains(ControlBits::STOP) {
            // Earlier posts no longer begin.
            side.head = side.memory.read(Register::PostTail);
            side.memory.write(Register::PostHead, side.head);
            self.break_off(node, ErrorBits::empty());
            // The other node's pull from here ends as well, at its next pause at the latest.
            self.break_off(1 - node, ErrorBits::UNREACHABLE);
        } else if control.contains(ControlBits::RESET) && side.is_stopped() {
            side.reset();
        }
        self.look(node);
    }

    /// Updates the status register from the device's own.
    fn look(&mut self, node: usize) {
        let side = self.side(node);
        let control = side.control();
        if control.contains(ControlBits::STOP) {
            let disabled =
                matches!(side.channel.state(), zdma::State::Disabled | zdma::State::Failed);
            if disabled && side.moving.is_none() && !side.is_claimed() {
                side.show(StatusBits::STOPPED.in_round(control.round()));
            }
        } else if side.in_service() {
            side.show(StatusBits::RUNNING);
        } else {
            side.show(StatusBits::empty());
        }
    }

    /// Begins the next pull of the post ring, if the channel is free.
    fn fetch(&mut self, node: usize) {
        loop {
            let side = self.side(node);
            if side.moving.is_some() || !side.in_service() {
                return;
            }
            let waiting = side.memory.read(Register::PostTail).wrapping_sub(side.head);
            if waiting == 0 || waiting > side.memory.geometry().ring() {
                return;
            }
            // Relaxed: the driver wrote it before the doorbell, on this core.
            let index = side.memory.post(side.head).load(Ordering::Relaxed);
            side.head = side.head.wrapping_add(1);
            side.memory.write(Register::PostHead, side.head);
            self.begin(node, index);
        }
    }

    /// Begins a pull: claims what it pulls and starts the device.
    fn begin(&mut self, node: usize, index: u32) {
        let side = self.side(node);
        let Some(descriptor) = side.memory.descriptor(index) else { return };
        let content = descriptor.read();
        // A ring entry only means "check this descriptor": it may have come back already.
        if !descriptor.own().is(State::Owned) || !content.flags.contains(Flags::PULL) {
            return;
        }
        let sink = side.window.place(content.address, content.length);
        let source = self.claim(1 - node, node, &content);
        let (Some(_), Some((own, from))) = (sink, source) else {
            if let Some((own, _)) = source {
                self.settle(1 - node, content.source.index, own, State::Untouched);
            }
            self.give_back(node, index, State::Untouched, ErrorBits::REMOTE_ACCESS);
            return;
        };
        let side = self.side(node);
        side.moving = Some(Moving { content, source: own });
        if content.length == 0 {
            self.finish(node);
            return;
        }
        // SAFETY: the sink is in this node's window and lent to its descriptor, the source in the
        // other's and claimed; both stay so until `end` has seen the channel stopped. It is idle:
        // `moving` was `None`.
        unsafe { side.channel.start(from, content.address, content.length) };
    }

    /// Claims a staged descriptor of `node` for `puller`. Returns its own word and its address.
    fn claim(&mut self, node: usize, puller: usize, pull: &Content) -> Option<(Own, u64)> {
        let side = self.side(node);
        let descriptor: &Descriptor = side.memory.descriptor(pull.source.index)?;
        let (own, content) = (descriptor.own(), descriptor.read());
        let fits = side.in_service()
            && own.is(State::Owned)
            && own.generation() == pull.source.generation as u16
            && content.tag == pull.source
            && !content.flags.contains(Flags::PULL)
            && content.node == puller as u32
            && content.length >= pull.length;
        side.window.place(content.address, pull.length)?;
        let busy = own.busy(puller as u32);
        (fits && descriptor.swap(own, busy)).then_some((busy, content.address))
    }

    /// Returns a claimed descriptor and notifies its driver. Returns whether it was still claimed.
    fn settle(&mut self, node: usize, index: u32, own: Own, state: State) -> bool {
        let side = self.side(node);
        let Some(descriptor) = side.memory.descriptor(index) else { return false };
        let now = descriptor.own();
        if now != own && now != own.invalidating() {
            return false;
        }
        if side.control().contains(ControlBits::STOP) {
            side.leave(index, state);
            return true;
        }
        self.give_back(node, index, state, ErrorBits::empty())
    }

    fn give_back(&mut self, node: usize, index: u32, state: State, cause: ErrorBits) -> bool {
        let notified = self.side(node).give_back(index, state, cause);
        self.posted |= notified;
        notified
    }

    /// All bytes are moved: the source is returned first, then the own descriptor.
    fn finish(&mut self, node: usize) {
        let Some(moving) = self.side(node).moving.take() else { return };
        let content = moving.content;
        let (index, source) = (content.tag.index, content.source.index);
        if self.settle(1 - node, source, moving.source, State::Done) {
            self.give_back(node, index, State::Done, ErrorBits::empty());
        } else {
            self.give_back(node, index, State::Touched, ErrorBits::REMOTE_ACCESS);
        }
    }

    /// Aborts the pull of the channel, if it is paused or has stopped. Within a piece, the next
    /// pause aborts it.
    fn break_off(&mut self, node: usize, cause: ErrorBits) {
        let side = self.side(node);
        let Some(moving) = side.moving else { return };
        if side.channel.state() == zdma::State::Paused {
            side.channel.stop();
        }
        if !matches!(side.channel.state(), zdma::State::Disabled | zdma::State::Failed) {
            return;
        }
        side.moving = None;
        let content = moving.content;
        let moved = side.channel.moved();
        // The last piece is moved: the transfer ends well although it was invalidated (S0-16).
        if moved >= content.length && side.channel.state() == zdma::State::Disabled {
            side.moving = Some(moving);
            self.finish(node);
            return;
        }
        let state = if moved == 0 { State::Untouched } else { State::Touched };
        self.settle(1 - node, content.source.index, moving.source, state);
        if self.side(node).control().contains(ControlBits::STOP) {
            self.side(node).leave(content.tag.index, state);
        } else {
            self.give_back(node, content.tag.index, state, cause);
        }
    }

    /// Handles descriptors that the driver has invalidated (S0-6 to S0-8).
    fn invalidate(&mut self, node: usize) {
        let safe_invalidate = self.side(node).memory.invalidates();
        for _ in 0..self.side(node).memory.geometry().descriptors {
            let Some(index) = safe_invalidate.take_one() else { break };
            let side = self.side(node);
            let Some(descriptor) = side.memory.descriptor(index) else { continue };
            let own = descriptor.own();
            // The invalidation may be of an earlier use, which came back by itself (R14).
            if !descriptor.is_wanted(own) {
                continue;
            }
            let ours = side.moving.is_some_and(|m| m.content.tag.index == index);
            if ours {
                self.break_off(node, ErrorBits::INVALIDATED);
            } else if own.is(State::Busy) {
                // The other node's channel sees it at its next pause, or is already paused.
                descriptor.swap(own, own.invalidating());
                self.break_off(1 - node, ErrorBits::INVALIDATED);
            } else {
                self.give_back(node, index, State::Untouched, ErrorBits::INVALIDATED);
            }
        }
        self.fetch(node);
    }

    /// Handles the interrupt of `node`'s channel: a pause, an end, or an error.
    pub fn on_device(&mut self, node: usize) {
        let side = self.side(node);
        let failed = side.channel.acknowledge();
        let (Some(moving), stalled) = (side.moving, side.stalled) else { return };
        match side.channel.state() {
            zdma::State::Paused if self.may_go_on(node, &moving) => {
                if !stalled {
                    self.side(node).channel.resume();
                }
            }
            zdma::State::Disabled if !failed => self.finish(node),
            _ => self.break_off(node, ErrorBits::INVALIDATED),
        }
        self.fetch(node);
    }

    /// Whether neither side has invalidated the transfer, and both links work.
    fn may_go_on(&mut self, node: usize, moving: &Moving) -> bool {
        let content = &moving.content;
        let own = |side: &Side, index| side.memory.descriptor(index).map(Descriptor::own);
        let source = self.side(1 - node);
        let held = own(source, content.source.index) == Some(moving.source);
        let there = source.in_service();
        let side = self.side(node);
        let ours = own(side, content.tag.index).is_some_and(|own| own.is(State::Owned));
        held && there && ours && side.in_service()
    }

    /// Holds a node's pulls at their next pause, or lets them continue.
    pub fn stall(&mut self, node: usize, stalled: bool) {
        let side = self.side(node);
        side.stalled = stalled;
        if !stalled && side.channel.state() == zdma::State::Paused {
            side.channel.resume();
        }
    }

    /// The node is dead: its channel moves nothing any more.
    pub fn kill(&mut self, node: usize) {
        self.side(node).alive = false;
        self.break_off(node, ErrorBits::UNREACHABLE);
    }

    /// The interrupt of a node's channel.
    pub fn interrupt_of(&mut self, node: usize) -> u32 {
        self.side(node).channel.interrupt()
    }
}
