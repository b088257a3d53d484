// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tables over memory that the caller gives: no allocator, sizes at run time.

pub mod arena;
pub mod claims;
pub mod completed;
pub mod deadlines;
pub mod lanes;
pub mod nids;
