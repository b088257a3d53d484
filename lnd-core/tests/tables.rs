// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Exhaustive tests of the pure tables: `step`, `hello_step`, `link_step` and `Status::of`.
//!
//! Every word and event is tried; everything that can be reached is compared with a naive oracle
//! and checked for numbered properties; the checker is shown to bite on seeded defects; and the
//! tables and drawings in `tests/snapshots` and `docs/machines` are kept up to date
//! (`UPDATE=1 cargo test -p lnd-core --test tables` writes them anew).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod tables {
    pub mod book;
    pub mod check;
    pub mod committed;
    pub mod defects;
    pub mod graph;
    mod names;
    pub mod oracle;
    pub mod peer_and_link;
    pub mod properties;
    pub mod roles;
    pub mod text;
    pub mod words;
}

use std::collections::BTreeSet;

use lnd_core::transfer::{
    step, Cause, Debts, Delivery, Effect, Event, HealthClass, Phase, Place, Policy, Status, Word,
};

use tables::check::{check, check_careless, Violations};
use tables::committed::same;
use tables::defects::DEFECTS;
use tables::properties::{transition, Property};
use tables::words::{all_words, bare, events, well_formed, Class, GENERATION};
use tables::{book, text};

/// Properties that `step` is known to break. The list is exact: a property that comes to hold has
/// to be taken out, a new breach fails the test.
const OPEN: &[Property] = &[];

/// The open ones but for those that have a test of their own.
fn open_but(own: &[Property]) -> BTreeSet<Property> {
    OPEN.iter().copied().filter(|property| !own.contains(property)).collect()
}

/// The first few, one a line.
fn shown(violations: &Violations) -> String {
    let line = |((property, class, event), detail): (&(Property, String, String), &String)| {
        format!("{property:?} at [{class}] {event}:\n    {detail}\n")
    };
    violations.iter().map(line).take(40).collect()
}

/// R4: final only when all separate facts are in.

#[test]
fn step_has_every_property_wherever_it_can_get() {
    let report = check(&step);
    let broken: BTreeSet<Property> =
        report.violations.keys().map(|(property, ..)| *property).collect();
    let open = open_but(&[Property::FourDebts, Property::Drains]);
    assert!(broken == open, "broken {broken:?}, known {open:?}\n{}", shown(&report.violations));
    // The walk went everywhere: every phase but `Free`, both ends, every cause it was given.
    let classes: Vec<Class> = report.words.iter().map(|&word| Class::of(word)).collect();
    for phase in [Phase::Queued, Phase::Live, Phase::Done] {
        assert!(classes.iter().any(|class| class.phase == phase), "{phase:?} was not reached");
    }
    for place in Place::ALL {
        assert!(report.words.iter().any(|word| word.place() == Some(place)), "{place:?}");
    }
    assert!(report.states > report.words.len(), "histories that differ lead to the same word");
}

#[test]
fn step_keeps_its_word_even_for_a_careless_caller() {
    let (violations, words) = check_careless(&step);
    let broken: BTreeSet<Property> = violations.keys().map(|(property, ..)| *property).collect();
    let open = open_but(&[]).intersection(&BTreeSet::from([Property::Drains])).copied().collect();
    assert!(broken == open, "broken {broken:?}, known {open:?}\n{}", shown(&violations));
    assert!(words > check(&step).words.len(), "the careless get further");
}

#[test]
fn the_checker_bites_on_every_seeded_defect() {
    let already: BTreeSet<_> = check(&step).violations.into_keys().collect();
    for defect in &DEFECTS {
        let mut found = check(&defect.step).violations;
        found.retain(|breach, _| !already.contains(breach));
        assert!(
            found.keys().any(|(property, ..)| *property == defect.breaks),
            "{}: {:?} was not seen to break; new breaches:\n{}",
            defect.name,
            defect.breaks,
            shown(&found)
        );
    }
}

/// R2: one total table.

#[test]
fn every_word_and_event_has_an_answer() {
    // INV-10: 65,536 words, most of which the code never makes, times every event. None panics, and
    // what can be told from one transition holds even there.
    let (every, of_one_cause) = (events(&Cause::ALL), events(&[Cause::Protocol]));
    for word in all_words(GENERATION) {
        for &event in if well_formed(word) { &every } else { &of_one_cause } {
            let broken = transition(word, event, step(word, event));
            assert!(broken.is_empty(), "{word} {event:?}: {broken:?}");
        }
    }
}

#[test]
fn no_cell_depends_on_cause_place_or_generation() {
    // This is what lets the other tests and the printed table do with one cause.
    let of_cause = |cause| events(&[cause]);
    let pairs: Vec<(Event, Event)> =
        of_cause(Cause::Protocol).into_iter().zip(of_cause(Cause::PeerDown)).collect();
    for word in all_words(GENERATION).filter(|&word| well_formed(word)) {
        let plain = bare(word);
        for &(event, other) in &pairs {
            let (next, expected) = (step(word, event), step(plain, other));
            assert_eq!(Class::of(next.word), Class::of(expected.word), "{word} {event:?}");
            assert_eq!(next.effect, expected.effect, "{word} {event:?}");
        }
    }
}

