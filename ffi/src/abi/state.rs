// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! State for operators, and for callers that wait for an end.

use super::handles::{lnd_peer, lnd_transfer};

/// enum lnd_sent_how - How a short message ended.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_sent_how {
    /// The channel has completed it.
    LND_SENT_OK = 0,
    /// Failed, and certainly not delivered.
    LND_SENT_NOT_DELIVERED = 1,
    /// Failed; the delivery is unknown.
    LND_SENT_UNKNOWN = 2,
}

/// enum lnd_run_state - The progress of a shutdown.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_run_state {
    /// In service.
    LND_RUNNING = 1,
    /// New work is refused.
    LND_REFUSING = 2,
    /// The remaining work is cancelled.
    LND_DRAINING = 3,
    /// Peers are sent CLOSE.
    LND_CLOSING = 4,
    /// Engines are being stopped.
    LND_STOPPING = 5,
    /// Nothing moves and no report is due: lnd_ni_destroy() may be called.
    LND_QUIESCENT = 6,
}

/// enum lnd_dump_what - The part of the state that lnd_dump() writes.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_dump_what {
    /// One line a link.
    LND_DUMP_LINKS = 1,
    /// One line a peer.
    LND_DUMP_PEERS = 2,
    /// One line a transfer: what it waits for.
    LND_DUMP_TRANSFERS = 3,
    /// One line a counter.
    LND_DUMP_COUNTERS = 4,
}

/// enum lnd_blocker_kind - What keeps the NI from being idle.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_blocker_kind {
    /// A transfer that has not ended.
    LND_BLOCKER_TRANSFER = 1,
    /// A transfer that has ended and is not yet reported: call lnd_run().
    LND_BLOCKER_UNREPORTED = 2,
    /// A link whose engine has not stopped.
    LND_BLOCKER_LINK = 3,
}

/// struct lnd_blocker - What a drain or a shutdown waits for.
/// @size: sizeof(struct lnd_blocker).
/// @kind: enum lnd_blocker_kind.
/// @transfer: the transfer, if @kind is a transfer's.
/// @nid: its other side, or 0.
/// @until: the time that bounds the wait, or LND_NEVER.
/// @link: its link, or LND_ANY_LINK.
/// @word: the transfer's word, as lnd_dump() prints it.
/// @link_state: enum lnd_link_state, if @kind is LND_BLOCKER_LINK.
/// @reserved: 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_blocker {
    /// Bytes of this struct.
    pub size: u32,
    /// Kind.
    pub kind: u32,
    /// Transfer.
    pub transfer: lnd_transfer,
    /// Other side.
    pub nid: u64,
    /// Bound.
    pub until: u64,
    /// Link.
    pub link: u32,
    /// Word.
    pub word: u32,
    /// State.
    pub link_state: u32,
    /// Zero.
    pub reserved: u32,
}

/// struct lnd_peer_info - The state of a peer.
/// @size: sizeof(struct lnd_peer_info).
/// @state: enum lnd_peer_state.
/// @peer: its handle.
/// @incarnation: its incarnation as known to this NI, or 0.
/// @last_heard: time of its last valid message, to some 17 ms.
/// @transfers: transfers with it.
/// @credits: requests that this NI may still send.
/// @in_flight: requests of this NI that the peer has not consumed yet.
/// @session: the session that this NI has opened.
/// @pulls: pulls from it that are under way.
/// @pulls_waiting: pulls from it that wait for a free one.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_peer_info {
    /// Bytes of this struct.
    pub size: u32,
    /// State.
    pub state: u32,
    /// Handle.
    pub peer: lnd_peer,
    /// Incarnation.
    pub incarnation: u64,
    /// Last heard.
    pub last_heard: u64,
    /// Transfers.
    pub transfers: u32,
    /// Credits left.
    pub credits: u32,
    /// Requests in flight.
    pub in_flight: u32,
    /// Session.
    pub session: u32,
    /// Pulls under way.
    pub pulls: u32,
    /// Pulls that wait.
    pub pulls_waiting: u32,
}

/// struct lnd_stats - Gauges of one NI; counters have names, see lnd_counter_name().
/// @size: sizeof(struct lnd_stats).
/// @run_state: enum lnd_run_state.
/// @active: transfers that this NI has submitted.
/// @passive: transfers that peers have requested.
/// @peers: peers in the table.
/// @counters: number of counters, see lnd_counter().
/// @frames_control: frames of the control layer.
/// @frames_lnd: other frames.
/// @frames_bad: dropped frames, of all causes.
/// @frames_forged: of these, frames that name another sender than their channel does.
/// @completions: completions taken in interrupts.
/// @interrupts: calls of lnd_interrupt().
/// @misuses: calls refused as misuse: re-entry, wrong context, overlapping.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_stats {
    /// Bytes of this struct.
    pub size: u32,
    /// Run state.
    pub run_state: u32,
    /// Submitted.
    pub active: u32,
    /// Requested by peers.
    pub passive: u32,
    /// Peers.
    pub peers: u32,
    /// Counters.
    pub counters: u32,
    /// Control frames.
    pub frames_control: u64,
    /// Other frames.
    pub frames_lnd: u64,
    /// Bad frames.
    pub frames_bad: u64,
    /// Forged frames.
    pub frames_forged: u64,
    /// Completions.
    pub completions: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Misuses.
    pub misuses: u64,
}
