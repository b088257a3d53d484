// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Counters with names: everything that is ignored, dropped or refused is counted (R69).

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal,)+) => {
        /// What is counted.
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
        }

        const COUNT: usize = [$(Counter::$name,)+].len();
    };
}

counters! {
    /// Transfers accepted from the upper layer.
    Accepted => "accepted",
    /// Requests of peers taken in.
    Requests => "requests",
    /// Transfers reported OK.
    FinalizedOk => "finalized_ok",
    /// Transfers reported with an error.
    FinalizedError => "finalized_error",
    /// Transfers that came back good although they had been cancelled (S0-16).
    LostRaces => "lost_races",
    /// Transfers refused at the call.
    Refused => "refused",
    /// Pulls that had to wait for others from the same peer (R25).
    PullsWaited => "pulls_waited",
    /// Descriptors posted.
    Posted => "posted",
    /// Doorbells rung.
    Doorbells => "doorbells",
    /// Descriptors asked to come back.
    Invalidated => "invalidated",
    /// Invalidated descriptors that came back OK.
    CameBackOk => "came_back_ok",
    /// Invalidated descriptors that came back with an error.
    CameBackError => "came_back_error",
    /// CANCELs said, of staged memory that a peer may be pulling.
    Cancels => "cancels",
    /// CANCELs of peers heard.
    CancelsHeard => "cancels_heard",
    /// Descriptors yanked from a stopped engine.
    Reclaimed => "yanked",
    /// Yanked descriptors whose memory held their real outcome.
    ReclaimedReal => "reclaimed_real",
    /// Transfers settled by hand.
    Asserted => "asserted",
    /// Short messages handed to the channel.
    Sent => "sent",
    /// Hellos sent.
    Hellos => "hellos",
    /// Messages for another node, or from ourselves.
    Misrouted => "misrouted",
    /// Messages dropped because their sender is not admitted (S0-13).
    Early => "early",
    /// Messages of or to another life (R29).
    WrongIncarnation => "wrong_incarnation",
    /// Requests of another session.
    WrongSession => "wrong_session",
    /// Requests seen before.
    Duplicate => "duplicate",
    /// Requests far outside the window.
    OutsideWindow => "outside_window",
    /// Requests that were lost on the way, found by their gap.
    LostRequests => "lost_requests",
    /// Requests that had to wait for a slot.
    Waited => "waited",
    /// Answers that matched no transfer.
    StaleAnswer => "stale_answer",
    /// Answers to a transfer of another peer or another kind.
    WrongAnswer => "wrong_answer",
    /// Completions of descriptors or messages that matched no transfer.
    StaleCompletion => "stale_completion",
    /// Events that came after their debt was settled.
    LateEvent => "late_event",
    /// Completions whose index no slot has.
    ForeignCompletion => "foreign_completion",
    /// Messages that break the protocol.
    Protocol => "protocol",
    /// Credit counts that cannot be.
    BadCredits => "bad_credits",
    /// Sessions opened anew because credits were stuck.
    Resyncs => "resyncs",
    /// Hellos and hello answers that did not apply.
    IgnoredHellos => "ignored_hellos",
    /// Hellos that the channel reported as not delivered.
    UnheardHellos => "unheard_hellos",
    /// Peers declared down.
    PeersDown => "peers_down",
    /// New lives of known peers.
    PeersRestarted => "peers_restarted",
    /// Peers that could not be taken up: the table is full.
    PeersFull => "peers_full",
    /// Hellos of nodes for which there was no room, answered so (S0-14).
    HellosRefused => "hellos_refused",
    /// Answers to our hellos that said that there is no room.
    NoRoom => "no_room",
    /// Links failed.
    LinksFailed => "links_failed",
    /// Links and connections failed because a descriptor or message did not come back in time (R21).
    DrainBoundHit => "drain_bound_hit",
    /// Links restored.
    LinksRestored => "links_restored",
    /// Connections that failed, or that were stopped because a descriptor or message did not come back in
    /// time.
    ConnectionsFailed => "connections_failed",
    /// Connections that were reset after their stop.
    ConnectionsReset => "connections_reset",
    /// Links whose device did not identify itself when its stop was to be proven, or said what no
    /// working device says.
    DevicesGone => "devices_gone",
    /// Interrupt status words that no working device shows.
    ImpossibleStatus => "impossible_status",
    /// Links whose engine was asserted by the platform to have stopped.
    StopsAsserted => "stops_asserted",
    /// Deadlines that passed.
    Deadlines => "deadlines",
    /// Descriptors the engine refused.
    PostFailed => "post_failed",
    /// Messages the channel refused although it had promised room.
    SendFailed => "send_failed",
    /// Messages that end a peer's transfer and had to wait for a way, or for room, in a slot of their own.
    FinalsWaited => "finals_waited",
    /// Messages that would have ended a peer's transfer and were never sent: no way, no room, and no slot to wait in
    /// or no time left.
    Unsaid => "unsaid",
    /// Requests whose verdict came too late.
    DecisionLate => "decision_late",
    /// Messages refused because the id of their peer was stale.
    StalePeer => "stale_peer",
}

/// What a counter is kept in. Wraps.
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
            *value = value.wrapping_add(n as Value);
        }
    }

    /// The value of one counter.
    pub fn value(&self, counter: Counter) -> u64 {
        self.0.get(counter as usize).copied().map_or(0, u64::from)
    }

    /// Adds another set.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *mine = mine.wrapping_add(*theirs);
        }
    }
}

/// Something to count in: a set of counters, or words that several contexts share.
pub trait Count {
    /// Adds one. Context: that of the call which is given the counter's place.
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
