// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an engine that is operations of the platform is given, and what it says.

use core::ffi::c_void;

use super::request::lnd_frag;

/// Most bytes of a key.
pub const LND_MAX_KEY: usize = 32;

/// struct lnd_tag - Names one use of a descriptor.
/// @index: the descriptor, below lnd_config.slots: an index into tables of the engine's own.
/// @generation: which of its uses.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_tag {
    /// Descriptor.
    pub index: u32,
    /// Use of it.
    pub generation: u32,
}

/// enum lnd_motion - Which way a descriptor moves data.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_motion {
    /// Memory that the peer, and no other node, may read.
    LND_MOTION_STAGE = 0,
    /// Read what the peer has staged.
    LND_MOTION_PULL = 1,
}

/// struct lnd_bd - A buffer descriptor that is posted.
/// @size: sizeof(struct lnd_bd).
/// @link: the link.
/// @tag: names it, here and in lnd_completed(). No other descriptor of this index is posted on any link
///       until this one has come back.
/// @source: a pull: the peer's descriptor; else 0.
/// @nid: the peer.
/// @motion: enum lnd_motion.
/// @length: bytes to move; @frags hold as many at least.
/// @frags: the memory, in order; the vector is the library's again when engine_post() returns.
/// @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
/// @key_len: bytes of @key.
/// @key: a pull: what engine_key() of the peer's engine has said of @source, as the peer has sent it: any
///       bytes, and none if its engine has no keys. The library's again when engine_post() returns.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_bd {
    /// Bytes of this struct.
    pub size: u32,
    /// Link.
    pub link: u32,
    /// Name.
    pub tag: lnd_tag,
    /// The peer's descriptor.
    pub source: lnd_tag,
    /// Peer.
    pub nid: u64,
    /// Which way.
    pub motion: u32,
    /// Bytes.
    pub length: u32,
    /// Memory.
    pub frags: *const lnd_frag,
    /// Number of fragments.
    pub nfrags: u32,
    /// Bytes of the key.
    pub key_len: u32,
    /// The peer's key.
    pub key: *const c_void,
}

/// enum lnd_post - What engine_post() returns.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_post {
    /// Posted: it comes back by lnd_completed(), or by a stop.
    LND_POST_DONE = 0,
    /// Not posted: the engine cannot do this. The transfer ends as a local failure.
    LND_POST_INVALID = 1,
    /// Not posted: the engine has no room. The transfer ends as a local failure.
    LND_POST_FULL = 2,
    /// Not posted: the device does not work. The link fails.
    LND_POST_GONE = 3,
}

/// enum lnd_returned - How a descriptor came back.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_returned {
    /// All bytes were moved.
    LND_RETURNED_OK = 0,
    /// With an error, and the engine vouches that not one byte was moved, or will be.
    LND_RETURNED_UNTOUCHED = 1,
    /// With an error, and bytes may have been moved.
    LND_RETURNED_TOUCHED = 2,
    /// Of engine_reclaim() alone: nothing is known of its end.
    LND_RETURNED_UNKNOWN = 3,
}
