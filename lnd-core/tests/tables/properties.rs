// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The properties, each with the shortest test for it.

use lnd_core::transfer::{Cause, Debts, Effect, Event, Phase, Step, Word};

use super::oracle::Oracle;
use super::words::is_refusal;

/// What must hold. The order is that of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// No event changes the slot's generation (R14).
    Generation,
    /// `Free` and `Done` answer `Late` and stay what they are (INV-1).
    Absorbing,
    /// The token is given with the step to `Done`, which is the step that settles the last debt
    /// (INV-1, INV-2).
    Finalize,
    /// `Late`, `Repeat`, `Misuse` and `TooLate` leave the word alone.
    Unchanged,
    /// A lost word says why and where; a word that says where is lost (INV-4).
    Evidence,
    /// The first cause stays (R7, H3).
    FirstCause,
    /// The place never comes nearer, and a loss is never taken back.
    Furthest,
    /// Debts are added by `Arm` and `Accepted` only.
    Growth,
    /// Only its holder pays `CPU`: no context finalizes under a thread at work.
    CpuOwner,
    /// Only the engine, its proven stop, or a thread that has not posted it settles a descriptor
    /// (INV-2).
    HwOwner,
    /// Only the channel, its proven stop, or a thread that has not sent it settles a message
    /// (INV-5).
    MsgOwner,
    /// `Queued` owes `CPU` and nothing else.
    Queued,
    /// The engine is asked only for a descriptor that is surely posted, once, and then in every
    /// case.
    Invalidate,
    /// `CPU` and `HW` are one bit each: the pull is not started while either is open.
    OneHolder,
    /// An answer of the wrong kind changes nothing: no pull by who has a descriptor or the data, no
    /// "pulled everything" to who never had a descriptor (R31).
    WrongAnswer,
    /// Phase, debts and effect are those of the oracle.
    Oracle,
    /// A transfer ends OK if and only if the oracle knows of no loss; the first cause is blamed
    /// (INV-4).
    Decision,
    /// The place of a loss is that of the oracle (S0-17).
    Knowledge,
    /// Two events that race end in the same status in both orders (R18, S0-16).
    OrderFree,
    /// A set of debts has four members, whatever else its bits say.
    FourDebts,
    /// Every transfer can end without the peer's help (INV-15).
    Drains,
}

/// How alike the two orders of a race must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// In the same word.
    Word,
    /// In the same status; the word may remember the order.
    Status,
    /// Equally OK, with the same knowledge of delivery: of two failures the first is blamed.
    Knowledge,
}

/// Pairs of events that race.
pub const RACES: [(Event, Event, Alike); 12] = [
    (Event::HwOk, Event::MsgOk, Alike::Word),
    (Event::HwOk, Event::PayCpu, Alike::Word),
    (Event::MsgOk, Event::PayCpu, Alike::Word),
    (Event::Cancel(Cause::PeerDown), Event::PayCpu, Alike::Status),
    (Event::MsgOk, Event::Cancel(Cause::PeerDown), Alike::Status),
    (Event::HwOk, Event::Cancel(Cause::PeerDown), Alike::Status),
    (Event::HwOk, Event::Refused, Alike::Status),
    (Event::HwOk, Event::MsgUnknown, Alike::Status),
    (Event::HwOk, Event::MsgNotDelivered, Alike::Status),
    (Event::HwUntouched, Event::Cancel(Cause::PeerDown), Alike::Knowledge),
    (Event::HwUntouched, Event::MsgUnknown, Alike::Knowledge),
    (Event::HwTouched, Event::MsgNotDelivered, Alike::Knowledge),
];

