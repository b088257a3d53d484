// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stopping the connection with one node; the other nodes go on (REG-18).
//!
//! Our own pulls from that node end where they are. What is staged to it and not claimed comes back: it and
//! its puller exchange the same word, and one of them wins. What is claimed is wanted back, and the puller
//! sees it between two chunks; of a node that is dead it comes back at once. PARTED is said after a whole
//! pass over the table that found no claim of that node, with no pull from it left.
//!
//! The driver goes on with other nodes meanwhile, and takes descriptors of the stopped connection away as
//! soon as it sees PARTED. So before that, each of them is told of by its own word and noted: nothing here
//! changes it any more, however late a bit of it is found.

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
            // The round was read first: the words are of this round, or of one that is about to be told.
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

    /// Shows which connections have stopped, whatever has been written there meanwhile.
    fn show_parted(&self) {
        let Parting { round, parted, .. } = self.parting;
        if read_set(&self.memory, PARTED) != parted {
            write_set(&self.memory, PARTED, parted);
        }
        // The round last: with it, the words are those of the round, or of nothing yet.
        if self.memory.read(Register::PartedRound) != round {
            self.memory.write(Register::PartedRound, round);
        }
    }

    /// Whether a pull from a node is not to be begun. A cut that the driver has ended meanwhile does not
    /// count, though it is not noticed yet: what was posted after its end is to be begun. The caller has
    /// seen the descriptor handed over.
    pub(super) fn is_cut(&self, node: u32) -> bool {
        self.parting.cut & bit_of(node) != 0 && self.is_present_round()
    }

    fn is_present_round(&self) -> bool {
        self.memory.read(Register::CutRound) == self.parting.round
    }

    /// Lets go of every pull from a node that the pass is about.
    fn let_go_of_cut(&mut self) {
        for at in 0..self.pulls.len() {
            let node = self.pulls.get(at).and_then(Option::as_ref).map(|pull| pull.node());
            if node.is_some_and(|node| self.parting.pass & bit_of(node) != 0) {
                self.let_go(at);
            }
        }
    }

    /// Takes one descriptor back, if it is of a node that the pass is about. The bit of a node that still
    /// holds it.
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
        // What was posted after the cut's end, or has come back after it, is not ours to take. It was seen,
        // so the end is to be seen as well, and this pass counts for nothing.
        if bit == 0 || (self.is_present_round() && self.end(descriptor, own)) {
            0
        } else {
            bit
        }
    }

    /// Ends the use of a descriptor of a connection that is cut, and notes it; whether that was done.
    fn end(&self, descriptor: &Descriptor, own: Own) -> bool {
        let ended = match own.state() {
            Some(State::Owned) => own.into(State::Untouched).reporting(),
            Some(State::Busy) if !self.fabric.alive(own.puller()) => {
                own.into(State::Touched).reporting()
            }
            Some(State::Busy) => {
                // The puller lets go, and the next pass finds what it says.
                let _ = own.invalidated() || descriptor.swap(own, own.invalidating());
                return false;
            }
            _ => own.reporting(),
        };
        descriptor.swap(own, ended)
    }
}
