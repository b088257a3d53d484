// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How things stand: for operators, and for whoever waits for an end.

use super::handles::{lnd_peer, lnd_transfer};

/// enum lnd_sent_how - How a short message ended.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_sent_how {
    /// The channel has done its part.
    LND_SENT_OK = 0,
    /// Failed, and known not to be delivered.
    LND_SENT_NOT_DELIVERED = 1,
    /// Failed, and nobody knows.
    LND_SENT_UNKNOWN = 2,
}

/// enum lnd_run_state - How far a shutdown has come.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_run_state {
    /// In service.
    LND_RUNNING = 1,
    /// New work is refused.
    LND_REFUSING = 2,
    /// What is left is cancelled.
    LND_DRAINING = 3,
    /// Peers are told goodbye.
    LND_CLOSING = 4,
    /// Engines are being stopped.
    LND_STOPPING = 5,
    /// Nothing moves and nothing is owed: lnd_ni_destroy() may be called.
    LND_QUIESCENT = 6,
}

/// enum lnd_dump_what - Which part of the state lnd_dump() writes.
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

/// enum lnd_blocker_kind - What stands in the way of being idle.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_blocker_kind {
    /// A transfer that has not ended.
    LND_BLOCKER_TRANSFER = 1,
    /// A transfer that has ended and is not reported yet: call lnd_run().
    LND_BLOCKER_UNREPORTED = 2,
    /// A link whose engine has not stopped.
    LND_BLOCKER_LINK = 3,
}

/// struct lnd_blocker - What a drain or a shutdown waits for.
/// @size: sizeof(struct lnd_blocker).
/// @kind: enum lnd_blocker_kind.
/// @transfer: the transfer, if it is one.
/// @nid: its other side, or 0.
/// @until: when its wait is bounded by, or LND_NEVER.
/// @link: its link, or LND_ANY_LINK.
/// @word: the transfer's word, as the dump prints it.
/// @link_state: enum lnd_link_state, if it is a link.
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

/// struct lnd_peer_info - How a peer stands.
/// @size: sizeof(struct lnd_peer_info).
/// @state: enum lnd_peer_state.
/// @peer: its handle.
/// @life: its life as we know it, or 0.
/// @last_heard: time of its last message that counted.
/// @transfers: transfers with it.
/// @credits: requests that we may still send.
/// @in_flight: requests of ours that it has not consumed yet.
/// @session: the session that we have opened.
/// @pulls: pulls from it that are under way.
/// @pulls_waiting: pulls from it that wait for those.
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
    /// Life.
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
/// @active: transfers of ours.
/// @passive: transfers that peers have asked for.
/// @peers: peers in the table.
/// @counters: number of counters, see lnd_counter().
/// @frames_control: frames of the control layer.
/// @frames_lnd: other frames.
/// @frames_bad: frames that were dropped, of all causes.
/// @frames_forged: of these, frames that named another sender than their channel did.
/// @completions: completions that interrupts have taken.
/// @interrupts: calls of lnd_interrupt().
/// @misuses: calls that were refused as misuse: re-entry, wrong context, overlapping.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_stats {
    /// Bytes of this struct.
    pub size: u32,
    /// Run state.
    pub run_state: u32,
    /// Ours.
    pub active: u32,
    /// Peers'.
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
