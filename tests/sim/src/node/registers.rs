// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The registers of a link as its node sees them: now and then the bus does not answer.

use std::cell::Cell;
use std::rc::Rc;

use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};

/// Registers behind a bus. While it does not answer, reads are all ones and writes are lost.
#[derive(Clone, Debug)]
pub struct Registers<'m> {
    memory: LinkMemory<'m>,
    blank: Rc<Cell<bool>>,
}

impl<'m> Registers<'m> {
    /// Registers that read all ones while `blank` says so.
    pub const fn new(memory: LinkMemory<'m>, blank: Rc<Cell<bool>>) -> Self {
        Self { memory, blank }
    }
}

impl RegisterAccess for Registers<'_> {
    fn read(&self, register: Register) -> u32 {
        if self.blank.get() {
            u32::MAX
        } else {
            self.memory.read(register)
        }
    }

    fn write(&self, register: Register, value: u32) {
        if !self.blank.get() {
            self.memory.write(register, value);
        }
    }
}
