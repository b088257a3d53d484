// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short-message channel: small, fire and forget.
//!
//! - [`wire`]: what the messages of `lnd-core` look like as bytes (`docs/wire-format.md`).
//! - [`mailbox`]: queues of such frames in memory shared between threads, processes or virtual
//!   machines.
//! - [`dispatch`]: where the two meet: a receiver that counts, and sending in place.
//!
//! ```
//! use lnd_core::id::{Incarnation, Nid};
//! use lnd_core::message::{Envelope, Message};
//! use lnd_shortmsg::dispatch::{transmit, Receiver, Sender};
//! use lnd_shortmsg::mailbox::{spsc, Line, MailboxGeometry};
//! use lnd_shortmsg::wire::{Checksum, Frame, Wire};
//!
//! let mut memory = [Line::ZERO; 64];
//! let geometry = MailboxGeometry::new(8, 256).unwrap();
//! let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
//!
//! let envelope = Envelope {
//!     from: Nid::from_raw(1).unwrap(),
//!     to: Nid::from_raw(2).unwrap(),
//!     from_incarnation: Incarnation::from_raw(10).unwrap(),
//!     to_incarnation: Incarnation::from_raw(20),
//!     session: 1,
//!     sequence: 1,
//!     credits: 0,
//!     credits_of: 0,
//! };
//! let message = Message::Immediate { header: b"header", payload: b"payload" };
//! let wire = Wire::short(Checksum::Off);
//! transmit(&mut producer, &envelope, &message, wire).unwrap();
//!
//! let mut scratch = [0; 256];
//! let mut receiver = Receiver::of(wire, envelope.to);
//! let frame = consumer.recv(&mut scratch).unwrap().unwrap();
//! assert_eq!(receiver.receive_from(Sender::Known(envelope.from), frame), Ok(Frame::Lnd(envelope, message)));
//! ```
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(any(test, loom))]
extern crate std;

pub mod dispatch;
pub mod mailbox;
pub mod wire;
