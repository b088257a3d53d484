// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short head: a frame of the data path between two nodes whose channel says who has sent it.
//!
//! Five little-endian words of 64 bits, whatever the machines are, then tags and content. It names
//! no node. It keeps both incarnations: by these a frame of one that is over is told apart.

mod decode;
mod encode;

pub(crate) use decode::{decode, decode_inline, Inline};
#[cfg(not(feature = "compact"))]
pub(crate) use encode::ShortRequest;
pub(super) use encode::{encode, encoded_len, fill};
pub(crate) use encode::{encode_inline, inline_len, is_short};
