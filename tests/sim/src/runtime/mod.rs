// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Real time: a node on its own thread, an engine on a thread per link, over a fabric.

mod bells;
mod clock;
mod engine;
mod station;
mod watch;

pub use bells::{sharpen_timers, Bells, Idle};
pub use clock::{Clock, Wake};
pub use engine::{drive_engine, EngineRef, EngineStats, Mover};
pub use station::{random_word, Monitor, Station, StationError, OPENING};
pub use watch::Watch;
