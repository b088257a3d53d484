// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The thread's half: posts, rings, invalidations, stops and resets.
//!
//! Registers are trusted only from a device that identifies itself (INV-3). The driver keeps what
//! it has written and does not read it back.

use core::slice;
use lnd_core::defect::fenced;
use lnd_core::fragment::{self, Fragment};
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::ports::{Bd, Engine, Features, Motion, PostError, Returned};
use lnd_core::sync::Ordering;

use super::{identity, ring};
use crate::cut::{read_set, write_set, CUT};
use crate::descriptor::{Content, Descriptor, Flags, State};
use crate::memory::{LinkMemory, MAX_NODE};
use crate::regs::{ControlBits, LinkBits, Register, RegisterAccess, StatusBits};

/// How far a reset advances the completion ring's indices: the golden section of their range, so
/// that thousands of unread rings lie far apart. `NEAR` is more than a ring.
const FAR: u32 = 0x9e37_79b9;
const NEAR: u32 = 1 << 20;

/// The fabric's numbers of nodes.
pub trait Nodes {
    /// The number of the node with this NID, `0..=255`.
    fn node_of(&self, nid: Nid) -> Option<u32>;
}

/// The engine of one link behind its registers.
#[derive(Debug)]
pub struct MmioEngine<'m, R, N> {
    link: LinkId,
    pub(super) registers: R,
    memory: LinkMemory<'m>,
    pub(super) nodes: N,
    /// The last value written to CONTROL.
    control: ControlBits,
    /// The device did not identify itself, or showed what no working device shows.
    pub(super) gone: bool,
    /// The engine was not seen running since the reset.
    restarting: bool,
    /// The post ring's tail, and the tail at the last doorbell.
    tail: u32,
    rung: u32,
    /// The post ring's first index after the last reset.
    start: u32,
    /// The completion ring's first index after the last reset.
    completion_start: u32,
    pulls_owed: bool,
    stages_owed: bool,
    stage_rings: u32,
    invalidate_rings: u32,
}

impl<'m, R: RegisterAccess, N: Nodes> MmioEngine<'m, R, N> {
    /// Takes control of an engine and enables it. It runs once its link is up. If the device does
    /// not identify itself, the driver takes control when it does.
    pub fn new(link: LinkId, registers: R, memory: LinkMemory<'m>, nodes: N) -> Self {
        let (tail, head) =
            (registers.read(Register::PostTail), registers.read(Register::CompletionHead));
        let read = ControlBits::from_bits_retain(registers.read(Register::Control));
        let known = identity::is_right(&registers);
        let control = if known { read | ControlBits::ENABLE } else { ControlBits::ENABLE };
        registers.write(Register::Control, control.bits());
        Self {
            link,
            registers,
            memory,
            nodes,
            control,
            gone: !known,
            restarting: true,
            tail: if known { tail } else { 0 },
            rung: if known { tail } else { 0 },
            start: if known { tail } else { 0 },
            completion_start: if known { head } else { 0 },
            pulls_owed: false,
            stages_owed: false,
            stage_rings: 0,
            invalidate_rings: 0,
        }
    }

    /// The link.
    pub const fn link(&self) -> LinkId {
        self.link
    }

