// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd_health_*` and `lnd_prober_*`: a node's health values, rail selection, resends, recovery and
//! liveness probes. Health is an object of its own: a node has several NIs and one health.
//!
//! It has one owner at a time and no lock. A second concurrent context gets an error.

mod actions;
mod copies;
mod create;
mod handle_table;
mod messages;
mod names;
mod operator;
mod paths;
mod prober;
mod routes;
mod tables;
mod tally;
mod tracker;

pub use actions::*;
pub use copies::*;
pub use create::*;
pub use messages::*;
pub use operator::*;
pub use paths::*;
pub use prober::*;
pub use routes::*;
pub use tables::*;
pub use tally::*;
pub use tracker::*;

use core::mem::{align_of, MaybeUninit};

use ::lnd_health::attempts::Attempts;
use ::lnd_health::node::Action;
use ::lnd_health::Health;
use lnd_core::defect::ordered;
use lnd_core::sync::{AtomicU32, Guarded, Ordering};

use crate::abi::lnd_error;
use handle_table::HandleTable;

const ALIVE: u32 = 0x4c4e_4448;
const DEAD: u32 = 0x6465_6168;

/// struct lnd_health - The health of a node. Opaque.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct lnd_health {
    magic: AtomicU32,
    busy: AtomicU32,
    id: u32,
    entered: &'static Cell,
}

/// The owner's half in its place; written before the object is.
#[derive(Debug)]
struct Cell(Guarded<MaybeUninit<Whole>>);

// SAFETY: only the context that has set `busy` enters the cell.
unsafe impl Sync for Cell {}

/// What the owner uses.
#[derive(Debug)]
struct Whole {
    health: Health<'static>,
    attempts: HandleTable<'static, Attempts>,
    actions: HandleTable<'static, Action>,
}

impl lnd_health {
    /// Uses the object behind a caller's pointer.
    ///
    /// # Safety
    /// The pointer is null, or to memory that can be read as a health object.
    unsafe fn with<R>(
        health: *const Self,
        act: impl FnOnce(u32, &mut Whole) -> Result<R, lnd_error>,
    ) -> Result<R, lnd_error> {
        if health.is_null() {
            return Err(lnd_error::LND_E_NULL);
        }
        if health as usize % align_of::<Self>() != 0 {
            return Err(lnd_error::LND_E_ALIGN);
        }
        // SAFETY: aligned, and readable by the caller's promise; an atomic is valid whatever it
        // holds.
        let magic = unsafe { &(*health).magic };
        // Relaxed: creation and destruction are ordered by the caller.
        if magic.load(Ordering::Relaxed) != ALIVE {
            return Err(lnd_error::LND_E_NI);
        }
        // SAFETY: it has the magic number, so `lnd_health_create` made it.
        let this = unsafe { &*health };
        // Acquire: partner is the Release below.
        if this.busy.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Err(lnd_error::LND_E_BUSY);
        }
        // SAFETY: `busy` was zero and is ours now: no other context is inside.
        let cell = unsafe { &mut *this.entered.0.get() };
        // SAFETY: written before the object was.
        let result = act(this.id, unsafe { cell.assume_init_mut() });
        // Release: partner is the Acquire above.
        this.busy.store(0, ordered("health-left-relaxed", Ordering::Release));
        result
    }
}
