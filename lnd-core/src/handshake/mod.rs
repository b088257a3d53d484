// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds the handshake with peers: hellos, their answers, and places for new peers.

mod ack;
mod control;
mod events;
mod hello;
mod places;
mod strangers;
mod timeout;
mod unheard;
