// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What every host would write itself: a round of its thread, messages that wait, simple ports.
//!
//! The driver depends on nothing here. A host takes what suits it and writes the rest.
//!
//! A polling host is three calls:
//!
//! ```
//! use lnd_core::driver::{Arrival, Driver, Report};
//! use lnd_core::host::Backlog;
//! use lnd_core::id::LinkId;
//! use lnd_core::ports::{Completion, Ports};
//! use lnd_core::time::Instant;
//!
//! fn round<P: Ports>(
//!     driver: &mut Driver<'_, P>,
//!     (now, link): (Instant, LinkId),
//!     mail: &mut Backlog<4096, 16>,
//!     completions: &mut Vec<Completion>,
//!     decide: impl FnMut(Arrival<'_, '_, '_, P>) -> bool,
//!     reported: impl FnMut(Report),
//! ) -> Option<Instant> {
//!     let waits = mail.offer(now, link, driver, decide);
//!     let next = driver.run_once(now, completions.drain(..), reported);
//!     // Room for what waits: the next round begins at once.
//!     if waits && driver.offer_again() { Some(now) } else { next }
//! }
//! ```

mod backlog;
mod linear;
mod round;
mod without;

pub use backlog::Backlog;
pub use linear::LinearMemory;
pub use without::WithoutEngine;
