// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the one function that changes a transfer (INV-10, S1-15, R2).
//!
//! It is pure and total: every word and every event has an answer, and none panics. In memory the
//! word is an atomic, and `step` is applied by compare-and-swap. So of two contenders for the last
//! debt exactly one gets [`Effect::Finalize`] (INV-1, S0-21).

use super::word::{Cause, Debts, Phase, Place, Word};

/// An event of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The thread that holds `CPU` posts `Debts`; `Queued` becomes `Live`.
    Arm(Debts),
    /// The thread that holds `CPU` withdraws debts that it had armed and then not posted.
    Withdraw(Debts, Cause),
    /// The thread has finished its work on the transfer.
    PayCpu,
    /// The descriptor came back with all bytes moved.
    HwOk,
    /// The descriptor came back with an error and no byte moved.
    HwUntouched,
    /// The descriptor came back with an error. Bytes may have moved.
    HwTouched,
    /// The engine and the channel of the link are proven stopped. What they still owe is settled
    /// without them (S0-20). Only with a [`Quiesced`](crate::link::Quiesced).
    Stopped,
    /// The short message completed.
    MsgOk,
    /// The short message failed and was not delivered.
    MsgNotDelivered,
    /// The short message failed. Whether it was delivered is unknown.
    MsgUnknown,
    /// The peer has staged its side, so the pull may begin (PULL_READY). Any answer proves that the
    /// request has arrived (S1-4).
    Accepted,
    /// The peer reports that it has pulled everything (PUT_DONE).
    Done,
    /// The peer refuses (PUT_NAK, GET_NAK, PUT_DONE with a failure). Nothing is sent after it
    /// (S1-5).
    Refused,
    /// Peer-down, deadline, link failure or shutdown: everything that can be given up is given up.
    Cancel(Cause),
}

/// What the caller of [`step`] must do. At most one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Effect {
    /// Nothing.
    None,
    /// The last debt is settled: the caller holds the finalize token.
    Finalize,
    /// Invalidate the descriptor at the engine.
    Invalidate,
    /// Post the pull, then pay `CPU`.
    StartPull,
    /// Remove the transfer from its waiting queue, then pay `CPU`.
    Unqueue,
    /// The transfer has been cancelled and nothing was armed: pay `CPU`.
    TooLate,
    /// The event is about a debt that is already settled. Count it. Nothing has changed.
    Late,
    /// A second cancellation. Nothing has changed.
    Repeat,
    /// Only the holder of `CPU` may do this, and there is none. Count it. Nothing has changed.
    Misuse,
}

/// A new word, and what the caller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Step {
    /// The word after the event; equal to the word before if nothing changed.
    pub word: Word,
    /// What the caller does.
    pub effect: Effect,
}

/// Applies an event to a word.
///
/// The caller has compared generations, so the event is about this use of the slot.
#[inline(never)]
pub const fn step(word: Word, event: Event) -> Step {
    step_here(word, event)
}

/// The same, compiled into its caller: for the few places where every transfer passes, and where
/// the event is a constant.
#[cfg_attr(not(feature = "compact"), inline(always))]
pub(crate) const fn step_here(word: Word, event: Event) -> Step {
    match word.phase() {
        Phase::Free | Phase::Done => unchanged(word, Effect::Late),
        Phase::Queued => step_queued(word, event),
        Phase::Live => step_live(word, event),
    }
}

/// `Queued` owes `CPU` and nothing else.
#[cfg_attr(not(feature = "compact"), inline(always))]
const fn step_queued(word: Word, event: Event) -> Step {
    match event {
        Event::Arm(_) if word.invalidating() => unchanged(word, Effect::TooLate),
        Event::Arm(debts) => changed(word.with_phase(Phase::Live).adding(debts), Effect::None),
        Event::Cancel(_) if word.invalidating() => unchanged(word, Effect::Repeat),
        Event::Cancel(cause) => {
            // `CPU` stays owed until the caller has removed the transfer from its queue, so no slot
            // is freed while a queue still links it.
            changed(word.asking().because(cause).losing(Place::Queue), Effect::Unqueue)
        }
        Event::Withdraw(_, cause) => {
            changed(word.asking().because(cause).losing(Place::Queue), Effect::None)
        }
        Event::PayCpu => settle(word.paying(Debts::CPU)),
        _ => unchanged(word, Effect::Late),
    }
}

