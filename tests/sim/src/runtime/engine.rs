// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A link's engine at full speed on a thread, its interrupts included.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lnd_core::counters::Counters;
use lnd_core::driver::Interrupt;
use lnd_core::ports::NoTrace;
use lnd_dma::driver::CompletionQueue;
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{NoFaults, SoftEngine};

use super::clock::{Clock, Wake};
use crate::fabric::{Bus, Violation};

/// An engine and the interrupt that it raises.
#[derive(Debug)]
pub struct EngineSeat<'m> {
    /// The engine.
    pub engine: SoftEngine<'m, Bus<'m>, NoFaults>,
    /// The interrupt.
    pub interrupt: Interrupt<'m, CompletionQueue<'m, LinkMemory<'m>>>,
}

/// What an engine has done in its life.
#[derive(Clone, Debug, Default)]
pub struct EngineStats {
    /// Bytes moved.
    pub bytes: u64,
    /// Completions posted.
    pub completions: u64,
    /// What the interrupt has counted.
    pub counters: Counters,
    /// Accesses that the memory oracle objected to, and the first.
    pub violations: (u64, Option<Violation>),
}

/// Steps done without a pause before an idle engine begins to rest.
const SPIN: u32 = 200;

/// Drives an engine until `kill`; wakes the node's thread when something has ended.
pub fn drive_engine(
    seat: &mut EngineSeat<'_>,
    clock: Clock,
    kill: &AtomicBool,
    wake: &Wake,
) -> EngineStats {
    let mut stats = EngineStats::default();
    let mut idle = 0;
    while !kill.load(Ordering::Relaxed) {
        let now = clock.now();
        let progress = seat.engine.step(now, 64);
        stats.bytes += u64::from(progress.bytes);
        stats.completions += u64::from(progress.completions);
        if progress.completions > 0 || !seat.interrupt.queue().is_empty() {
            let served = seat.interrupt.on_interrupt(now, 256, &mut NoTrace);
            if served.wake {
                wake.wake();
            }
        }
        if progress.busy {
            idle = 0;
        } else {
            idle += 1;
            rest(idle);
        }
    }
    stats.counters = seat.interrupt.counters().clone();
    stats.violations = seat.engine.fabric_mut().violations();
    stats
}

/// Two processors are shared by many engines here: an idle one must let the others work.
fn rest(idle: u32) {
    if idle < SPIN {
        core::hint::spin_loop();
    } else if idle < 2 * SPIN {
        thread::yield_now();
    } else {
        thread::sleep(Duration::from_micros(50));
    }
}
