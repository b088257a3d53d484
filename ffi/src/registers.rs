// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The platform's part of an engine behind registers.

use lnd_core::id::{LinkId, Nid};
use lnd_dma::driver::Nodes;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};

use crate::platform::Platform;

/// A link's registers: the platform's, or words of the ring memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    platform: &'static Platform,
    memory: &'static LinkMemory<'static>,
    link: u32,
}

impl Registers {
    pub const fn new(
        platform: &'static Platform,
        memory: &'static LinkMemory<'static>,
        link: LinkId,
    ) -> Self {
        Self { platform, memory, link: link.index() as u32 }
    }

    pub const fn memory(&self) -> LinkMemory<'static> {
        *self.memory
    }

    /// A register's offset in bytes, as in docs/registers.md.
    fn offset(&self, register: Register) -> u32 {
        let block = self.memory.registers();
        let word = core::ptr::from_ref(block.word(register)) as usize;
        word.wrapping_sub(core::ptr::from_ref(block) as usize) as u32
    }
}

impl RegisterAccess for Registers {
    fn read(&self, register: Register) -> u32 {
        if self.platform.has_registers() {
            self.platform.reg_read(self.link, self.offset(register))
        } else {
            self.memory.read(register)
        }
    }

    fn write(&self, register: Register, value: u32) {
        if self.platform.has_registers() {
            self.platform.reg_write(self.link, self.offset(register), value);
        } else {
            self.memory.write(register, value);
        }
    }
}

/// The fabric's numbers of nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers(pub &'static Platform);

impl Nodes for Numbers {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        self.0.node_of(nid.raw())
    }
}
