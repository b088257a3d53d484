// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory for messages that come unasked: request buffers, as LNet's users keep them attached.
//!
//! Each buffer takes messages one behind the other until the longest would not fit any more. Then
//! the layer unlinks it, and when its last message has ended it is attached again.

use lnd_sim::lnet::{Lnet, Match, Md, MeHandle};

use super::pages::{Buffer, Pages, WindowMemory, PAGE};
use super::words::{word, Role};

/// Request buffers on one portal. They match any match bits from any node.
#[derive(Debug)]
pub(super) struct ReceiveBuffers {
    portal: u32,
    role: Role,
    /// Longest message.
    max_message: u32,
    slots: Vec<Slot>,
    closed: bool,
}

#[derive(Debug)]
struct Slot {
    /// Gone when the buffers have been closed.
    buffer: Option<Buffer>,
    me: Option<MeHandle>,
}

/// How many buffers, and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Number of buffers; with two, one is attached while the other is emptied.
    pub buffers: usize,
    /// Bytes of each, at least the longest message.
    pub bytes: u32,
}

impl Room {
    /// Bytes of one buffer for messages of up to `longest` bytes.
    fn each(&self, longest: u32) -> u32 {
        self.bytes.max(longest)
    }

    /// Bytes of the window that they take.
    pub(super) fn total(&self, longest: u32) -> u64 {
        self.buffers as u64 * u64::from(self.each(longest)).next_multiple_of(PAGE)
    }
}

impl ReceiveBuffers {
    /// Attaches the buffers; its owner has seen to it that there are pages for them.
    pub fn new(
        lnet: &mut Lnet,
        pages: &mut Pages,
        (portal, role): (u32, Role),
        room: Room,
        max_message: u32,
    ) -> Self {
        let take = |_| Slot { buffer: pages.alloc(room.each(max_message)), me: None };
        let slots = (0..room.buffers).map(take).filter(|slot| slot.buffer.is_some()).collect();
        let mut buffers = Self { portal, role, max_message, slots, closed: false };
        for slot in 0..buffers.slots.len() {
            buffers.attach(lnet, slot);
        }
        buffers
    }

    /// Where a message lies; `None` if there is none.
    pub fn address_of(&self, slot: u64, offset: u32, length: u32) -> Option<u64> {
        let slot = self.slots.get(usize::try_from(slot).ok()?)?;
        let buffer = slot.buffer.as_ref()?;
        let end = u64::from(offset) + u64::from(length);
        (end <= u64::from(buffer.length())).then(|| buffer.address() + u64::from(offset))
    }

    /// Copies a message out, and nothing if there is none.
    pub fn copy_out(
        &self,
        memory: &impl WindowMemory,
        slot: u64,
        offset: u32,
        length: u32,
        into: &mut Vec<u8>,
    ) {
        into.clear();
        if let Some(address) = self.address_of(slot, offset, length) {
            into.resize(length as usize, 0);
            memory.read(address, into);
        }
    }

    /// A buffer is not used by any message any more.
    pub fn on_unlinked(&mut self, lnet: &mut Lnet, pages: &mut Pages, slot: u64) {
        let Some(index) = usize::try_from(slot).ok().filter(|index| *index < self.slots.len())
        else {
            return;
        };
        self.slots[index].me = None;
        if !self.closed {
            self.attach(lnet, index);
        } else if let Some(buffer) = self.slots[index].buffer.take() {
            pages.free(buffer);
        }
    }

    /// Takes no more messages; the pages come back with the last `Unlinked`.
    pub fn close(&mut self, lnet: &mut Lnet, pages: &mut Pages) {
        self.closed = true;
        for slot in &mut self.slots {
            match slot.me {
                // Stale if the event of its end is on its way.
                Some(me) => drop(lnet.unlink(me)),
                None => slot.buffer.take().into_iter().for_each(|buffer| pages.free(buffer)),
            }
        }
    }

    fn attach(&mut self, lnet: &mut Lnet, index: usize) {
        let slot = &mut self.slots[index];
        let Some(buffer) = &slot.buffer else { return };
        let criteria = Match { portal: self.portal, bits: 0, ignore: u64::MAX, from: None };
        let md = Md {
            memory: buffer.memory(buffer.length()),
            put: true,
            max_size: Some(self.max_message),
            unlink: true,
            user: word(self.role, index as u64),
            ..Md::default()
        };
        // A buffer of pages is memory that the driver can use, unless it is longer than a transfer.
        slot.me = lnet.attach(criteria, md).ok();
    }
}
