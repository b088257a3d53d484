// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Handshakes with peers, places for them, and messages that belong to no transfer.

mod ack;
mod control;
mod events;
mod hello;
mod places;
mod strangers;
mod timeout;
mod unheard;
