// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The chapters of the book that have Rust examples: `cargo test -p lnd-book` runs them.
//! `tests/parts/book.py` finds a chapter with examples that is not here.

#[cfg(doctest)]
use lnd_core as _;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/problem.md")]
mod problem {}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/walks.md")]
mod walks {}
