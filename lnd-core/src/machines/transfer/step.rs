// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The one function that says what may happen to a transfer (INV-10, S1-15, R2).
//!
//! Pure and total: every word and every event has an answer, none panics. In memory the word is an
//! atomic and `step` is applied by compare-and-swap, so that of two contenders for the last debt
//! exactly one gets [`Effect::Finalize`] (INV-1, S0-21).

use super::word::{Cause, Debts, Phase, Place, Word};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The thread that holds `CPU` posts `Debts`; `Queued` becomes `Live`.
    Arm(Debts),
    /// The thread that holds `CPU` takes back debts that it had armed and then not posted.
    Withdraw(Debts, Cause),
    /// The thread has finished its work on the transfer.
    PayCpu,
    /// The descriptor came back, all bytes moved.
    HwOk,
    /// The descriptor came back with an error, no byte moved.
    HwUntouched,
    /// The descriptor came back with an error, bytes may have moved.
    HwTouched,
    /// The engine and the channel of the link are proven stopped: whatever they still owe is
    /// settled by hand (S0-20). Only with a [`Quiesced`](crate::link::Quiesced).
    Stopped,
    /// The short message completed.
    MsgOk,
    /// The short message failed and was not delivered.
    MsgNotDelivered,
    /// The short message failed; whether it was delivered is not known.
    MsgUnknown,
    /// The peer has staged its side: the pull may begin (PULL_READY). Any answer says that the
    /// request has arrived (S1-4).
    Accepted,
    /// The peer says that it has pulled everything (PUT_DONE).
    Done,
    /// The peer refuses (PUT_NAK, GET_NAK, PUT_DONE with a failure). Nothing is sent after it (S1-5).
    Refused,
    /// Peer-down, deadline, link failure, shutdown: give up what can be given up.
    Cancel(Cause),
}

/// What the caller of [`step`] must now do. At most one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Effect {
    /// Nothing.
    None,
    /// The last debt is settled: the caller holds the finalize token.
    Finalize,
    /// Ask the engine for the descriptor.
    Invalidate,
    /// Post the pull, then pay `CPU`.
    StartPull,
    /// Take the transfer out of its waiting queue, then pay `CPU`.
    Unqueue,
    /// The transfer has been cancelled: nothing was armed; pay `CPU`.
    TooLate,
    /// The event is about a debt that is already settled. Count it; nothing has changed.
    Late,
    /// A second cancellation. Nothing has changed.
    Repeat,
    /// Only the holder of `CPU` may do this, and nobody holds it. Count it; nothing has changed.
    Misuse,
}

/// A new word and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Step {
    /// The word after the event; equal to the word before if nothing changed.
    pub word: Word,
    /// What to do.
    pub effect: Effect,
}

/// Applies an event to a word.
///
/// The caller has compared generations: the event is about this use of the slot.
pub const fn step(word: Word, event: Event) -> Step {
    match word.phase() {
        Phase::Free | Phase::Done => unchanged(word, Effect::Late),
        Phase::Queued => step_queued(word, event),
        Phase::Live => step_live(word, event),
    }
}

/// `Queued` owes `CPU` and nothing else.
const fn step_queued(word: Word, event: Event) -> Step {
    match event {
        Event::Arm(_) if word.invalidating() => unchanged(word, Effect::TooLate),
        Event::Arm(debts) => changed(word.with_phase(Phase::Live).adding(debts), Effect::None),
        Event::Cancel(_) if word.invalidating() => unchanged(word, Effect::Repeat),
        Event::Cancel(cause) => {
            changed(word.asking().because(cause).losing(Place::Queue), Effect::Unqueue)
        }
        Event::Withdraw(_, cause) => {
            changed(word.asking().because(cause).losing(Place::Queue), Effect::None)
        }
        Event::PayCpu => settle(word.paying(Debts::CPU)),
        _ => unchanged(word, Effect::Late),
    }
}

