// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver's side of the registers that stop connections one by one: which node's connection is cut,
//! and which number it has.

use core::num::NonZeroU32;

use lnd_core::ports::Features;

use super::identity;
use crate::cut::{bit_of, read_set, write_set, CONNECTED_NODES, CUT, PARTED};
use crate::regs::{Register, RegisterAccess};

/// The connections of one link, one with each node. There is one of this for each link. Context: any one at
/// a time; the registers are those of the link in each call.
///
/// A connection has a number that no other connection of the link has had. The next one with the same node
/// has another.
#[derive(Debug)]
pub struct Connections {
    /// Whether the engine can do it at all.
    supported: bool,
    /// What was last written to CUT, and under which round.
    cut: u64,
    round: u32,
    /// The number that was given last.
    last: u32,
    numbers: [u32; CONNECTED_NODES as usize],
}

impl Connections {
    /// Takes charge of the connections of an engine; none is cut. An engine that lacks
    /// [`Features::CONNECTIONS`], or does not identify itself, has none.
    pub fn new(registers: &impl RegisterAccess) -> Self {
        let features = Features::from_bits_retain(registers.read(Register::Features));
        let supported = features.contains(Features::CONNECTIONS) && identity::is_right(registers);
        let (round, numbers) = (registers.read(Register::CutRound), [0; CONNECTED_NODES as usize]);
        let mut this = Self { supported, cut: 0, round, last: 0, numbers };
        this.renew_all();
        if supported {
            this.command(registers);
        }
        this
    }

    /// The number of the present connection with a node. `None`: it cannot be stopped by itself; that is
    /// constant.
    pub fn number(&self, node: u32) -> Option<NonZeroU32> {
        let number = self.numbers.get(node as usize).filter(|_| self.supported)?;
        NonZeroU32::new(*number)
    }

    /// Whether the connection of this number is a present one.
    pub fn is_present(&self, number: NonZeroU32) -> bool {
        self.node_of(number).is_some()
    }

    /// Asks for the stop of a present connection; of another one, nothing. Asking twice is asking once.
    pub fn cut(&mut self, registers: &impl RegisterAccess, number: NonZeroU32) {
        let Some(node) = self.node_of(number) else { return };
        if self.cut & bit_of(node) == 0 {
            self.cut |= bit_of(node);
            self.command(registers);
        }
    }

    /// Whether a connection has stopped, as the device says in answer to this very cut. One that is not a
    /// present one has. `None`: the device does not identify itself. A cut that has not reached the device
    /// is repeated.
    pub fn has_parted(
        &mut self,
        registers: &impl RegisterAccess,
        number: NonZeroU32,
    ) -> Option<bool> {
        let Some(node) = self.node_of(number) else { return Some(true) };
        // Before and after: the bus may fail, or recover, between two reads.
        let before = identity::is_right(registers);
        let written = (read_set(registers, CUT), registers.read(Register::CutRound));
        // The round first: what is in the words afterwards is of it.
        let round = registers.read(Register::PartedRound);
        let parted = read_set(registers, PARTED);
        if !before || !identity::is_right(registers) {
            return None;
        }
        if written != (self.cut, self.round) {
            self.command(registers);
            return Some(false);
        }
        Some(round == self.round && self.cut & parted & bit_of(node) != 0)
    }

    /// The connection is used up, and the next one takes its place: what is posted from now on is its. Only
    /// when the connection has stopped.
    pub fn renew(&mut self, registers: &impl RegisterAccess, number: NonZeroU32) {
        let Some(node) = self.node_of(number) else { return };
        let next = self.next_number();
        if let Some(place) = self.numbers.get_mut(node as usize) {
            *place = next;
        }
        if self.cut & bit_of(node) != 0 {
            self.cut &= !bit_of(node);
            self.command(registers);
        }
    }

    /// The link was reset, and all of its connections with it: the engine's reset has cut none.
    pub fn renew_all(&mut self) {
        self.cut = 0;
        for node in 0..self.numbers.len() {
            let next = self.next_number();
            if let Some(place) = self.numbers.get_mut(node) {
                *place = next;
            }
        }
    }

    /// Numbers go up; the way round is so long that none comes again while another layer remembers it.
    fn next_number(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.last
    }

    fn node_of(&self, number: NonZeroU32) -> Option<u32> {
        self.numbers.iter().position(|it| *it == number.get()).map(|node| node as u32)
    }

    /// Writes CUT, and then its round: an answer to what was there before is none.
    fn command(&mut self, registers: &impl RegisterAccess) {
        self.round = self.round.wrapping_add(1);
        write_set(registers, CUT, self.cut);
        registers.write(Register::CutRound, self.round);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::ptr::NonNull;

    use super::*;
    use crate::memory::{LinkGeometry, LinkMemory};

    #[repr(align(64))]
    struct Block([u32; 256]);

    /// Each word to the device has a round of its own, and only news are told.
    #[test]
    fn a_connection_is_cut_once_and_renewed_once() {
        let mut block = Block([0; 256]);
        let base = NonNull::from(&mut block.0).cast();
        let geometry = LinkGeometry { descriptors: 2, lists: 0 };
        let features = Features::CONNECTIONS.0;
        // SAFETY: the block outlives the memory, which alone is used from now on.
        let memory = unsafe { LinkMemory::format(base, 1024, geometry, 0, features, 7) }.unwrap();
        let mut connections = Connections::new(&memory);
        let round = || memory.read(Register::CutRound);
        let (number, first) = (connections.number(5).unwrap(), round());
        connections.cut(&memory, number);
        assert_eq!((round(), read_set(&memory, CUT)), (first + 1, 1 << 5));
        connections.cut(&memory, number);
        assert_eq!(round(), first + 1, "asking twice is asking once");
        connections.renew(&memory, number);
        assert_eq!((round(), read_set(&memory, CUT)), (first + 2, 0));
        let next = connections.number(5).unwrap();
        assert!(next != number && !connections.is_present(number));
        connections.cut(&memory, number);
        connections.renew(&memory, number);
        assert_eq!((round(), connections.number(5)), (first + 2, Some(next)), "one of before");
        // One that was never cut is renewed without a word: the device knows nothing of it.
        connections.renew(&memory, next);
        assert_eq!(round(), first + 2);
        assert!(connections.number(5) != Some(next) && connections.number(64).is_none());
    }
}
