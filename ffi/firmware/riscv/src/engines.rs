// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hart 1: the hardware. Executes both nodes' engines and moves the bytes.

use lnd_core::time::Instant;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_fw::engines::{Engines, Switches, Wires};
use lnd_fw::memory::{Shared, Window};

use crate::bell::Bell;
use crate::{hart, interrupt};

static WIRES: Shared<Wires> = Shared::new();
static SWITCHES: Switches = Switches::new();

/// Connects the engines, plugs both cables, and wakes hart 1.
pub fn begin(memories: [LinkMemory<'static>; 2], windows: [Window; 2]) {
    for memory in memories {
        memory.write(Register::Link, LinkBits::UP.bits());
    }
    WIRES.put(Wires { memories, windows, switches: &SWITCHES });
    hart::signal(1, true);
}

/// Holds a node's pulls, or lets them continue.
pub fn stall(node: u32, stalled: bool) {
    SWITCHES.stall(node, stalled);
    hart::signal(1, true);
}

/// Stops a node's engine for ever; returns when it has stopped. Context: hart 0's thread.
pub fn kill(node: u32) {
    SWITCHES.kill(node);
    hart::signal(1, true);
    while !SWITCHES.is_dead(node) {
        interrupt::sleep(Instant::NEVER);
    }
}

/// Pulls a node's cable, or puts it back.
pub fn cable(node: u32, plugged: bool) {
    if let Some(memory) = WIRES.get().and_then(|w| w.memories.get(node as usize)) {
        let bits = if plugged { LinkBits::UP } else { LinkBits::empty() };
        Bell(*memory).write(Register::Link, bits.bits());
    }
}

/// Hart 1, for ever.
#[no_mangle]
extern "C" fn device() -> ! {
    let wires = loop {
        if let Some(wires) = WIRES.get() {
            break *wires;
        }
    };
    let mut engines = Engines::new(wires);
    loop {
        // Cleared before the check: a later doorbell ends the sleep.
        hart::signal(1, false);
        loop {
            let stepped = engines.step(Instant::from_nanos(hart::nanoseconds()));
            if stepped.completions != 0 || stepped.died != 0 {
                hart::signal(0, true);
            }
            if !stepped.more {
                break;
            }
        }
        hart::wait();
    }
}
