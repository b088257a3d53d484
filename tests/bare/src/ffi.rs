// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-ffi`: its own functions are entry points already; here they are only pulled in.

pub use lnd_ffi::create::lnd_ni_create;
