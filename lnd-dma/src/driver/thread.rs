// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The thread's half: posts, rings, recalls, stops and resets.

use lnd_core::defect::seeded;
use lnd_core::fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::ports::{Bd, Engine, Features, Motion, PostError, Returned};
use lnd_core::sync::Ordering;

use crate::descriptor::{Content, Flags, State};
use crate::memory::LinkMemory;
use crate::regs::{Control, LinkBits, Register, RegisterAccess, Status};

/// The largest node number: it has eight bits in the own word.
const MAX_NODE: u32 = 255;

/// The fabric's numbers of nodes.
pub trait Nodes {
    /// The number of the node with this NID, `0..=255`.
    fn node_of(&self, nid: Nid) -> Option<u32>;
}

/// The engine of one link behind its registers.
#[derive(Debug)]
pub struct MmioEngine<'m, R, N> {
    link: LinkId,
    registers: R,
    memory: LinkMemory<'m>,
    nodes: N,
    tail: u32,
    pulls_owed: bool,
    stages_owed: bool,
    stage_rings: u32,
    recall_rings: u32,
}

impl<'m, R: RegisterAccess, N: Nodes> MmioEngine<'m, R, N> {
    /// Takes charge of an engine: enables it; it runs once its link is up.
    pub fn new(link: LinkId, registers: R, memory: LinkMemory<'m>, nodes: N) -> Self {
        let tail = registers.read(Register::PostTail);
        let control = Control::from_bits_retain(registers.read(Register::Control));
        registers.write(Register::Control, (control | Control::ENABLE).bits());
        Self {
            link,
            registers,
            memory,
            nodes,
            tail,
            pulls_owed: false,
            stages_owed: false,
            stage_rings: 0,
            recall_rings: 0,
        }
    }

    /// The engine's memory.
    pub const fn memory(&self) -> LinkMemory<'m> {
        self.memory
    }

    fn content(&self, bd: &Bd<'_>) -> Result<Content, PostError> {
        let held = fragment::total(bd.fragments).map_err(|_| PostError::Invalid)?;
        if bd.length > held {
            return Err(PostError::Invalid);
        }
        let (nid, source, direction) = match bd.motion {
            Motion::Stage { to } => (to, Tag { index: 0, generation: 0 }, Flags(0)),
            Motion::Pull { from, source } => (from, source, Flags::PULL),
        };
        let known = self.nodes.node_of(nid).filter(|&node| node <= MAX_NODE);
        let node = known.ok_or(PostError::Invalid)?;
        let (one, list, indirect) = match (bd.fragments, bd.list) {
            ([], _) => (Default::default(), 0, Flags(0)),
            ([one], _) => (*one, 0, Flags(0)),
            (_, Some(list)) => (Default::default(), u32::from(list), Flags::INDIRECT),
            (_, None) => return Err(PostError::Invalid),
        };
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
}

impl<R: RegisterAccess, N: Nodes> Engine for MmioEngine<'_, R, N> {
    fn features(&self) -> Features {
        Features::from_bits_retain(self.registers.read(Register::Features))
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let descriptor = self.memory.descriptor(bd.tag.index).ok_or(PostError::Invalid)?;
        let own = descriptor.own();
        if (own.is(State::Owned) || own.is(State::Busy)) && !seeded("posted-over-a-post") {
            return Err(PostError::Busy);
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
        if pull {
            // A head that makes no sense shows a ring that is full: nothing is overwritten.
            let used = self.tail.wrapping_sub(self.registers.read(Register::PostHead));
            if used >= self.memory.geometry().ring() && !seeded("ring-overrun") {
                return Err(PostError::Full);
            }
        }
        if seeded("handed-over-before-written") {
            descriptor.hand_over(bd.tag.generation);
            self.registers.write(Register::StageBell, self.stage_rings.wrapping_add(1));
        }
        descriptor.write(&content);
        descriptor.hand_over(bd.tag.generation);
        if pull {
            // Relaxed: published by the doorbell's barrier.
            self.memory.post(self.tail).store(bd.tag.index, Ordering::Relaxed);
            self.tail = self.tail.wrapping_add(1);
            self.pulls_owed = true;
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
            self.registers.write(Register::PostTail, self.tail);
        }
    }

    fn invalidate(&mut self, tag: Tag) {
        let Some(descriptor) = self.memory.descriptor(tag.index) else { return };
        let own = descriptor.own();
        let over = own.returned().is_some() && own.reported();
        if own.generation() == tag.generation as u16 && !own.is(State::Free) && !over {
            descriptor.want_back(tag.generation);
            self.memory.recalls().set(tag.index);
            self.recall_rings = self.recall_rings.wrapping_add(1);
            self.registers.write(Register::RecallBell, self.recall_rings);
        }
    }

    fn stop(&mut self) {
        let control = Control::from_bits_retain(self.registers.read(Register::Control));
        self.registers.write(Register::Control, control.stopping().bits());
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        let control = Control::from_bits_retain(self.registers.read(Register::Control));
        let status = Status::from_bits_retain(self.registers.read(Register::Status));
        // The STOPPED of an earlier stop is no answer: it is still shown by an engine that is about
        // to execute the reset.
        let answered = status.contains(Status::STOPPED)
            && (status.round() == control.round() || seeded("old-stop-is-a-proof"));
        let proven = control.contains(Control::STOP) && answered;
        if !proven && !seeded("proof-without-stop") {
            return None;
        }
        // SAFETY: the engine's status register says STOPPED, in answer to this very stop, and the
        // engine starts again only after a RESET, which this driver writes in `reset` alone, for
        // this very proof.
        Some(unsafe { Quiesced::vouch(self.link) })
    }

    fn yank(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        if proof.link() != self.link && !seeded("any-proof-will-do") {
            return None;
        }
        let descriptor = self.memory.descriptor(tag.index)?;
        let own = descriptor.own();
        if own.generation() != tag.generation as u16 || own.is(State::Free) {
            return None;
        }
        descriptor.free();
        own.returned().filter(|_| !seeded("done-word-ignored"))
    }

    fn reset(&mut self, proof: Quiesced) {
        if proof.link() != self.link {
            return;
        }
        self.pulls_owed = false;
        self.stages_owed = false;
        // What was posted without a doorbell is forgotten with the rest.
        self.tail = self.registers.read(Register::PostTail);
        let control = Control::from_bits_retain(self.registers.read(Register::Control));
        let restart = control.difference(Control::STOP) | Control::RESET | Control::ENABLE;
        self.registers.write(Register::Control, restart.bits());
    }

    fn link_up(&self) -> bool {
        let status = Status::from_bits_retain(self.registers.read(Register::Status));
        let link = LinkBits::from_bits_retain(self.registers.read(Register::Link));
        link.contains(LinkBits::UP)
            && status.contains(Status::RUNNING)
            && !status.contains(Status::STOPPED)
    }
}