#[test]
fn the_cause_recorded_is_that_of_the_event() {
    for word in all_words(GENERATION).filter(|&word| well_formed(word)) {
        for cause in Cause::ALL {
            for event in [Event::Cancel(cause), Event::Withdraw(Debts::MSG, cause)] {
                let next = step(word, event);
                let recorded = word.cause().or((next.word != word).then_some(cause));
                assert_eq!(next.word.cause(), recorded, "{word} {event:?}");
            }
        }
    }
}

#[test]
fn traces_and_failed_assertions_tell_a_word_alike() {
    let word = Word::live(7, Debts(Debts::HW.0 | Debts::MSG.0));
    assert_eq!(word.to_string(), "Live[CPU·HW·MSG]");
    assert_eq!(format!("{word:?}"), word.to_string());
}

#[test]
fn only_the_four_debts_are_debts() {
    // `Debts` has room for eight bits; the upper four lie on other fields of the word.
    let mut wrong = Vec::new();
    for bits in 0..=u8::MAX {
        let (all, real) = (Debts(bits), Debts(bits & 0xf));
        let word = Word::live(GENERATION, Debts::HW);
        let pairs = [
            (step(word, Event::Arm(all)), step(word, Event::Arm(real))),
            (
                step(word, Event::Withdraw(all, Cause::Local)),
                step(word, Event::Withdraw(real, Cause::Local)),
            ),
        ];
        if pairs.iter().any(|(a, b)| a != b)
            || Word::live(GENERATION, all) != Word::live(GENERATION, real)
        {
            wrong.push(bits);
        }
    }
    let open = OPEN.contains(&Property::FourDebts);
    assert_eq!(wrong.is_empty(), !open, "{} values write into other fields", wrong.len());
}

/// R6: late success is success.

#[test]
fn race_of_cancel_and_completion_is_lost_by_the_cancel() {
    // S0-16 by hand, with the words written out: what the walk checks everywhere.
    let word = Word::live(GENERATION, Debts::HW.union(Debts::MSG));
    let word = step(step(word, Event::PayCpu).word, Event::MsgOk).word;
    let cancel = Event::Cancel(Cause::PeerDown);
    let invalidating = step(word, cancel);
    assert_eq!(invalidating.effect, Effect::Invalidate);
    assert_eq!(step(invalidating.word, cancel).effect, Effect::Repeat);
    let good = step(invalidating.word, Event::HwOk);
    assert_eq!(good.effect, Effect::Finalize);
    assert_eq!(Status::of_word(Policy::Seed, good.word), Some(Status::OK));
    let bad =
        Status::of_word(Policy::Seed, step(invalidating.word, Event::HwUntouched).word).unwrap();
    assert_eq!(
        (bad.errno, bad.health, bad.delivery),
        (-103, HealthClass::RemoteDropped, Delivery::NotDelivered)
    );
    assert_eq!(step(good.word, Event::HwOk).effect, Effect::Late);
}

/// R10: there is no zero that means "none" or "OK" by chance.

#[test]
fn a_status_is_made_of_every_end_and_of_nothing_else() {
    // INV-4, INV-10: also of words that the code never makes.
    for word in all_words(GENERATION) {
        for policy in [Policy::Seed, Policy::O2ibCompat] {
            let status = Status::of_word(policy, word);
            assert_eq!(status.is_some(), word.phase() == Phase::Done, "{word}");
            let Some(status) = status else { continue };
            assert_eq!(status.errno == 0, !word.lost(), "{word}");
            assert_eq!(status.errno == 0, status.health == HealthClass::Ok, "{word}");
            assert_eq!(status.errno == 0, status.delivery == Delivery::Delivered, "{word}");
            assert_eq!(status.errno == 0, status.evidence.is_none(), "{word}");
            assert!(!status.resend || status.delivery == Delivery::NotDelivered, "{word}");
        }
    }
}

#[test]
fn tables_are_up_to_date() {
    let folder = "lnd-core/tests/snapshots";
    same(&format!("{folder}/transfer.txt"), &text::transfer(&step));
    same(&format!("{folder}/hello.txt"), &text::hello());
    same(&format!("{folder}/link.txt"), &text::link());
    same(&format!("{folder}/status.txt"), &text::status());
}

/// S1-15: the life cycle is a table; its pictures are made from it.

#[test]
fn drawings_are_up_to_date() {
    for graph in book::graphs(&step) {
        same(&format!("docs/machines/{}.dot", graph.file), &graph.dot());
    }
    same("docs/machines/README.md", &book::page(&step));
}
