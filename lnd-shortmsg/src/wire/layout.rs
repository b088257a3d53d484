// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where everything is: offsets, numbers and sizes of wire format version 1.
//!
//! Bytes `0..PREFIX_LEN` mean the same in every version, for ever. The whole of HELLO and
//! HELLO_ACK is as stable: a later version may only append to them.

/// Reads the same in no other byte order: `LNDw` when written big-endian.
pub const MAGIC: u32 = 0x4c4e_4477;

/// The version written and read here. Zero is no version.
pub const VERSION: u8 = 1;

/// Largest frame of version 1, in bytes.
pub const MAX_FRAME: usize = 1 << 16;

/// First byte: which of the two layers a frame belongs to (S3-6, R23).
pub mod class {
    /// The control layer: constant time, no upper layer (INV-8).
    pub const CONTROL: u8 = 0x01;
    /// An LND message.
    pub const LND: u8 = 0x02;
    /// The control layer, with the [short head](super::short).
    pub const SHORT_CONTROL: u8 = 0x11;
    /// An LND message with the [short head](super::short).
    pub const SHORT_LND: u8 = 0x12;
}

/// Second byte: the kind of message within its class.
pub mod kind {
    /// Class LND: opens a session.
    pub const HELLO: u8 = 1;
    /// Class LND: answers a hello.
    pub const HELLO_ACK: u8 = 2;
    /// Class LND: header and payload inline.
    pub const IMMEDIATE: u8 = 3;
    /// Class LND: staged, please pull.
    pub const PUT_REQ: u8 = 4;
    /// Class LND: will not pull.
    pub const PUT_NAK: u8 = 5;
    /// Class LND: has pulled.
    pub const PUT_DONE: u8 = 6;
    /// Class LND: please stage, or with a key: please push.
    pub const GET_REQ: u8 = 7;
    /// Class LND: nothing will be staged, or pushed.
    pub const GET_NAK: u8 = 8;
    /// Class LND: carries credits only.
    pub const NOOP: u8 = 9;
    /// Class LND: last message of an incarnation.
    pub const CLOSE: u8 = 10;
    /// Class LND: pull no more what a PUT_REQ has announced.
    pub const CANCEL_PUT: u8 = 11;
    /// Class LND: pull no more what a PULL_READY has announced.
    pub const CANCEL_GET: u8 = 12;
    /// Class LND: has pushed.
    pub const GET_DONE: u8 = 13;
    /// Class LND: push no more into what a GET_REQ has named.
    pub const CANCEL_PUSH: u8 = 14;

    /// Class control: staged, start your receive side. The only kind of its class.
    pub const PULL_READY: u8 = 1;
}

/// Offsets in bytes from the first byte of the frame.
pub mod at {
    // The frozen prefix.

    /// u8, [`class`](super::class).
    pub const CLASS: usize = 0;
    /// u8, [`kind`](super::kind).
    pub const KIND: usize = 1;
    /// u8, version of the layout behind the prefix.
    pub const VERSION: usize = 2;
    /// u8, zero in version 1. Kept for the routing flags (S3-15).
    pub const FLAGS: usize = 3;
    /// u32, [`MAGIC`](super::MAGIC): shows the sender's byte order.
    pub const MAGIC: usize = 4;
    /// u32, bytes in the whole frame.
    pub const LENGTH: usize = 8;
    /// u32, [`checksum`](crate::wire::checksum()) of the whole frame; zero: none.
    pub const CHECKSUM: usize = 12;

    // The envelope.

    /// u64, the sender's NID; never zero.
    pub const FROM: usize = 16;
    /// 8 bytes, zero: the rest of a 16-byte NID.
    pub const FROM_REST: usize = 24;
    /// u64, the receiver's NID; never zero.
    pub const TO: usize = 32;
    /// 8 bytes, zero: the rest of a 16-byte NID.
    pub const TO_REST: usize = 40;
    /// u64, the sender's incarnation; never zero.
    pub const FROM_INCARNATION: usize = 48;
    /// u64, the receiver's incarnation; zero (unknown) only in a HELLO.
    pub const TO_INCARNATION: usize = 56;
    /// u32, the sender's session with the receiver.
    pub const SESSION: usize = 64;
    /// u32, number of the message within session and lane; in a HELLO, of the session's last
    /// request.
    pub const SEQUENCE: usize = 68;
    /// u16, requests of the receiver's session consumed in all, modulo 2^16.
    pub const CREDITS: usize = 72;
    /// 2 bytes, zero.
    pub const CREDITS_REST: usize = 74;
    /// u32, the receiver's session that the credits are about.
    pub const CREDITS_OF: usize = 76;

