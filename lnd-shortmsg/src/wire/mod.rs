// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Wire format, version 1 (R32): explicit offsets, both byte orders, every count bounded by the
//! length of the frame in hand, reserved bytes zero and checked.
//!
//! The format is described for implementers in `docs/wire-format.md`; its constants are in
//! [`layout`]. Nothing here looks into an upper-layer header.
//!
//! [`Wire`] is a channel's choice: with or without checksums, with heads that name both ends or
//! short ones. [`encode`] and [`decode`] are for heads with names.

mod about;
mod checksum;
mod decode;
mod encode;
mod error;
mod heads;
pub mod layout;
mod order;
pub(crate) mod short;

pub use about::{about, About};
pub use checksum::{checksum, checksum_of_all, Checksum};
pub use decode::{decode, Frame};
pub use encode::{encode, encode_as, encode_inline, encoded_len};
pub use error::{DecodeCounters, DecodeError, EncodeError};
pub use heads::{Heads, Wire};
pub use order::Order;

/// [`Wire::max_immediate`] of frames that name both ends.
pub const fn max_immediate(frame_size: usize) -> u32 {
    Wire::named(Checksum::Off).max_immediate(frame_size)
}
