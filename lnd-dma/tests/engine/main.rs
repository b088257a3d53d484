// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver and the software engine together: nodes × links over plain memory, a bus that checks
//! whose every byte is, and faults on demand. Nothing here depends on how fast anything is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod harness;

mod between;
mod commands;
mod cuts;
mod cycles;
// Reading a book takes Miri minutes.
#[cfg(not(miri))]
mod document;
mod doorbell;
mod edges;
mod faults;
mod found;
mod fragments;
mod garbage;
mod gone;
mod incarnations;
mod interrupt;
mod invalidate;
mod layout;
mod part;
mod parted;
mod phases;
mod reads;
mod refusals;
mod renewed;
mod reset;
mod room;
mod sizes;
mod stop;
mod stuck;
mod threads;
