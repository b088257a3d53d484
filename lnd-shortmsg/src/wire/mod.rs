// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Wire format, version 1 (R32): explicit offsets, both byte orders, every count bounded by the
//! length of the frame in hand, reserved bytes zero and checked.
//!
//! The format is described for implementers in `docs/wire-format.md`; its constants are in
//! [`layout`]. Nothing here looks into an upper-layer header.

mod checksum;
mod decode;
mod encode;
mod error;
pub mod layout;
mod order;

pub use checksum::{checksum, Checksum};
pub use decode::{decode, Frame};
pub use encode::{encode, encode_as, encoded_len};
pub use error::{DecodeCounters, DecodeError, EncodeError};
pub use order::Order;

use layout::{IMMEDIATE_LEN, MAX_FRAME};
use lnd_core::message::MAX_HEADER;

/// Largest IMMEDIATE payload in bytes that fits a frame of `frame_size` bytes together with an
/// upper-layer header of [`MAX_HEADER`] bytes; zero if not even the header fits.
pub const fn max_immediate(frame_size: usize) -> u32 {
    let frame_size = if frame_size < MAX_FRAME { frame_size } else { MAX_FRAME };
    // At most MAX_FRAME, so the cast loses nothing.
    frame_size.saturating_sub(IMMEDIATE_LEN + MAX_HEADER) as u32
}