    // The body.

    /// HELLO: u8, lowest version known.
    pub const HELLO_MIN: usize = 80;
    /// HELLO: u8, highest version known.
    pub const HELLO_MAX: usize = 81;
    /// HELLO: u8, which handshake of the session.
    pub const HELLO_ATTEMPT: usize = 82;
    /// HELLO: 1 byte, zero.
    pub const HELLO_REST: usize = 83;
    /// HELLO: u32, largest payload received inline.
    pub const HELLO_IMMEDIATE: usize = 84;
    /// HELLO: u32, features of the engine.
    pub const HELLO_FEATURES: usize = 88;
    /// HELLO: u32, the requests given up: bit `i` is number [`SEQUENCE`] less `i`.
    pub const HELLO_GIVEN_UP: usize = 92;

    /// HELLO_ACK: u32, the session that the hello opened.
    pub const ACK_SESSION: usize = 80;
    /// HELLO_ACK: u8, the version to use; zero: none.
    pub const ACK_VERSION: usize = 84;
    /// HELLO_ACK: u8, the hello's attempt.
    pub const ACK_ATTEMPT: usize = 85;
    /// HELLO_ACK: u16, requests that may be in flight.
    pub const ACK_DEPTH: usize = 86;
    /// HELLO_ACK: u32, largest payload received inline.
    pub const ACK_IMMEDIATE: usize = 88;
    /// HELLO_ACK: u32, features of the engine.
    pub const ACK_FEATURES: usize = 92;

    /// IMMEDIATE: u16, bytes of upper-layer header.
    pub const IMMEDIATE_HEADER: usize = 80;
    /// IMMEDIATE: 2 bytes, zero.
    pub const IMMEDIATE_REST: usize = 82;
    /// IMMEDIATE: u32, bytes of payload, which follows the header without a gap.
    pub const IMMEDIATE_PAYLOAD: usize = 84;

    /// PUT_REQ, GET_REQ, PUT_NAK, GET_NAK, PUT_DONE, GET_DONE: u64, cookie of the asking side's
    /// transfer.
    pub const COOKIE: usize = 80;
    /// PUT_REQ, GET_REQ: u32, bytes staged or asked for.
    pub const REQ_LENGTH: usize = 88;
    /// PUT_REQ, GET_REQ: u16, bytes of upper-layer header.
    pub const REQ_HEADER: usize = 92;
    /// PUT_REQ, GET_REQ: u8, bytes of the key, which follows the header without a gap.
    pub const REQ_KEY: usize = 94;
    /// PUT_REQ, GET_REQ: 1 byte, zero.
    pub const REQ_REST: usize = 95;
    /// PUT_NAK, GET_NAK, PUT_DONE, GET_DONE: u8, the refusal; zero (PUT_DONE and GET_DONE only):
    /// all went well.
    pub const REFUSAL: usize = 88;
    /// PUT_NAK, GET_NAK, PUT_DONE, GET_DONE: 3 bytes, zero.
    pub const REFUSAL_REST: usize = 89;
    /// GET_DONE without a refusal: u32, bytes pushed. PUT_NAK, GET_NAK, PUT_DONE, GET_DONE with a
    /// refusal: 4 bytes, zero.
    pub const PUSHED: usize = 92;

    /// CANCEL_PUT, CANCEL_GET: u64, cookie of the staged transfer. CANCEL_PUSH: u64, cookie of the
    /// GET_REQ's transfer.
    pub const CANCEL_SOURCE: usize = 80;
    /// CANCEL_PUT, CANCEL_PUSH: u32, the session that the PUT_REQ or GET_REQ was sent in.
    pub const CANCEL_SESSION: usize = 88;
    /// CANCEL_PUT, CANCEL_PUSH: u32, the number of the PUT_REQ or GET_REQ in that session.
    pub const CANCEL_SEQUENCE: usize = 92;
    /// CANCEL_GET: u64, cookie of the requester's transfer.
    pub const CANCEL_SINK: usize = 88;

