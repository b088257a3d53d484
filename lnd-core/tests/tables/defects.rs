// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Seeded defects: `step` with one mistake each, and the property that must catch it.
//!
//! Most are mistakes that real drivers have made (bug catalogue B1 to B10, hazards H3 and H7).

use lnd_core::transfer::{step, Cause, Debts, Effect, Event, Phase, Step, Word};

use super::properties::Property;

/// A wrong `step`.
pub struct Defect {
    pub name: &'static str,
    pub breaks: Property,
    pub step: fn(Word, Event) -> Step,
}

const LOST: u32 = 1 << 4;
const INVALIDATING: u32 = 1 << 5;
const CAUSE: u32 = 0xf << 7;
const PLACE: u32 = 0x7 << 11;
const PHASE: u32 = 0x3 << 14;

/// The word with the bits of `mask` replaced.
const fn with(word: Word, mask: u32, bits: u32) -> Word {
    Word::from_bits(word.bits() & !mask | bits)
}

const fn done(word: Word) -> Step {
    Step { word: with(word, PHASE, (Phase::Done as u32) << 14), effect: Effect::Finalize }
}

/// All of them.
pub const DEFECTS: [Defect; 18] = [
    Defect {
        name: "a descriptor that comes back good after a cancellation counts as lost (S0-16)",
        breaks: Property::Decision,
        step: |word, event| {
            let right = step(word, event);
            if event == Event::HwOk && right.word != word && word.invalidating() {
                let lost = LOST | (5 << 11);
                Step { word: with(right.word, PLACE, lost), ..right }
            } else {
                right
            }
        },
    },
    Defect {
        name: "a cancellation finalizes while the engine has the descriptor (INV-2)",
        breaks: Property::HwOwner,
        step: |word, event| match event {
            Event::Cancel(_) if word.phase() == Phase::Live && !word.owes(Debts::CPU) => {
                done(with(step(word, event).word, 0xf, 0))
            }
            _ => step(word, event),
        },
    },
    Defect {
        name: "a cancellation invalidates a short message (INV-5)",
        breaks: Property::MsgOwner,
        step: |word, event| {
            let right = step(word, event);
            match event {
                Event::Cancel(_) if right.word.debts() == Debts::MSG => {
                    done(with(right.word, 0xf, 0))
                }
                _ => right,
            }
        },
    },
    Defect {
        name: "paying CPU forgets to ask for a descriptor posted during the cancellation",
        breaks: Property::Invalidate,
        step: |word, event| match step(word, event) {
            Step { word, effect: Effect::Invalidate } if event == Event::PayCpu => {
                Step { word, effect: Effect::None }
            }
            right => right,
        },
    },
    Defect {
        name: "a descriptor still being written is asked for",
        breaks: Property::Invalidate,
        step: |word, event| match (event, step(word, event)) {
            (Event::Cancel(_), Step { word, effect: Effect::None }) if word.owes(Debts::HW) => {
                Step { word, effect: Effect::Invalidate }
            }
            (_, right) => right,
        },
    },
    Defect {
        name: "every cancellation asks for the descriptor again (LU-16349)",
        breaks: Property::Invalidate,
        step: |word, event| match (event, step(word, event)) {
            (Event::Cancel(_), Step { word, effect: Effect::Repeat })
                if word.owes(Debts::HW) && !word.owes(Debts::CPU) =>
            {
                Step { word, effect: Effect::Invalidate }
            }
            (_, right) => right,
        },
    },
    Defect {
        name: "a late completion finalizes again (INV-1)",
        breaks: Property::Absorbing,
        step: |word, event| match (event, word.phase()) {
            (Event::HwOk | Event::MsgOk, Phase::Done) => done(word),
            _ => step(word, event),
        },
    },
    Defect {
        name: "a late completion is taken for another debt's",
        breaks: Property::HwOwner,
        step: |word, event| match event {
            Event::MsgOk if !word.owes(Debts::MSG) => step(word, Event::HwOk),
            _ => step(word, event),
        },
    },
    Defect {
        name: "a nearer loss overwrites a further one: unknown becomes not delivered",
        breaks: Property::Furthest,
        step: |word, event| {
            let right = step(word, event);
            match event {
                Event::MsgNotDelivered if right.word.lost() && right.word != word => {
                    Step { word: with(right.word, PLACE, 2 << 11), ..right }
                }
                _ => right,
            }
        },
    },
    Defect {
        name: "a later error overwrites the first cause (H3)",
        breaks: Property::FirstCause,
        step: |word, event| {
            let right = step(word, event);
            match event {
                Event::HwUntouched | Event::HwTouched if right.word != word => {
                    let cause = (Cause::Device as u32) << 7;
                    Step { word: with(right.word, CAUSE, cause), ..right }
                }
                _ => right,
            }
        },
    },
    Defect {
        name: "a failure is recorded without a cause (LU-18977)",
        breaks: Property::Evidence,
        step: |word, event| {
            let right = step(word, event);
            match event {
                Event::MsgNotDelivered if right.word.lost() && word.cause().is_none() => {
                    Step { word: with(right.word, CAUSE, 0), ..right }
                }
                _ => right,
            }
        },
    },
    Defect {
        name: "the last debt is settled and no context finalizes (LU-10682)",
        breaks: Property::Finalize,
        step: |word, event| match (event, step(word, event)) {
            (Event::MsgOk, Step { effect: Effect::Finalize, word: end }) => {
                Step { word: with(end, PHASE, (Phase::Live as u32) << 14), effect: Effect::None }
            }
            (_, right) => right,
        },
    },
    Defect {
        name: "a failed descriptor counts as a good one",
        breaks: Property::Decision,
        step: |word, event| match event {
            Event::HwUntouched => step(word, Event::HwOk),
            _ => step(word, event),
        },
    },
    Defect {
        name: "the stopped engine's descriptor is left owed: nothing ends (H7)",
        breaks: Property::Drains,
        step: |word, event| match event {
            Event::Stopped if word.owes(Debts::HW) => Step { word, effect: Effect::None },
            _ => step(word, event),
        },
    },
    Defect {
        name: "a second cancellation changes the word",
        breaks: Property::Unchanged,
        step: |word, event| match step(word, event) {
            Step { effect: Effect::Repeat, .. } => {
                Step { word: with(word, INVALIDATING, 0), effect: Effect::Repeat }
            }
            right => right,
        },
    },
    Defect {
        name: "a refusal pays the debt of the thread at work",
        breaks: Property::CpuOwner,
        step: |word, event| {
            let right = step(word, event);
            match event {
                Event::Refused if right.word != word && right.word.debts().bits() != 1 => {
                    Step { word: with(right.word, 1, 0), ..right }
                }
                _ => right,
            }
        },
    },
    Defect {
        name: "a message's completion brings a debt back",
        breaks: Property::Growth,
        step: |word, event| match (event, step(word, event)) {
            (Event::MsgOk, Step { word: next, effect: Effect::None }) if next != word => {
                Step { word: with(next, 0, 1 << 1), effect: Effect::None }
            }
            (_, right) => right,
        },
    },
    Defect {
        name: "finalizing counts the generation up before the report",
        breaks: Property::Generation,
        step: |word, event| match step(word, event) {
            Step { word: end, effect: Effect::Finalize } => Step {
                word: Word::from_bits(end.bits().wrapping_add(1 << 16)),
                effect: Effect::Finalize,
            },
            right => right,
        },
    },
];
