// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mistakes that the types rule out. Each file of `cases` makes one, and `tests/cases.rs` shows
//! that the compiler refuses it for the reason that its `.stderr` file gives.