    /// PULL_READY: u64, cookie of the requester's waiting transfer.
    pub const SINK: usize = 80;
    /// PULL_READY: u64, cookie of the staged transfer.
    pub const SOURCE: usize = 88;
    /// PULL_READY: u32, bytes staged.
    pub const STAGED: usize = 96;
    /// PULL_READY: u8, bytes of the key, which ends the frame.
    pub const STAGED_KEY: usize = 100;
    /// PULL_READY: 3 bytes, zero.
    pub const STAGED_REST: usize = 101;
}

/// The short head of a channel that says who has sent a frame. All numbers are little-endian. Its
/// kinds are those of the other head but HELLO, HELLO_ACK and CLOSE.
pub mod short {
    /// u8, [`class`](super::class).
    pub const CLASS: usize = 0;
    /// u8, [`kind`](super::kind).
    pub const KIND: usize = 1;
    /// u8. IMMEDIATE, PUT_REQ, GET_REQ: bytes of upper-layer header. PUT_NAK, GET_NAK, PUT_DONE,
    /// GET_DONE: the refusal; zero (PUT_DONE and GET_DONE only): all went well. Else zero.
    pub const DETAIL: usize = 2;
    /// u8, zero.
    pub const FLAGS: usize = 3;
    /// u32, the sender's session with the receiver.
    pub const SESSION: usize = 4;
    /// u64, the sender's incarnation; never zero.
    pub const FROM_INCARNATION: usize = 8;
    /// u64, the receiver's incarnation; never zero.
    pub const TO_INCARNATION: usize = 16;
    /// u32, number of the message within session and lane.
    pub const SEQUENCE: usize = 24;
    /// u32, the receiver's session that the credits are about.
    pub const CREDITS_OF: usize = 28;
    /// u16, requests of the receiver's session consumed in all, modulo 2^16.
    pub const CREDITS: usize = 32;
    /// u8. PUT_REQ, GET_REQ, PULL_READY: bytes of the key, which is the last thing in front of the
    /// checksum. Else zero.
    pub const KEY: usize = 34;
    /// 1 byte, zero.
    pub const RESERVED: usize = 35;
    /// u32. IMMEDIATE: bytes of payload. PUT_REQ, GET_REQ, PULL_READY: bytes staged or asked for.
    /// GET_DONE without a refusal: bytes pushed. Else zero.
    pub const LENGTH: usize = 36;

    /// Bytes of the head: a whole NOOP.
    pub const HEAD_LEN: usize = 40;
    /// Bytes of a tag. PUT_REQ and GET_REQ have one in front of the upper-layer header; PUT_NAK,
    /// GET_NAK, PUT_DONE and GET_DONE end with one; PULL_READY has two, sink and source; CANCEL_GET
    /// has two, source and sink; CANCEL_PUT and CANCEL_PUSH have one, and session and number of the
    /// PUT_REQ or GET_REQ, each a u32.
    pub const TAG_LEN: usize = 8;
    /// Bytes of the checksum that ends a frame of a channel with checksums. It is over all bytes
    /// before.
    pub const SUM_LEN: usize = 4;
}

/// Bytes of the frozen prefix.
pub const PREFIX_LEN: usize = 16;
/// Bytes of prefix and envelope: a whole NOOP or CLOSE.
pub const HEADER_LEN: usize = 80;
/// Bytes of a HELLO or HELLO_ACK of version 1, and the least a later one has.
pub const HELLO_LEN: usize = 96;
/// Bytes of an IMMEDIATE before its upper-layer header.
pub const IMMEDIATE_LEN: usize = 88;
/// Bytes of a PUT_REQ or GET_REQ before its upper-layer header, which its key follows.
pub const REQ_LEN: usize = 96;
/// Bytes of a PUT_NAK, GET_NAK, PUT_DONE or GET_DONE.
pub const ANSWER_LEN: usize = 96;
/// Bytes of a CANCEL_PUT, CANCEL_GET or CANCEL_PUSH.
pub const CANCEL_LEN: usize = 96;
/// Bytes of a PULL_READY before its key: without one, and with the slot's own words, it fits two
/// cache lines of a mailbox.
pub const PULL_READY_LEN: usize = 104;
