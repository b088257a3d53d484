// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-soft`: its C functions are entry points already and reach everything else; here they are
//! only pulled in.

pub use lnd_soft::abi::lnd_soft_join;
