// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every word, every event, and short names for both.

use std::fmt;

use lnd_core::transfer::{Cause, Debts, Effect, Event, Phase, Step, Word};

/// A function of the kind of [`step`](lnd_core::transfer::step): itself, or one with a defect.
pub type Stepper = dyn Fn(Word, Event) -> Step;

/// A use of a slot: both halves are non-zero, so that a test sees whether the upper one is cut off.
pub const GENERATION: u32 = 0x0003_5a5a;

/// Debts in the order of the columns of a label, each with its letter.
pub const LETTERS: [(Debts, char); 4] =
    [(Debts::CPU, 'C'), (Debts::HW, 'H'), (Debts::MSG, 'M'), (Debts::PEER, 'P')];

/// Every set of debts.
pub fn debt_sets() -> impl Iterator<Item = Debts> {
    (0..16).map(Debts)
}

/// The events without a payload.
pub const PLAIN: [Event; 11] = [
    Event::PayCpu,
    Event::HwOk,
    Event::HwUntouched,
    Event::HwTouched,
    Event::Stopped,
    Event::MsgOk,
    Event::MsgNotDelivered,
    Event::MsgUnknown,
    Event::Accepted,
    Event::Done,
    Event::Refused,
];

/// Every event whose cause, if it has one, is of `causes`.
pub fn events(causes: &[Cause]) -> Vec<Event> {
    let mut all = PLAIN.to_vec();
    all.extend(debt_sets().map(Event::Arm));
    for &cause in causes {
        all.push(Event::Cancel(cause));
        all.extend(debt_sets().map(|debts| Event::Withdraw(debts, cause)));
    }
    all
}

/// Every value of the low half of a word, well formed or not.
pub fn all_words(generation: u32) -> impl Iterator<Item = Word> {
    let high = Word::free(generation).bits();
    (0..=0xffff).map(move |low| Word::from_bits(high | low))
}

/// Whether each field of the word holds a value that has a name.
pub fn well_formed(word: Word) -> bool {
    let cause_is_none = word.bits() & (0xf << 7) == 0;
    let place_is_none = word.bits() & (0x7 << 11) == 0;
    (word.cause().is_none() == cause_is_none) && (word.place().is_none() == place_is_none)
}

/// The word without its generation, its cause and its place.
pub fn bare(word: Word) -> Word {
    Word::from_bits(word.bits() & 0xc07f)
}

/// A word without its generation, its cause and its place: all that decides what happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    pub phase: Phase,
    pub debts: Debts,
    pub invalidating: bool,
    pub proven: bool,
    pub lost: bool,
}

impl Class {
    pub fn of(word: Word) -> Self {
        Self {
            phase: word.phase(),
            debts: word.debts(),
            invalidating: word.invalidating(),
            proven: word.proven(),
            lost: word.lost(),
        }
    }

    /// Rows of a table come in this order: by phase, then all that is owed first, then by flags.
    pub fn rank(self) -> (u8, u8, bool, bool, bool) {
        (self.phase as u8, !self.debts.0, self.invalidating, self.proven, self.lost)
    }
}

impl fmt::Display for Class {
    /// For example `.HM. a`; `Done` shows only how it ended.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = match (self.phase, self.lost) {
            (Phase::Free, _) => return f.pad("Free"),
            (Phase::Done, false) => return f.pad("OK"),
            (Phase::Done, true) => return f.pad("LOST"),
            (Phase::Queued, _) => "Qu.".to_owned(),
            (Phase::Live, _) => letters(self.debts),
        };
        let flags = [(self.invalidating, 'a'), (self.proven, 'p'), (self.lost, 'l')];
        let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, c)| *c).collect();
        f.pad(format!("{head} {flags}").trim_end())
    }
}

/// For example `.HM.`.
fn letters(debts: Debts) -> String {
    LETTERS.iter().map(|&(debt, c)| if debts.contains(debt) { c } else { '.' }).collect()
}

/// For example `HM`; `-` for none.
pub fn short(debts: Debts) -> String {
    let text: String =
        LETTERS.iter().filter(|(debt, _)| debts.contains(*debt)).map(|(_, c)| *c).collect();
    if text.is_empty() {
        "-".to_owned()
    } else {
        text
    }
}

/// The event's name; causes are left out, for no cell depends on them.
pub fn name(event: Event) -> String {
    match event {
        Event::Arm(debts) => format!("Arm({})", short(debts)),
        Event::Withdraw(debts, _) => format!("Withdraw({})", short(debts)),
        Event::Cancel(_) => "Cancel".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Effects after which nothing may have changed.
pub fn is_refusal(effect: Effect) -> bool {
    matches!(effect, Effect::Late | Effect::Repeat | Effect::Misuse | Effect::TooLate)
}