    /// The engine's memory.
    pub const fn memory(&self) -> LinkMemory<'m> {
        self.memory
    }

    #[inline(always)]
    fn content(&self, bd: &Bd<'_>) -> Result<Content, PostError> {
        let (nid, source, direction) = match bd.motion {
            Motion::Stage { to } => (to, Tag { index: 0, generation: 0 }, Flags(0)),
            Motion::Pull { from, source, .. } => (from, source, Flags::PULL),
            // The registers know no push.
            Motion::Expose { .. } | Motion::Push { .. } => return Err(PostError::Invalid),
        };
        let known = self.nodes.node_of(nid).filter(|&node| node <= MAX_NODE);
        let node = known.ok_or(PostError::Invalid)?;
        let held = |fragments| fragment::total(fragments).map_err(|_| PostError::Invalid);
        let (held, one, list, indirect) = match (bd.fragments, bd.list) {
            ([], _) => (0, Fragment::default(), 0, Flags(0)),
            ([one], _) => (held(slice::from_ref(one))?, *one, 0, Flags(0)),
            (many, Some(list)) => {
                (held(many)?, Fragment::default(), u32::from(list), Flags::INDIRECT)
            }
            (_, None) => return Err(PostError::Invalid),
        };
        if bd.length > held {
            return Err(PostError::Invalid);
        }
        Ok(Content {
            flags: direction | indirect,
            fragments: bd.fragments.len() as u32,
            tag: bd.tag,
            length: bd.length,
            node,
            source,
            list,
            address: one.address,
            fragment: one.length,
        })
    }

    /// Writes CONTROL. Bits that this driver does not define stay as the device has them.
    fn command(&mut self, control: ControlBits) {
        let read = ControlBits::from_bits_retain(self.registers.read(Register::Control));
        self.control = if identity::is_right(&self.registers) {
            ControlBits(control.known().0 | read.unknown().0)
        } else {
            control
        };
        self.registers.write(Register::Control, self.control.bits());
    }

    /// Whether CONTROL reads as last written; a device may clear RESET when it has executed it.
    fn is_current(&self, read: ControlBits) -> bool {
        read.known().difference(ControlBits::RESET)
            == self.control.known().difference(ControlBits::RESET)
    }

    /// The post ring's head. Before the engine has executed the reset, it may have any value.
    fn head(&mut self) -> Result<u32, PostError> {
        let head = self.registers.read(Register::PostHead);
        if self.restarting {
            let begun = head.wrapping_sub(self.start) <= self.tail.wrapping_sub(self.start);
            return Ok(if begun { head } else { self.start });
        }
        let possible = self.tail.wrapping_sub(head) <= self.memory.ring();
        if !possible {
            // More than fits: no working device shows that.
            self.gone = true;
            return Err(PostError::Gone);
        }
        Ok(head)
    }

    /// Whether the post ring still has an untaken entry for a descriptor. Without one, the
    /// descriptor needs room for a new entry.
    fn is_listed(&mut self, descriptor: &Descriptor, index: u32) -> Result<bool, PostError> {
        let head = self.head()?;
        let (at, used) = (descriptor.entry(), self.tail.wrapping_sub(head));
        // Relaxed: only the driver writes it.
        let named = self.memory.post(at).load(Ordering::Relaxed) == index;
        if named && at.wrapping_sub(head) < used {
            return Ok(true);
        }
        // With one entry for each descriptor there is always room, unless the bus does not answer.
        if used >= self.memory.ring() {
            self.gone |= !identity::is_right(&self.registers);
            return Err(if self.gone { PostError::Gone } else { PostError::Full });
        }
        Ok(false)
    }

    /// Adds an owned descriptor to the post ring. If the engine has not yet taken an entry of an
    /// earlier use, which was invalidated before, that entry serves again: a descriptor has one
    /// entry at most, however often it is invalidated (LU-9943).
    fn list(&mut self, descriptor: &Descriptor, index: u32, listed: bool) {
        self.pulls_owed = true;
        if listed {
            // Partner: the fence in the engine's `next_entry`. The engine sees the descriptor
            // owned, or we see that it has taken the entry.
            fenced("no-fence-in-post", Ordering::SeqCst);
            // An impossible head: the link fails, and its stop brings the descriptor back.
            if self.is_listed(descriptor, index).unwrap_or(true) {
                return;
            }
        }
        // Relaxed: published by the doorbell's barrier.
        self.memory.post(self.tail).store(index, Ordering::Relaxed);
        descriptor.set_entry(self.tail);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Sets where the rings start after the next reset. Context: the engine is stopped.
    fn begin(&mut self) {
        // Far from the old ring, both by our index and by the interrupt's: a head that the
        // interrupt writes late is not valid in the new ring, and the interrupt sees that the ring
        // is new.
        let head = self.registers.read(Register::CompletionHead);
        let next = self.completion_start.wrapping_add(FAR);
        let near = next.wrapping_sub(head).wrapping_add(NEAR) < 2 * NEAR;
        self.completion_start = if near { next.wrapping_add(FAR) } else { next };
        // Entries posted without a doorbell are discarded with the rest.
        self.tail = self.rung;
        self.start = self.tail;
    }

    /// Starts the engine again with empty rings, whatever they hold. May be repeated before it has
    /// reached the device.
    fn restart(&mut self) {
        self.memory.renew(self.completion_start);
        self.registers.write(Register::CompletionStart, self.completion_start);
        self.registers.write(Register::PostTail, self.tail);
        self.registers.write(Register::PostStart, self.start);
        write_set(&self.registers, CUT, 0); // All connections have stopped.
        if !self.is_prepared() {
            // A part was lost on the bus. `link_up` repeats all of it.
            return;
        }
        let restart =
            self.control.difference(ControlBits::STOP) | ControlBits::RESET | ControlBits::ENABLE;
        self.command(restart);
    }

    /// Whether the device shows where its rings are to begin, and that no connection is cut. With
    /// other indices engine and consumer would go on in two rings; from a node that is cut no pull
    /// would begin.
    fn is_prepared(&self) -> bool {
        let starts = [
            (Register::CompletionStart, self.completion_start),
            (Register::PostTail, self.tail),
            (Register::PostStart, self.start),
        ];
        let connects = self.features().contains(Features::CONNECTIONS);
        starts.into_iter().all(|(register, value)| self.registers.read(register) == value)
            && (!connects || read_set(&self.registers, CUT) == 0)
    }

    /// Reclaims a descriptor from a stopped engine. Returns what its own word shows.
    pub(super) fn take(&mut self, tag: Tag) -> Option<Returned> {
        let descriptor = self.memory.descriptor(tag.index)?;
        let own = descriptor.own();
        if own.generation() != tag.generation as u16 || own.is(State::Free) {
            return None;
        }
        descriptor.free();
        own.returned()
    }

    /// The device identifies itself, but CONTROL is not as written: the write was lost, or the
    /// device has restarted. It is reset again. Before that it is stopped in a new round, unless it
    /// shows that it has not run. Nothing is posted meanwhile, because the link is not up.
    fn repeat_reset(&mut self, read: ControlBits, status: StatusBits) {
        let round = self.control.round();
        let answered = status == StatusBits::STOPPED.in_round(round);
        if self.control.contains(ControlBits::STOP) {
            if self.is_current(read) && answered {
                self.begin();
                self.restart();
            } else {
                self.command(self.control);
            }
        } else if answered && read.contains(ControlBits::STOP) && read.round() == round {
            self.restart();
        } else {
            let next = read.round().wrapping_add(1);
            let next = if next & 0xffff == round { next.wrapping_add(1) } else { next };
            let stop = self.control.difference(ControlBits::RESET) | ControlBits::STOP;
            self.command(stop.in_round(next));
        }
    }
}

