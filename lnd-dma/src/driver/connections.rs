// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver's side of the registers that stop connections one by one: which node's connection is
//! cut, and the number of each connection.

use core::num::NonZeroU32;

use lnd_core::ports::Features;

use super::identity;
use crate::cut::{bit_of, read_set, write_set, CONNECTED_NODES, CUT, PARTED};
use crate::regs::{Register, RegisterAccess};

/// The connections of one link, one with each node. Each link has one such table. Context: one at a
/// time; each call gets the registers of that link.
///
/// A connection has a number that no other connection of the link has had. The next connection with
/// the same node has another number.
#[derive(Debug)]
pub struct Connections {
    /// Whether the engine supports connections.
    supported: bool,
    /// The last value written to CUT, and its round.
    cut: u64,
    round: u32,
    /// The last number that was assigned.
    last: u32,
    numbers: [u32; CONNECTED_NODES as usize],
}

impl Connections {
    /// Takes control of the connections of an engine; none is cut. An engine without
    /// [`Features::CONNECTIONS`], or that does not identify itself, has none.
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

    /// The number of the current connection with a node. `None`: it cannot be stopped separately;
    /// that is constant.
    pub fn number(&self, node: u32) -> Option<NonZeroU32> {
        let number = self.numbers.get(node as usize).filter(|_| self.supported)?;
        NonZeroU32::new(*number)
    }

    /// Whether this number is that of a current connection.
    pub fn is_present(&self, number: NonZeroU32) -> bool {
        self.node_of(number).is_some()
    }

    /// Requests a stop of a current connection; ignores any other number. A second request has no
    /// effect.
    pub fn cut(&mut self, registers: &impl RegisterAccess, number: NonZeroU32) {
        let Some(node) = self.node_of(number) else { return };
        if self.cut & bit_of(node) == 0 {
            self.cut |= bit_of(node);
            self.command(registers);
        }
    }

    /// Whether a connection has stopped, from the device's answer to this very cut. A connection
    /// that is not current has stopped. `None`: the device does not identify itself. A cut that has
    /// not reached the device is repeated.
    pub fn has_parted(
        &mut self,
        registers: &impl RegisterAccess,
        number: NonZeroU32,
    ) -> Option<bool> {
        let Some(node) = self.node_of(number) else { return Some(true) };
        // Checked before and after: the bus may fail, or recover, between two reads.
        let before = identity::is_right(registers);
        let written = self.written(registers);
        // The round is read first: the words read afterwards are of that round or later.
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

    /// Ends a stopped connection and puts the next one in its place: later posts belong to the next
    /// one. `false`: the device does not show the end of the cut, and nothing else would reveal
    /// that. No pull from the node begins, and each comes back in time when it is asked back.
    #[must_use]
    pub fn renew(&mut self, registers: &impl RegisterAccess, number: NonZeroU32) -> bool {
        let Some(node) = self.node_of(number) else { return true };
        let next = self.next_number();
        if let Some(place) = self.numbers.get_mut(node as usize) {
            *place = next;
        }
        if self.cut & bit_of(node) != 0 {
            self.cut &= !bit_of(node);
            self.command(registers);
            return self.written(registers) == (self.cut, self.round);
        }
        true
    }

    /// What the device shows of the last command.
    fn written(&self, registers: &impl RegisterAccess) -> (u64, u32) {
        (read_set(registers, CUT), registers.read(Register::CutRound))
    }

    /// The link was reset with all its connections: the engine's reset has cleared all cuts.
    pub fn renew_all(&mut self) {
        self.cut = 0;
        for node in 0..self.numbers.len() {
            let next = self.next_number();
            if let Some(place) = self.numbers.get_mut(node) {
                *place = next;
            }
        }
    }

    /// Numbers increase; the wrap takes so long that no layer still holds a number when it recurs.
    fn next_number(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.last
    }

    fn node_of(&self, number: NonZeroU32) -> Option<u32> {
        self.numbers.iter().position(|it| *it == number.get()).map(|node| node as u32)
    }

    /// Writes CUT, then its round: an answer to an earlier round does not count.
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

    /// Each write to the device has a round of its own, and only changes are written.
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
        assert_eq!(round(), first + 1, "a second request has no effect");
        assert!(connections.renew(&memory, number));
        assert_eq!((round(), read_set(&memory, CUT)), (first + 2, 0));
        let next = connections.number(5).unwrap();
        assert!(next != number && !connections.is_present(number));
        connections.cut(&memory, number);
        assert!(connections.renew(&memory, number));
        assert_eq!((round(), connections.number(5)), (first + 2, Some(next)), "a former one");
        // A connection that was never cut is renewed without a write: the device does not see it.
        assert!(connections.renew(&memory, next));
        assert_eq!(round(), first + 2);
        assert!(connections.number(5) != Some(next) && connections.number(64).is_none());
    }
}
