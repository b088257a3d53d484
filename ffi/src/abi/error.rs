// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The errors of all calls.

/// enum lnd_error - The result of a call.
///
/// LND_OK, LND_DONE and LND_REQUEST are not errors. An error means that nothing was done, unless
/// the call says otherwise. A number is never reused for another meaning. Numbers up to 127 that
/// are not listed are reserved.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_error {
    /// Done.
    LND_OK = 0,
    /// A pointer that must not be NULL is NULL.
    LND_E_NULL = 1,
    /// The size field of a struct is not the size of that struct in this version.
    LND_E_SIZE = 2,
    /// A pointer is not aligned for its type.
    LND_E_ALIGN = 3,
    /// The library does not support this version of the ABI.
    LND_E_VERSION = 4,
    /// A value of the configuration is out of its range.
    LND_E_CONFIG = 5,
    /// A required operation is NULL.
    LND_E_OPS = 6,
    /// The memory is too small.
    LND_E_MEMORY = 7,
    /// Not an NI: never created, or destroyed.
    LND_E_NI = 8,
    /// The call is for threads only and was made in an interrupt.
    LND_E_CONTEXT = 9,
    /// The call was made from within an operation or callback that must not make it.
    LND_E_REENTRY = 10,
    /// Another context is in a call. Either the lock does not exclude it, or there is no lock.
    LND_E_BUSY = 11,
    /// The handle belongs to another NI.
    LND_E_FOREIGN = 12,
    /// The object that the handle names has ended.
    LND_E_STALE = 13,
    /// A number is out of its range.
    LND_E_ARGUMENT = 14,
    /// There is no such link.
    LND_E_LINK = 15,
    /// There is no route to this NID, or it is our own.
    LND_E_NO_ROUTE = 16,
    /// The peer is down.
    LND_E_PEER_DOWN = 17,
    /// The table of peers, interfaces or routes is full.
    LND_E_PEERS_FULL = 18,
    /// All transfer slots are in use. Try again after a transfer has ended.
    LND_E_NO_SLOTS = 19,
    /// All fragment lists are in use. Try again after a transfer has ended.
    LND_E_NO_LISTS = 20,
    /// The NI is shutting down.
    LND_E_SHUTTING_DOWN = 21,
    /// A fragment vector breaks a rule: too many fragments, an empty or too long one, or one that
    /// passes the end of the address space.
    LND_E_FRAGMENTS = 22,
    /// A fragment lies outside the reachable memory.
    LND_E_ADDRESS = 23,
    /// The upper-layer header is longer than LND_MAX_HEADER.
    LND_E_HEADER = 24,
    /// More bytes than the fragments hold, or than the other side has room for.
    LND_E_TOO_LONG = 25,
    /// The deadline has passed already.
    LND_E_DEADLINE = 26,
    /// The call does not apply to this kind of request, action or interface.
    LND_E_WRONG_KIND = 27,
    /// The request has already ended. No report follows.
    LND_E_GONE = 28,
    /// No room for the frame now. Keep it and offer it again.
    LND_E_WAIT = 29,
    /// The frame is malformed. It was dropped and counted.
    LND_E_FRAME = 30,
    /// The NI is not quiescent, or a report is still due; or the link does not wait for a proof.
    LND_E_RUNNING = 31,
    /// There is no entry, or no further one.
    LND_E_END = 32,
    /// The ring memory is too small, not formatted, or formatted for other sizes.
    LND_E_RING = 33,
    /// The caller's buffer is too small for even one line.
    LND_E_ROOM = 34,
    /// No such peer.
    LND_E_NO_PEER = 35,
    /// This build of the library lacks the feature.
    LND_E_UNSUPPORTED = 36,
    /// The NI's internal accounting is inconsistent. No caller can cause this.
    LND_E_BOOKS = 37,
    /// The entry already exists.
    LND_E_KNOWN = 38,
    /// Done and ended: the accepted transfer ended within the call, which returns its report.
    /// finalize() is not called for it.
    LND_DONE = 39,
    /// The frame is a peer's request. It stays in the channel until it is decided: see
    /// lnd_frame_in().
    LND_REQUEST = 40,
    /// The link is down and its reset is over. Nothing of it is lent.
    LND_E_LINK_DOWN = 41,
    /// Not an error. It makes the enum 32 bits wide with every compiler.
    LND_E_WIDTH = 0x7fff_ffff,
}

impl lnd_error {
    /// Every error that a call can return, in the order of its number.
    pub const ALL: [Self; 42] = {
        use lnd_error::*;
        [
            LND_OK,
            LND_E_NULL,
            LND_E_SIZE,
            LND_E_ALIGN,
            LND_E_VERSION,
            LND_E_CONFIG,
            LND_E_OPS,
            LND_E_MEMORY,
            LND_E_NI,
            LND_E_CONTEXT,
            LND_E_REENTRY,
            LND_E_BUSY,
            LND_E_FOREIGN,
            LND_E_STALE,
            LND_E_ARGUMENT,
            LND_E_LINK,
            LND_E_NO_ROUTE,
            LND_E_PEER_DOWN,
            LND_E_PEERS_FULL,
            LND_E_NO_SLOTS,
            LND_E_NO_LISTS,
            LND_E_SHUTTING_DOWN,
            LND_E_FRAGMENTS,
            LND_E_ADDRESS,
            LND_E_HEADER,
            LND_E_TOO_LONG,
            LND_E_DEADLINE,
            LND_E_WRONG_KIND,
            LND_E_GONE,
            LND_E_WAIT,
            LND_E_FRAME,
            LND_E_RUNNING,
            LND_E_END,
            LND_E_RING,
            LND_E_ROOM,
            LND_E_NO_PEER,
            LND_E_UNSUPPORTED,
            LND_E_BOOKS,
            LND_E_KNOWN,
            LND_DONE,
            LND_REQUEST,
            LND_E_LINK_DOWN,
        ]
    };
}