/// What can be told from one transition. Holds for every word, well formed or not.
pub fn transition(word: Word, event: Event, step: Step) -> Vec<Property> {
    let (next, effect) = (step.word, step.effect);
    let over = matches!(word.phase(), Phase::Free | Phase::Done);
    if next == word && (effect == Effect::Late || (is_refusal(effect) && !over)) {
        return Vec::new(); // nothing happened: nothing can be wrong (and most cells are such)
    }
    let mut broken = Vec::new();
    let mut must = |holds: bool, property| {
        if !holds {
            broken.push(property);
        }
    };
    must(next.generation() == word.generation(), Property::Generation);
    must(!over || (next == word && effect == Effect::Late), Property::Absorbing);
    must(!is_refusal(effect) || next == word, Property::Unchanged);
    must(over || (effect == Effect::Finalize) == (next.phase() == Phase::Done), Property::Finalize);
    must(effect != Effect::Finalize || next.debts().is_empty(), Property::Finalize);
    must(word.cause().is_none() || next.cause() == word.cause(), Property::FirstCause);
    must(next.place() >= word.place() && next.lost() >= word.lost(), Property::Furthest);

    let (open, still_open) = (word.debts().0, next.debts().0);
    let may_grow = match event {
        Event::Arm(debts) => debts.0,
        Event::Accepted => Debts::CPU.0 | Debts::HW.0,
        _ => 0,
    };
    must(still_open & !open & !may_grow == 0, Property::Growth);

    // Who may settle what.
    let (cpu, hw, msg) = (Debts::CPU.0, Debts::HW.0, Debts::MSG.0);
    let may_pay = match event {
        Event::PayCpu => cpu,
        Event::HwOk | Event::HwUntouched | Event::HwTouched => hw,
        Event::MsgOk | Event::MsgNotDelivered | Event::MsgUnknown => msg,
        Event::Stopped => hw | msg,
        Event::Withdraw(debts, _) => debts.0 & !cpu,
        _ => 0,
    };
    let paid_wrongly = open & !still_open & !may_pay;
    must(paid_wrongly & cpu == 0, Property::CpuOwner);
    must(paid_wrongly & hw == 0, Property::HwOwner);
    must(paid_wrongly & msg == 0, Property::MsgOwner);
    let is_posted = next.owes(Debts::HW) && !next.owes(Debts::CPU);
    must(effect != Effect::Invalidate || is_posted, Property::Invalidate);
    broken
}

/// What holds of every word that `step` makes.
pub fn shape(word: Word) -> Vec<Property> {
    let mut broken = Vec::new();
    if word.lost() != word.place().is_some() || (word.lost() && word.cause().is_none()) {
        broken.push(Property::Evidence);
    }
    if (word.phase() == Phase::Done) != word.debts().is_empty() {
        broken.push(Property::Finalize);
    }
    if word.phase() == Phase::Queued && word.debts() != Debts::CPU {
        broken.push(Property::Queued);
    }
    broken
}

/// What needs the history of the transfer.
pub fn with_history(word: Word, before: &Oracle, event: Event, step: Step) -> Vec<Property> {
    let (next, effect) = (step.word, step.effect);
    let mut broken = shape(next);
    let mut must = |holds: bool, property| {
        if !holds {
            broken.push(property);
        }
    };
    let mut after = *before;
    let _ = after.note(event);
    let changed = next != word;

    let invalidating = effect == Effect::Invalidate;
    must(!(invalidating && before.invalidated), Property::Invalidate);
    let due = after.was_invalidated && next.owes(Debts::HW) && !next.owes(Debts::CPU);
    must(!due || invalidating || before.invalidated, Property::Invalidate);
    if event == Event::Accepted && changed {
        must(!word.owes(Debts::CPU) && !word.owes(Debts::HW), Property::OneHolder);
        must(!before.had_descriptor(), Property::WrongAnswer);
    }
    must(event != Event::Done || !changed || before.had_descriptor(), Property::WrongAnswer);
    broken
}

/// Compares an end with what the oracle knows.
pub fn decision(end: Word, oracle: &Oracle) -> Vec<Property> {
    let mut broken = Vec::new();
    if end.lost() != oracle.failed() || (end.lost() && end.cause() != oracle.blame) {
        broken.push(Property::Decision);
    }
    // How far a message had come of which the descriptor was never posted is a fine point: no
    // payload was delivered.
    let is_notified = !oracle.unposted || oracle.descriptor.is_some();
    if end.lost() && oracle.failed() && is_notified && end.place() != oracle.place() {
        broken.push(Property::Knowledge);
    }
    broken
}
