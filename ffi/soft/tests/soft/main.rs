// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fabric from outside: headers, incarnations, messages, engines, and all of it from C.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod abi;
mod damage;
mod engines;
mod found;
mod header;
mod incarnations;
mod land;
mod mail;
mod registers;
