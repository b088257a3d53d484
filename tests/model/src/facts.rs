// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happened in a run and is worth to be told: the models assert that each occurs.

use crate::model::{Pair, Seen};

/// Interesting cases that a run has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts {
    /// A transfer ended OK.
    pub ok: bool,
    /// A transfer ended with an error.
    pub error: bool,
    /// A descriptor that was asked back came back OK, and its transfer is good (S0-16).
    pub lost_race: bool,
    /// A transfer was settled by hand, with the proof (S0-20).
    pub asserted: bool,
    /// A transfer ended OK although the peer had been declared down.
    pub ok_though_down: bool,
    /// A completion came for a use of a slot that was over (R14).
    pub stale_completion: bool,
    /// A message of a former incarnation came late and was dropped (INV-6).
    pub wrong_incarnation: bool,
    /// A message came before its sender was admitted (S0-13).
    pub early: bool,
    /// A repeated request was dropped.
    pub duplicate: bool,
    /// An answer came for a transfer that was over (R31).
    pub stale_answer: bool,
    /// The word that ends a peer's transfer had to wait for a way.
    pub final_waited: bool,
    /// A new session was opened because credits were lost.
    pub resync: bool,
    /// The upper layer's decision came too late.
    pub late_decision: bool,
    /// A request was refused and its sender told.
    pub refused: bool,
    /// The clock ended a transfer (INV-9).
    pub deadline: bool,
    /// What was asked back did not come in time, and the link was failed for it (S0-9).
    pub drain_bound: bool,
    /// A request waited in the channel because no slot was free (INV-14).
    pub waited: bool,
    /// A slot was used a second time.
    pub used_again: bool,
    /// The node ended its incarnation in order (INV-15).
    pub quiescent: bool,
    /// A puller was asked for what it pulls.
    pub cancelled: bool,
    /// The driver of a puller was asked.
    pub cancel_heard: bool,
}

/// A case that a model demands to occur.
pub type Case = (&'static str, fn(&Pair, &Seen) -> bool);

macro_rules! cases {
    ($($name:ident $field:ident $words:literal)*) => {$(
        #[doc = $words]
        pub const $name: Case = ($words, |_, seen| seen.facts.$field);
    )*};
}

cases! {
    OK ok "A transfer ended OK"
    ERROR error "A transfer ended with an error"
    LOST_RACE lost_race "A descriptor that was asked back came back OK, and its transfer is good"
    ASSERTED asserted "A transfer was settled by hand, with the proof"
    OK_THOUGH_DOWN ok_though_down "A transfer ended OK although the peer had been declared down"
    STALE_COMPLETION stale_completion "A completion came for a use of a slot that was over"
    WRONG_INCARNATION wrong_incarnation "A message of a former life came late and was dropped"
    EARLY early "A message came before its sender was admitted"
    DUPLICATE duplicate "A repeated request was dropped"
    STALE_ANSWER stale_answer "An answer came for a transfer that was over"
    FINAL_WAITED final_waited "The word that ends a peer's transfer had to wait for a way"
    RESYNC resync "A new session was opened because credits were lost"
    LATE_DECISION late_decision "The upper layer's decision came too late"
    REFUSED refused "A request was refused and its sender told"
    DEADLINE deadline "The clock ended a transfer"
    DRAIN_BOUND drain_bound
        "What was asked back did not come in time, and the link was failed for it"
    WAITED waited "A request waited in the channel because no slot was free"
    USED_AGAIN used_again "A slot was used a second time"
    QUIESCENT quiescent "The node ended its life in order"
    CANCELLED cancelled "A CANCEL was said"
    CANCEL_HEARD cancel_heard "A CANCEL was heard"
}
