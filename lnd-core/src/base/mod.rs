// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds names, times, messages, counters and atomics, which all other folders use.

pub mod counters;
#[doc(hidden)]
pub mod defect;
pub mod fragment;
pub mod id;
pub mod key;
pub mod message;
pub(crate) mod narrow;
pub mod owned;
mod sentences;
pub mod sync;
pub mod time;
pub mod wake;
