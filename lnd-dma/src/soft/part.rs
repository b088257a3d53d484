// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stops the connection with one node; the other nodes continue (REG-18).
//!
//! Our own pulls from that node end where they are. A descriptor staged for it and not claimed
//! comes back: engine and puller exchange the same word, and one of them wins. A claimed one is
//! invalidated, and the puller sees that between two chunks; if its node is dead, the descriptor
//! comes back at once. PARTED is written after a whole pass over the table that found no claim of
//! that node, with no pull from it left.
//!
//! The driver continues with other nodes meanwhile. It reclaims descriptors of the stopped
//! connection as soon as it sees PARTED. So before that, each of them is ended in its own word and
//! marked as reported: the engine does not change it afterwards, however late a bit of it is found.

use super::parting::Parting;
use super::{Fabric, Faults, SoftEngine};
use crate::cut::{bit_of, read_set, write_set, CUT, PARTED};
use crate::descriptor::{Descriptor, Own, State};
use crate::regs::{InterruptBits, Register, RegisterAccess};

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// One bounded piece of stopping the connections that are cut.
    pub(super) fn part_some(&mut self, budget: u32) {
        let round = self.memory.read(Register::CutRound);
        if round != self.parting.round {
            // The round was read first: the words are of this round, or of one that will be read
            // next.
            let cut = read_set(&self.memory, CUT);
            self.parting = Parting { round, cut, ..Parting::default() };
            self.show_parted();
        }
        if self.parting.left() != 0 {
            self.part_piece(budget);
            self.progress.busy |= self.parting.left() != 0;
        }
        if self.parting.cut != 0 {
            self.show_parted();
        }
    }

    /// A piece of one pass over the table.
    fn part_piece(&mut self, budget: u32) {
        if self.parting.at == 0 {
            self.parting.pass = self.parting.left();
            self.parting.held = 0;
            self.let_go_of_cut();
        }
        let count = self.memory.geometry().descriptors;
        let end = self.parting.at.saturating_add(budget.max(64)).min(count);
        for index in self.parting.at..end {
            self.parting.held |= self.part(index);
        }
        self.parting.at = end;
        if end >= count {
            self.parting.at = 0;
            let parted = self.parting.pass & !self.parting.held;
            self.parting.parted |= parted;
            if parted != 0 {
                self.raise(InterruptBits::LINK);
            }
        }
    }

    /// Writes which connections have stopped, whatever the words held.
    fn show_parted(&self) {
        let Parting { round, parted, .. } = self.parting;
        if read_set(&self.memory, PARTED) != parted {
            write_set(&self.memory, PARTED, parted);
        }
        // The round last: with it, the words are those of this round, or of no round yet.
        if self.memory.read(Register::PartedRound) != round {
            self.memory.write(Register::PartedRound, round);
        }
    }

    /// Whether a pull from a node must not begin. A cut that the driver has ended does not count,
    /// even if the engine has not seen its end yet: pulls posted after the end must begin. The
    /// caller has seen the descriptor owned.
    pub(super) fn is_cut(&self, node: u32) -> bool {
        self.parting.cut & bit_of(node) != 0 && self.is_present_round()
    }

    fn is_present_round(&self) -> bool {
        self.memory.read(Register::CutRound) == self.parting.round
    }

    /// Ends every pull from a node of this pass.
    fn let_go_of_cut(&mut self) {
        for at in 0..self.pulls.len() {
            let node = self.pulls.get(at).and_then(Option::as_ref).map(|pull| pull.node());
            if node.is_some_and(|node| self.parting.pass & bit_of(node) != 0) {
                self.let_go(at);
            }
        }
    }

    /// Takes one descriptor back, if it belongs to a node of this pass. Returns the bit of a node
    /// that still holds it.
    fn part(&self, index: u32) -> u64 {
        let Some(descriptor) = self.memory.descriptor(index) else { return 0 };
        let own = descriptor.own();
        let node = match own.state() {
            Some(State::Owned) => descriptor.read().node,
            Some(State::Busy) => own.puller(),
            Some(State::Done | State::Untouched | State::Touched) if !own.reported() => {
                descriptor.read().node
            }
            _ => return 0,
        };
        let bit = self.parting.pass & bit_of(node);
        // A descriptor that was posted after the cut's end, or came back after it, must not be
        // taken. It was visible, so the end is visible too, and this pass does not count.
        if bit == 0 || (self.is_present_round() && self.end(descriptor, own)) {
            0
        } else {
            bit
        }
    }

    /// Ends the use of a descriptor of a cut connection and marks it as reported. Returns whether
    /// it did.
    fn end(&self, descriptor: &Descriptor, own: Own) -> bool {
        let ended = match own.state() {
            Some(State::Owned) => own.into(State::Untouched).reporting(),
            Some(State::Busy) if !self.fabric.alive(own.puller()) => {
                own.into(State::Touched).reporting()
            }
            Some(State::Busy) => {
                // The puller releases it, and the next pass finds the outcome.
                let _ = own.invalidated() || descriptor.swap(own, own.invalidating());
                return false;
            }
            _ => own.reporting(),
        };
        descriptor.swap(own, ended)
    }
}
