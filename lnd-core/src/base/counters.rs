// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file names the counters: everything that is ignored, dropped or refused is counted (R69).

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal,)+) => {
        /// Something that is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Counter { $($(#[doc = $doc])+ $name,)+ }

        impl Counter {
            /// Every counter, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The counter's name: lower case, underscores.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// What is counted, in words.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc,)+),)+ }.trim_ascii()
            }
        }

        const COUNT: usize = [$(Counter::$name,)+].len();
    };
}

counters! {
    /// Transfers accepted from the upper layer.
    Accepted => "accepted",
    /// Requests of peers accepted.
    Requests => "requests",
    /// Transfers reported OK.
    FinalizedOk => "finalized_ok",
    /// Transfers reported with an error.
    FinalizedError => "finalized_error",
    /// Transfers that came back good although they were cancelled (S0-16).
    LostRaces => "lost_races",
    /// Transfers refused at the call.
    Refused => "refused",
    /// Pulls that had to wait for others from the same peer (R25).
    PullsWaited => "pulls_waited",
    /// Descriptors posted.
    Posted => "posted",
    /// Doorbells rung.
    Doorbells => "doorbells",
    /// Descriptors that the engine was asked to return.
    Invalidated => "invalidated",
    /// Invalidated descriptors that came back, of transfers that were not lost.
    CameBackOk => "came_back_ok",
    /// Invalidated descriptors that came back, of transfers that were lost.
    CameBackError => "came_back_error",
    /// CANCELs sent, for staged memory that a peer may be pulling.
    Cancels => "cancels",
    /// CANCELs received from peers.
    CancelsHeard => "cancels_heard",
    /// Descriptors reclaimed from a stopped engine.
    Reclaimed => "reclaimed",
    /// Reclaimed descriptors whose memory held their real outcome.
    ReclaimedReal => "reclaimed_real",
    /// Transfers settled with the proof of a stop, without a completion.
    Asserted => "asserted",
    /// Short messages handed to the channel.
    Sent => "sent",
    /// Hellos sent.
    Hellos => "hellos",
    /// Messages for another node, or from ourselves.
    Misrouted => "misrouted",
    /// Messages dropped because their sender is not admitted (S0-13).
    Early => "early",
    /// Messages from or to another incarnation (R29).
    WrongIncarnation => "wrong_incarnation",
    /// Requests of another session.
    WrongSession => "wrong_session",
    /// Requests seen before.
    Duplicate => "duplicate",
    /// Requests far outside the window.
    OutsideWindow => "outside_window",
    /// Requests that were lost on the way, found by their gap.
    LostRequests => "lost_requests",
    /// Requests that waited for a slot.
    Waited => "waited",
    /// Answers that matched no transfer.
    StaleAnswer => "stale_answer",
    /// Answers to a transfer of another peer or another kind.
    WrongAnswer => "wrong_answer",
    /// Completions of descriptors or messages that matched no transfer.
    StaleCompletion => "stale_completion",
    /// Events that arrived after their debt was settled.
    LateEvent => "late_event",
    /// Completions with an index of no slot.
    ForeignCompletion => "foreign_completion",
    /// Messages that break the protocol.
    Protocol => "protocol",
    /// Credit counts that are impossible.
    BadCredits => "bad_credits",
    /// Handshakes repeated because credits were stuck.
    Resyncs => "resyncs",
    /// Hellos and hello answers that did not apply.
    IgnoredHellos => "ignored_hellos",
    /// Hellos that the channel reported as not delivered.
    UnheardHellos => "unheard_hellos",
    /// Peers declared down.
    PeersDown => "peers_down",
    /// New incarnations of known peers.
    PeersRestarted => "peers_restarted",
    /// Peers without a place: the table was full.
    PeersFull => "peers_full",
    /// Hellos of nodes without a place, answered with a refusal (S0-14).
    HellosRefused => "hellos_refused",
    /// Answers to our hellos with a refusal for want of room.
    NoRoom => "no_room",
    /// Links failed.
    LinksFailed => "links_failed",
    /// Links and connections failed because a descriptor or message did not come back in time
    /// (R21).
    DrainBoundHit => "drain_bound_hit",
    /// Links restored.
    LinksRestored => "links_restored",
    /// Connections that failed, or that were stopped because a descriptor or message did not come
    /// back in time.
    ConnectionsFailed => "connections_failed",
    /// Connections that were reset after their stop.
    ConnectionsReset => "connections_reset",
    /// Links whose device did not identify itself when its stop was to be proven, or whose
    /// registers held what no working device reports.
    DevicesGone => "devices_gone",
    /// Interrupt status words that no working device reports.
    ImpossibleStatus => "impossible_status",
    /// Links whose stop the platform asserted.
    StopsAsserted => "stops_asserted",
    /// Deadlines that passed.
    Deadlines => "deadlines",
    /// Descriptors that the engine refused.
    PostFailed => "post_failed",
    /// Messages that the channel refused although it had reported room.
    SendFailed => "send_failed",
    /// Final messages that waited in the slot of their transfer, for a path or for room.
    FinalsWaited => "finals_waited",
    /// Final messages that were never sent: no path or no room until their time was over, or a
    /// shutdown.
    Unsaid => "unsaid",
    /// Requests whose decision came too late.
    DecisionLate => "decision_late",
    /// Messages refused because their peer's id was stale.
    StalePeer => "stale_peer",
}

/// The type of a counter. It wraps.
#[cfg(not(feature = "dense"))]
type Value = u64;
#[cfg(feature = "dense")]
type Value = u32;

/// A set of counters with one owner. 64 bits each; 32 with feature `dense`.
#[derive(Clone, Debug)]
pub struct Counters([Value; COUNT]);

impl Counters {
    /// All zero.
    pub const fn new() -> Self {
        Self([0; COUNT])
    }

    /// Adds one.
    #[inline]
    pub fn count(&mut self, counter: Counter) {
        self.add(counter, 1);
    }

    /// Adds `n`.
    #[inline]
    pub fn add(&mut self, counter: Counter, n: u64) {
        if let Some(value) = self.0.get_mut(counter as usize) {
            // Counters wrap and never saturate: readers take differences.
            *value = value.wrapping_add(n as Value);
        }
    }

    /// The value of one counter.
    pub fn value(&self, counter: Counter) -> u64 {
        self.0.get(counter as usize).copied().map_or(0, u64::from)
    }

    /// What was counted since `earlier`, an older copy of this set.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut grown = self.clone();
        for (now, then) in grown.0.iter_mut().zip(earlier.0.iter()) {
            *now = now.wrapping_sub(*then);
        }
        grown
    }

    /// Adds another set.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *mine = mine.wrapping_add(*theirs);
        }
    }
}

/// A place to count in: a set of counters, or words that several contexts share.
pub trait Count {
    /// Adds one. Context: that of the call that receives this place.
    fn count(&mut self, counter: Counter);
}

impl Count for Counters {
    #[inline]
    fn count(&mut self, counter: Counter) {
        Self::count(self, counter);
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}