impl<R: RegisterAccess, N: Nodes> Engine for MmioEngine<'_, R, N> {
    fn features(&self) -> Features {
        let features = Features::from_bits_retain(self.registers.read(Register::Features));
        if identity::is_right(&self.registers) {
            features
        } else {
            Features::empty()
        }
    }

    // Compiled into the driver's few posts, where the direction is a constant.
    #[inline(always)]
    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let descriptor = self.memory.descriptor(bd.tag.index).ok_or(PostError::Invalid)?;
        let own = descriptor.own();
        if own.is(State::Owned) || own.is(State::Busy) {
            return Err(PostError::Busy);
        }
        if own.state().is_none() {
            self.gone = true;
            return Err(PostError::Gone);
        }
        let content = self.content(bd)?;
        if content.flags.contains(Flags::INDIRECT) {
            for (at, fragment) in bd.fragments.iter().enumerate() {
                if !self.memory.write_fragment(content.list, at, fragment) {
                    return Err(PostError::Invalid);
                }
            }
        }
        let pull = content.flags.contains(Flags::PULL);
        let listed = pull && self.is_listed(descriptor, bd.tag.index)?;
        descriptor.write(&content);
        descriptor.hand_over(bd.tag.generation);
        if pull {
            self.list(descriptor, bd.tag.index, listed);
        } else {
            self.stages_owed = true;
        }
        Ok(())
    }

    fn doorbell(&mut self) {
        if self.stages_owed {
            self.stages_owed = false;
            self.stage_rings = self.stage_rings.wrapping_add(1);
            self.registers.write(Register::StageBell, self.stage_rings);
        }
        if self.pulls_owed {
            self.pulls_owed = false;
            self.rung = self.tail;
            self.registers.write(Register::PostTail, self.tail);
        }
    }

    fn invalidate(&mut self, tag: Tag) {
        let Some(descriptor) = self.memory.descriptor(tag.index) else { return };
        let own = descriptor.own();
        let over = own.returned().is_some() && own.reported();
        if own.generation() == tag.generation as u16 && !own.is(State::Free) && !over {
            descriptor.mark_invalidate(tag.generation);
            self.memory.invalidates().set(tag.index);
            self.invalidate_rings = self.invalidate_rings.wrapping_add(1);
            self.registers.write(Register::InvalidateBell, self.invalidate_rings);
        }
    }

    fn stop(&mut self) {
        self.restarting = false;
        self.command(self.control.stopping());
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        if !self.control.contains(ControlBits::STOP) {
            return None;
        }
        // Checked before and after: the bus may fail, or recover, between two reads.
        let before = identity::is_right(&self.registers);
        let control = ControlBits::from_bits_retain(self.registers.read(Register::Control));
        let status = StatusBits::from_bits_retain(self.registers.read(Register::Status));
        let known = before && identity::is_right(&self.registers);
        self.gone |= !known || !status.is_possible();
        if known && !self.is_current(control) {
            // The write of the stop did not reach the device.
            self.command(self.control);
        }
        // The STOPPED of an earlier stop is not an answer: an engine that is about to execute the
        // reset still shows it.
        let answered = status == StatusBits::STOPPED.in_round(self.control.round());
        let proven = known && self.is_current(control) && answered;
        if !proven {
            return None;
        }
        self.gone = false;
        // SAFETY: the device identifies itself, before and after its status register has shown
        // STOPPED in answer to this very stop, and the engine starts again only after a RESET,
        // which this driver writes in `restart` alone: after `reset`, for this very proof.
        Some(unsafe { Quiesced::assert_stopped(self.link) })
    }

    fn is_gone(&self) -> bool {
        self.gone
    }

    fn is_stuck(&self) -> bool {
        ring::is_stuck(&self.registers, self.memory, self.completion_start)
    }

    /// Accepts a connection's proof as well as the link's: a platform that stops connections
    /// provides it.
    fn reclaim(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        let ours = proof.link() == self.link;
        ours.then(|| self.take(tag)).flatten()
    }

    fn reset(&mut self, proof: Quiesced) {
        if proof.link() != self.link || proof.connection().is_some() {
            return;
        }
        self.pulls_owed = false;
        self.stages_owed = false;
        self.gone = false;
        self.restarting = true;
        self.begin();
        self.restart();
    }

    fn link_up(&mut self) -> bool {
        if !identity::is_right(&self.registers) {
            self.gone = true;
            return false;
        }
        let control = ControlBits::from_bits_retain(self.registers.read(Register::Control));
        let status = StatusBits::from_bits_retain(self.registers.read(Register::Status));
        let begun = self.is_current(control) && !self.control.contains(ControlBits::STOP);
        if self.restarting && !begun {
            // Checked before and after, as for a proof.
            if identity::is_right(&self.registers) {
                self.repeat_reset(control, status);
            }
            return false;
        }
        let link = LinkBits::from_bits_retain(self.registers.read(Register::Link));
        let up = begun && link == LinkBits::UP && status.in_round(0) == StatusBits::RUNNING;
        if up && self.restarting {
            self.restarting = false;
            self.gone = false;
        }
        up
    }
}
