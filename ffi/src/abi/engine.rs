// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The types of an engine that is operations of the platform.

use core::ffi::c_void;

use super::request::lnd_frag;

/// Most bytes of a key.
pub const LND_MAX_KEY: usize = 32;

/// In the capabilities of an engine: the engine of the pulled side reports the end of a pull
/// itself. Without it the puller sends PUT_DONE, and staged memory that comes back as
/// LND_RETURNED_OK does not count as read.
pub const LND_FEATURE_REMOTE_COMPLETION: u32 = 1;

/// In the capabilities of an engine: each descriptor that comes back before its first byte moved is
/// reported as untouched. The library goes by what each descriptor reports. A PUT that its peer has
/// refused, and whose memory comes back as LND_RETURNED_TOUCHED, ends as LND_DELIVERY_UNKNOWN,
/// unless lnd_config.flags has LND_CANCEL_FIRST.
pub const LND_FEATURE_KNOWS_UNTOUCHED: u32 = 2;

/// In the capabilities of an engine with registers: a remote read of an address that is not
/// published ends with an access error and leaves both ends usable. A host of another engine tells
/// lnd_prober_offer() which reads there are.
pub const LND_FEATURE_ILLEGAL_READ: u32 = 4;

/// In the capabilities of an engine with registers: a remote read of no bytes succeeds if the other
/// engine answers.
pub const LND_FEATURE_ZERO_READ: u32 = 8;

/// In the capabilities of an engine with registers: a remote read of the word that a peer has
/// published.
pub const LND_FEATURE_PUBLISHED_READ: u32 = 16;

/// In the capabilities of an engine with registers: its connections stop one by one. An engine that
/// is operations has lnd_ops.connection instead.
pub const LND_FEATURE_CONNECTIONS: u32 = 32;

/// In the capabilities of an engine that is operations and has engine_key(): it pushes, which means
/// that it takes LND_MOTION_EXPOSE and LND_MOTION_PUSH. The answer to a GET of a peer that pushes,
/// too, is written into the peer's memory. Nothing of it is staged.
pub const LND_FEATURE_PUSHES: u32 = 64;

/// struct lnd_tag - Identifies one use of a descriptor.
/// @index: the descriptor, below lnd_config.slots. An engine may use it as an index into its
///         tables.
/// @generation: the number of this use.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_tag {
    /// Descriptor.
    pub index: u32,
    /// Number of the use.
    pub generation: u32,
}

/// enum lnd_motion - The direction in which a descriptor moves data.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_motion {
    /// Memory that this peer may read, and no other node. LND_RETURNED_OK means that the peer has
    /// read all of it: an invalidation that went well is no such end. Without
    /// LND_FEATURE_REMOTE_COMPLETION an OK proves nothing: the message is good when the peer
    /// confirms it.
    LND_MOTION_STAGE = 0,
    /// Reads what the peer has staged.
    LND_MOTION_PULL = 1,
    /// Memory that this peer may write, and no other node. Only with LND_FEATURE_PUSHES. It comes
    /// back when it is invalidated, or by a stop, and never as LND_RETURNED_OK: only the peer knows
    /// when its push is whole. A GET whose memory comes back OK fails unless the peer confirms it.
    LND_MOTION_EXPOSE = 2,
    /// Writes into what the peer has exposed. Only with LND_FEATURE_PUSHES. LND_RETURNED_OK means
    /// that all bytes are in the peer's memory.
    LND_MOTION_PUSH = 3,
}

/// struct lnd_bd - A buffer descriptor to post.
/// @size: sizeof(struct lnd_bd).
/// @link: the link.
/// @tag: identifies it, here and in lnd_completed(). While it is out, no other descriptor of this
///       index is posted on any link.
/// @source: for a pull or push, the peer's descriptor; else 0.
/// @nid: the peer.
/// @motion: enum lnd_motion.
/// @length: bytes to move. @frags hold at least as many.
/// @frags: the memory, in order. The library reuses the vector after engine_post() returns.
/// @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
/// @key_len: bytes of @key.
/// @key: for a pull or push, the key that engine_key() of the peer's engine returned for @source.
///       The bytes come from the peer: any content, and no bytes if its engine has no keys. The
///       library reuses them after engine_post() returns.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_bd {
    /// Bytes of this struct.
    pub size: u32,
    /// Link.
    pub link: u32,
    /// Tag.
    pub tag: lnd_tag,
    /// The peer's descriptor.
    pub source: lnd_tag,
    /// Peer.
    pub nid: u64,
    /// Direction.
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
    /// Posted. The descriptor comes back through lnd_completed() or through a stop.
    LND_POST_DONE = 0,
    /// Not posted: the engine does not support it. The transfer ends as a local failure.
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
    /// With an error. The engine guarantees that it has moved no byte and will move none.
    LND_RETURNED_UNTOUCHED = 1,
    /// Bytes may have been moved, and the engine does not know that all were. Also what staged
    /// memory comes back as that was invalidated after PUT_DONE.
    LND_RETURNED_TOUCHED = 2,
    /// Only from engine_reclaim(): the outcome is not known.
    LND_RETURNED_UNKNOWN = 3,
}
