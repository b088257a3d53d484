// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds tables over the caller's memory: no allocator, sizes at run time (R61).

pub mod arena;
pub mod claims;
pub mod completed;
pub mod deadlines;
pub mod lanes;
pub mod nids;
