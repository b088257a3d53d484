// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiting for a message's answer, as C sees it.

use super::handles::lnd_health_ni;

/// enum lnd_tracker_state - The state of the wait for an answer.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_tracker_state {
    /// Nothing was sent yet.
    LND_TRACKER_OFF = 0,
    /// The answer is awaited.
    LND_TRACKER_WAITING = 1,
    /// The wait is over.
    LND_TRACKER_ENDED = 2,
}

/// struct lnd_tracker - The wait for a message's answer (an ACK, a REPLY). It lies in the caller's
/// request. Before the first try it is zero except for @size.
/// @size: sizeof(struct lnd_tracker).
/// @state: enum lnd_tracker_state.
/// @deadline: when the answer is due.
/// @local: our interface of the last try.
/// @hop: the next hop's interface of the last try. A missing answer is evidence against this one
///       only.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_tracker {
    /// Bytes of this struct.
    pub size: u32,
    /// State.
    pub state: u32,
    /// Due.
    pub deadline: u64,
    /// Local interface.
    pub local: lnd_health_ni,
    /// Next hop's interface.
    pub hop: lnd_health_ni,
}