const fn step_live(word: Word, event: Event) -> Step {
    match event {
        Event::Arm(_) | Event::Withdraw(..) | Event::PayCpu if !word.owes(Debts::CPU) => {
            unchanged(word, Effect::Misuse)
        }
        Event::Arm(_) if word.invalidating() || word.lost() => unchanged(word, Effect::TooLate),
        Event::Arm(debts) => changed(word.adding(debts), Effect::None),
        Event::Withdraw(debts, cause) => {
            // What was not sent is not answered.
            let back = Debts(debts.0 & !Debts::CPU.0 | Debts::PEER.0);
            changed(lose(word.paying(back).asking().because(cause), Place::Queue), Effect::None)
        }
        Event::PayCpu => {
            let paid = word.paying(Debts::CPU);
            if paid.invalidating() && paid.owes(Debts::HW) {
                // The cancellation came while the descriptor was being posted.
                changed(paid, Effect::Invalidate)
            } else {
                settle(paid)
            }
        }
        Event::HwOk | Event::HwUntouched | Event::HwTouched if !word.owes(Debts::HW) => {
            unchanged(word, Effect::Late)
        }
        // S0-16, R6: an invalidated descriptor that came back good lost the race and is good.
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
        // We have given it up, and its descriptor has not come back: the peer has pulled all the same (S0-16).
        Event::Done if given_up(word) => changed(word.proving(), Effect::None),
        Event::Accepted | Event::Done if !word.owes(Debts::PEER) => unchanged(word, Effect::Late),
        // `CPU` and `HW` are one bit each, and one holder each; and who has had a descriptor pulls
        // nothing, who never had one was not pulled from (R31).
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
            if word.invalidating() || !(word.owes(Debts::PEER) || word.owes(Debts::HW)) =>
        {
            unchanged(word, Effect::Late)
        }
        Event::Refused => invalidate(drop_peer(word.because(Cause::Refused))),
        Event::Cancel(_) if word.invalidating() => unchanged(word, Effect::Repeat),
        Event::Cancel(cause) => invalidate(drop_peer(word.because(cause))),
    }
}

/// Whether a transfer's peer is not waited for any more, but its descriptor is.
const fn given_up(word: Word) -> bool {
    word.invalidating() && word.owes(Debts::HW) && !word.owes(Debts::PEER) && !word.proven()
}

/// By hand, with the proof that nothing moves any more: `HW` and `MSG` are settled at once.
const fn step_stopped(word: Word) -> Step {
    if !word.owes(Debts::HW) && !word.owes(Debts::MSG) {
        return unchanged(word, Effect::Late);
    }
    let mut next = word;
    if next.owes(Debts::HW) {
        next = hw_error(next, Place::Moving, Cause::LinkDown);
    }
    if next.owes(Debts::MSG) {
        // A message whose data was moved had arrived: the pull is the proof.
        next = next.paying(Debts::MSG).paying(Debts::PEER).because(Cause::LinkDown);
        next = lose(next, Place::Answer);
    }
    settle(next)
}

/// A descriptor came back with an error. If the peer has vouched for the data nothing is lost.
const fn hw_error(word: Word, place: Place, cause: Cause) -> Word {
    let paid = word.paying(Debts::HW);
    if paid.proven() {
        paid
    } else {
        // Without its source the peer's answer can only be a failure: do not wait for it.
        paid.paying(Debts::PEER).because(cause).losing(place)
    }
}

/// A short message failed. With a descriptor out, the descriptor's end decides: one that comes
/// back OK was pulled, so the message had arrived after all.
const fn msg_error(word: Word, place: Place) -> Step {
    let paid = word.paying(Debts::MSG).paying(Debts::PEER).because(Cause::Channel);
    if paid.owes(Debts::HW) {
        invalidate(paid)
    } else {
        settle(lose(paid, place))
    }
}

/// Gives up waiting for the peer.
const fn drop_peer(word: Word) -> Word {
    if word.owes(Debts::PEER) {
        lose(word.paying(Debts::PEER), Place::Answer)
    } else {
        word
    }
}

/// A loss, unless the data is known to have been moved, or a descriptor is out: then its end
/// decides.
const fn lose(word: Word, place: Place) -> Word {
    if word.proven() || word.owes(Debts::HW) {
        word
    } else {
        word.losing(place)
    }
}

/// Wants the descriptor back, if there is one; while `CPU` is owed its holder will ask.
const fn invalidate(word: Word) -> Step {
    let first = !word.invalidating();
    let next = word.asking();
    if next.owes(Debts::HW) && !next.owes(Debts::CPU) && first {
        changed(next, Effect::Invalidate)
    } else {
        settle(next)
    }
}

/// Finalizes if nothing is owed.
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
