// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every way in which a call can fail.

/// enum lnd_error - How a call ended.
///
/// LND_OK, LND_DONE and LND_REQUEST are no errors. An error means that nothing was done, unless the call
/// says otherwise. Numbers are never used
/// again for another meaning; those up to 127 that are not listed are reserved for later versions.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_error {
    /// Done.
    LND_OK = 0,
    /// A pointer that must not be NULL is.
    LND_E_NULL = 1,
    /// A struct's size field is not the size of that struct in this version.
    LND_E_SIZE = 2,
    /// A pointer is not aligned as its type needs.
    LND_E_ALIGN = 3,
    /// The library does not speak this version of the ABI.
    LND_E_VERSION = 4,
    /// A value of the configuration is out of its range.
    LND_E_CONFIG = 5,
    /// An operation that must be given is NULL.
    LND_E_OPS = 6,
    /// The memory is too small.
    LND_E_MEMORY = 7,
    /// This is no NI: never created, or destroyed.
    LND_E_NI = 8,
    /// The call is for threads and was made in an interrupt.
    LND_E_CONTEXT = 9,
    /// The call was made from within an operation or callback that may not make it.
    LND_E_REENTRY = 10,
    /// Another context is inside: the lock does not exclude it, or does not have to.
    LND_E_BUSY = 11,
    /// The handle belongs to another NI.
    LND_E_FOREIGN = 12,
    /// The handle is of something that has ended.
    LND_E_STALE = 13,
    /// A number is out of its range.
    LND_E_ARGUMENT = 14,
    /// There is no such link.
    LND_E_LINK = 15,
    /// There is no way to this NID, or it is our own.
    LND_E_NO_ROUTE = 16,
    /// The peer is down.
    LND_E_PEER_DOWN = 17,
    /// No more peers, interfaces or routes can be taken up.
    LND_E_PEERS_FULL = 18,
    /// All transfer slots are in use: try again when something has ended.
    LND_E_NO_SLOTS = 19,
    /// All fragment lists are in use: try again when something has ended.
    LND_E_NO_LISTS = 20,
    /// The NI is shutting down.
    LND_E_SHUTTING_DOWN = 21,
    /// A fragment vector breaks a rule: too many, empty, too long, or past the address space.
    LND_E_FRAGMENTS = 22,
    /// A fragment lies outside of what can be reached.
    LND_E_ADDRESS = 23,
    /// The upper-layer header is longer than LND_MAX_HEADER.
    LND_E_HEADER = 24,
    /// More bytes than the fragments hold or the other side has room for.
    LND_E_TOO_LONG = 25,
    /// The deadline has passed already.
    LND_E_DEADLINE = 26,
    /// The call does not fit this kind of request, action or interface.
    LND_E_WRONG_KIND = 27,
    /// The request has ended meanwhile: nothing will be reported.
    LND_E_GONE = 28,
    /// No room for the frame now: keep it and offer it again.
    LND_E_WAIT = 29,
    /// The frame makes no sense; it was dropped and counted.
    LND_E_FRAME = 30,
    /// The NI still runs: it is not quiescent, or something is not reported yet; or the link does not
    /// wait for a proof.
    LND_E_RUNNING = 31,
    /// There is nothing (more) of that kind.
    LND_E_END = 32,
    /// The ring memory is too small, not formatted, or formatted for other sizes.
    LND_E_RING = 33,
    /// The caller's buffer is too small for even one line.
    LND_E_ROOM = 34,
    /// No such peer.
    LND_E_NO_PEER = 35,
    /// This build of the library lacks the feature.
    LND_E_UNSUPPORTED = 36,
    /// The NI's own books do not add up; nothing that a caller can do brings this about.
    LND_E_BOOKS = 37,
    /// It is known already.
    LND_E_KNOWN = 38,
    /// Done, and ended: what was accepted has ended within the call, whose report says how. No finalize()
    /// comes.
    LND_DONE = 39,
    /// The frame is a peer's request, which stays in the channel until it is decided: see lnd_frame_in().
    LND_REQUEST = 40,
    /// Not an error: makes the enum 32 bits wide with every compiler.
    LND_E_WIDTH = 0x7fff_ffff,
}

impl lnd_error {
    /// Every error that a call can return, in the order of its number.
    pub const ALL: [Self; 41] = {
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
        ]
    };
}
