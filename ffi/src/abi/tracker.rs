// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiting for a message's answer, as C sees it.

use super::handles::lnd_health_ni;

/// enum lnd_tracker_state - How the wait for an answer stands.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_tracker_state {
    /// Nothing was sent yet.
    LND_TRACKER_OFF = 0,
    /// An answer is waited for.
    LND_TRACKER_WAITING = 1,
    /// The wait is over.
    LND_TRACKER_ENDED = 2,
}

/// struct lnd_tracker - The wait for a message's answer (an ACK, a REPLY). It lies in the caller's
/// request, zeroed but for its size before the first try.
/// @size: sizeof(struct lnd_tracker).
/// @state: enum lnd_tracker_state.
/// @deadline: when the answer is due.
/// @local: our interface of the last try.
/// @hop: the next hop's interface of the last try: the only one of which a missing answer says anything.
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
    /// Ours.
    pub local: lnd_health_ni,
    /// Next hop's.
    pub hop: lnd_health_ni,
}
