// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node's payload window in the fabric, as the memory of a file service.

use lnd_sim::fabric::MemoryWindow;

use super::bytes::Bytes;
use super::pages::WindowMemory;

impl WindowMemory for MemoryWindow<'_> {
    fn bytes(&self, address: u64, length: u32) -> Bytes<'_> {
        let Some(place) = self.place(address, length) else {
            unreachable!("a buffer of this node's own window")
        };
        // SAFETY: within the window, which is mapped and initialised for as long as the fabric is.
        unsafe { Bytes::new(place, length as usize) }
    }

    fn read(&self, address: u64, into: &mut [u8]) {
        let done = lnd_core::ports::Memory::read(self, address, into);
        assert!(done.is_ok(), "a buffer of this node's own window");
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        let done = lnd_core::ports::Memory::write(self, address, from);
        assert!(done.is_ok(), "a buffer of this node's own window");
    }
}
