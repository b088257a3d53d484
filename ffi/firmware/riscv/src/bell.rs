// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Doorbells: registers whose writes wake the hardware.

use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};

use crate::hart;

/// A link's registers as the processor writes them: doorbells signal the hardware.
#[derive(Clone, Copy, Debug)]
pub struct Bell(pub LinkMemory<'static>);

impl RegisterAccess for Bell {
    fn read(&self, register: Register) -> u32 {
        self.0.read(register)
    }

    fn write(&self, register: Register, value: u32) {
        self.0.write(register, value);
        // Taking completions makes room: the engine sees that in its next step.
        if register != Register::CompletionHead {
            hart::signal(1, true);
        }
    }
}
