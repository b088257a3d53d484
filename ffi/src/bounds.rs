// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Upper bounds of sizes, for memory that a program reserves when it is compiled. `LND_NI_BYTES`
//! and `LND_RING_BYTES` in the header are made of them; lnd_ni_size() and lnd_ring_size() are
//! exact.

/// Bytes of an NI that do not depend on the sizes of its tables, at most.
pub const LND_NI_FIXED: u32 = 10_240;

/// Bytes of an NI for each transfer, at most.
pub const LND_NI_SLOT: u32 = 256;

/// Bytes of an NI for each peer, at most.
pub const LND_NI_PEER: u32 = 176;

/// Bytes of an NI for each link, at most.
pub const LND_NI_LINK: u32 = 1024;

/// Bytes of an NI for each list of more than one fragment, at most.
pub const LND_NI_LIST: u32 = 4160;

/// Bytes of an NI for each connection that fails at a time, at most.
pub const LND_NI_CONNECTION: u32 = 80;

/// Bytes of a link's ring memory that do not depend on its tables, at most.
pub const LND_RING_FIXED: u32 = 640;

/// Bytes of a link's ring memory for each transfer, at most.
pub const LND_RING_SLOT: u32 = 106;

/// Bytes of a link's ring memory for each list of more than one fragment.
pub const LND_RING_LIST: u32 = 4096;