#[cfg_attr(not(feature = "compact"), inline(always))]
const fn step_live(word: Word, event: Event) -> Step {
    match event {
        Event::Arm(_) | Event::Withdraw(..) | Event::PayCpu if !word.owes(Debts::CPU) => {
            unchanged(word, Effect::Misuse)
        }
        Event::Arm(_) if word.invalidating() || word.lost() => unchanged(word, Effect::TooLate),
        Event::Arm(debts) => changed(word.adding(debts), Effect::None),
        Event::Withdraw(debts, cause) => {
            // A request that was not sent gets no answer, so the peer's debt ends with it.
            let back = Debts(debts.0 & !Debts::CPU.0 | Debts::PEER.0);
            changed(lose(word.paying(back).asking().because(cause), Place::Queue), Effect::None)
        }
        Event::PayCpu => {
            let paid = word.paying(Debts::CPU);
            if paid.invalidating() && paid.owes(Debts::HW) {
                // The cancellation came while the descriptor was being posted. Its thread alone
                // knows when the descriptor is complete, so the invalidation starts here and not
                // with the cancellation (R18).
                changed(paid, Effect::Invalidate)
            } else {
                settle(paid)
            }
        }
        Event::HwOk | Event::HwUntouched | Event::HwTouched if !word.owes(Debts::HW) => {
            unchanged(word, Effect::Late)
        }
        // S0-16, R6: a descriptor that came back good after its invalidation has won the race. The
        // transfer is good.
        Event::HwOk => settle(word.paying(Debts::HW).proving()),
        Event::HwUntouched => settle(hw_error(word, Place::Staged, Cause::Device)),
        Event::HwTouched => settle(hw_error(word, Place::Moving, Cause::Device)),
        Event::Stopped => step_stopped(word),
        Event::MsgOk | Event::MsgNotDelivered | Event::MsgUnknown if !word.owes(Debts::MSG) => {
            unchanged(word, Effect::Late)
        }
        Event::MsgOk => settle(word.paying(Debts::MSG)),
        Event::MsgNotDelivered => msg_error(word, Place::Message),
        Event::MsgUnknown => msg_error(word, Place::Answer),
        // The transfer was given up, and its descriptor has not come back yet. PUT_DONE still
        // proves that the peer has pulled everything (S0-16).
        Event::Done if given_up(word) => changed(word.proving(), Effect::None),
        Event::Accepted | Event::Done if !word.owes(Debts::PEER) => unchanged(word, Effect::Late),
        // `CPU` and `HW` are one bit each and have one holder each. A transfer is either the source
        // or the sink of a pull, never both (R31).
        Event::Accepted if word.owes(Debts::CPU) || word.owes(Debts::HW) || word.proven() => {
            unchanged(word, Effect::Late)
        }
        Event::Done if !word.owes(Debts::HW) && !word.proven() => unchanged(word, Effect::Late),
        Event::Accepted => {
            // `CPU` anew: the caller is about to write the descriptor.
            let pulling = word.paying(Debts::PEER).adding(Debts::HW).adding(Debts::CPU);
            changed(pulling, Effect::StartPull)
        }
        Event::Done => invalidate(word.paying(Debts::PEER).proving()),
        Event::Refused
            // A refusal behind a cancellation changes nothing: the first cause stays (R7).
            if word.invalidating() || !(word.owes(Debts::PEER) || word.owes(Debts::HW)) =>
        {
            unchanged(word, Effect::Late)
        }
        Event::Refused => invalidate(drop_peer(word.because(Cause::Refused))),
        Event::Cancel(_) if word.invalidating() => unchanged(word, Effect::Repeat),
        Event::Cancel(cause) => invalidate(drop_peer(word.because(cause))),
    }
}

/// Whether the transfer waits for its descriptor and no longer for its peer.
const fn given_up(word: Word) -> bool {
    word.invalidating() && word.owes(Debts::HW) && !word.owes(Debts::PEER) && !word.proven()
}

/// Settles `HW` and `MSG` at once, with the proof that nothing moves any more.
const fn step_stopped(word: Word) -> Step {
    if !word.owes(Debts::HW) && !word.owes(Debts::MSG) {
        return unchanged(word, Effect::Late);
    }
    let mut next = word;
    if next.owes(Debts::HW) {
        next = hw_error(next, Place::Moving, Cause::LinkDown);
    }
    if next.owes(Debts::MSG) {
        // A message whose data was moved has arrived: the pull is the proof (decision 0005).
        next = next.paying(Debts::MSG).paying(Debts::PEER).because(Cause::LinkDown);
        next = lose(next, Place::Answer);
    }
    settle(next)
}

/// Settles a descriptor that came back with an error. Nothing is lost if the peer has confirmed the
/// data.
const fn hw_error(word: Word, place: Place, cause: Cause) -> Word {
    let paid = word.paying(Debts::HW);
    if paid.proven() {
        paid
    } else {
        // Without its source the peer's answer can only be a failure, so it is not waited for.
        paid.paying(Debts::PEER).because(cause).losing(place)
    }
}

/// Settles a short message that failed. With a descriptor out, the end of the descriptor decides:
/// one that comes back OK was pulled, so the message had arrived (decision 0005).
const fn msg_error(word: Word, place: Place) -> Step {
    let paid = word.paying(Debts::MSG).paying(Debts::PEER).because(Cause::Channel);
    if paid.owes(Debts::HW) {
        invalidate(paid)
    } else {
        settle(lose(paid, place))
    }
}

/// Stops waiting for the peer.
const fn drop_peer(word: Word) -> Word {
    if word.owes(Debts::PEER) {
        lose(word.paying(Debts::PEER), Place::Answer)
    } else {
        word
    }
}

/// Records a loss, unless the data is known to have been moved, or a descriptor is out. The
/// descriptor's end then decides.
const fn lose(word: Word, place: Place) -> Word {
    if word.proven() || word.owes(Debts::HW) {
        word
    } else {
        word.losing(place)
    }
}

/// Invalidates the descriptor, if there is one. While `CPU` is owed, its holder does that later.
const fn invalidate(word: Word) -> Step {
    let first = !word.invalidating();
    let next = word.asking();
    // Only the first cancellation asks the engine here. The sweep repeats the request while the
    // descriptor is still out.
    if next.owes(Debts::HW) && !next.owes(Debts::CPU) && first {
        changed(next, Effect::Invalidate)
    } else {
        settle(next)
    }
}

/// Finalizes if no debt is left.
const fn settle(word: Word) -> Step {
    if word.debts().0 == 0 {
        changed(word.with_phase(Phase::Done), Effect::Finalize)
    } else {
        changed(word, Effect::None)
    }
}

const fn changed(word: Word, effect: Effect) -> Step {
    Step { word, effect }
}

const fn unchanged(word: Word, effect: Effect) -> Step {
    Step { word, effect }
}
