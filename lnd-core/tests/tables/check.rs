// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The checker: walks everything that a `step` can reach and says which properties it breaks.
//!
//! It is generic over the function, so that the same checker is shown to bite on seeded defects.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use lnd_core::transfer::{Cause, Debts, Effect, Event, Phase, Policy, Status, Step, Word};

use super::oracle::Oracle;
use super::properties::{decision, shape, transition, with_history, Alike, Property, RACES};
use super::roles::ROLES;
use super::words::{debt_sets, events, is_refusal, name, short, Class, Stepper, GENERATION};

/// A broken property: where, and after which event.
pub type Violations = BTreeMap<(Property, String, String), String>;

/// Everything a walk found.
pub struct Report {
    pub violations: Violations,
    /// Distinct words with their history, in the order in which they were found.
    pub states: usize,
    /// Distinct words.
    pub words: Vec<Word>,
}

/// A word and what the oracle knows about how it came about.
type State = (Word, Oracle);

struct Walk<'s> {
    step: &'s Stepper,
    /// How each state was reached: the former state's number and the event.
    found: Vec<(State, Option<(usize, Event)>)>,
    numbers: HashMap<State, usize>,
    todo: VecDeque<usize>,
    violations: Violations,
}

/// Walks from every legal beginning, with every event that the world or an honest caller can raise.
/// Two causes suffice, for `step` is blind to which cause it is (a test of its own shows that).
pub fn check(step: &Stepper) -> Report {
    let mut walk = Walk {
        step,
        found: Vec::new(),
        numbers: HashMap::new(),
        todo: VecDeque::new(),
        violations: Violations::new(),
    };
    walk.add((Word::queued(GENERATION), Oracle::published(None)), None);
    for debts in ROLES.iter().map(|role| role.debts) {
        walk.add((Word::live(GENERATION, debts), Oracle::published(Some(debts))), None);
    }
    let events = events(&[Cause::PeerDown, Cause::Deadline]);
    while let Some(number) = walk.todo.pop_front() {
        let state = walk.found[number].0;
        for &event in events.iter().filter(|event| state.1.allows(**event)) {
            walk.one(number, state, event);
        }
        walk.races(number, state.0);
        walk.drains(number, state);
    }
    let mut words: Vec<Word> = walk.found.iter().map(|((word, _), _)| *word).collect();
    words.sort_by_key(|word| word.bits());
    words.dedup();
    Report { violations: walk.violations, states: walk.found.len(), words }
}

impl Walk<'_> {
    fn add(&mut self, state: State, from: Option<(usize, Event)>) {
        if !self.numbers.contains_key(&state) {
            self.numbers.insert(state, self.found.len());
            self.todo.push_back(self.found.len());
            self.found.push((state, from));
        }
    }

    /// One transition: checked, compared, and followed if the two still agree.
    fn one(&mut self, number: usize, (word, before): State, event: Event) {
        let Step { word: next, effect } = (self.step)(word, event);
        let mut after = before;
        let expected = after.note(event);
        let mut broken = transition(word, event, Step { word: next, effect });
        broken.extend(with_history(word, &before, event, Step { word: next, effect }));

        let done = next.phase() == Phase::Done;
        let queued = next.phase() == Phase::Queued;
        let agree = effect == expected
            && next.debts() == after.debts()
            && (done, queued && !done) == (after.done, after.queued && !after.done);
        if !agree {
            broken.push(Property::Oracle);
        } else if effect == Effect::Finalize {
            broken.extend(decision(next, &after));
        }
        self.report(&broken, word, &name(event), |walk| {
            let end = after.failed().then_some((after.blame, after.place()));
            format!(
                "{} --{event:?}--> {next} {effect:?}; expected [{}] {expected:?}, loss {end:?}",
                walk.path(number),
                short(after.debts()),
            )
        });
        if agree && next.is_of(GENERATION) {
            self.add((next, after), Some((number, event)));
        }
    }

    /// Both orders of two events that race (R18). While it is queued there is no race: the one who
    /// pays `CPU` then has done all of the work itself.
    fn races(&mut self, number: usize, word: Word) {
        if word.phase() == Phase::Queued {
            return;
        }
        for (a, b, alike) in RACES {
            let applies = |event| !is_refusal((self.step)(word, event).effect);
            if !(applies(a) && applies(b)) {
                continue;
            }
            let (ab, ba) = (self.end(word, &[a, b]), self.end(word, &[b, a]));
            let same = match (&ab, &ba) {
                (Some(x), Some(y)) => match alike {
                    Alike::Word => x == y,
                    Alike::Status => x.1 == y.1,
                    Alike::Knowledge => x.1.delivery == y.1.delivery,
                },
                _ => false,
            };
            if !same {
                let pair = format!("{} x {}", name(a), name(b));
                self.report(&[Property::OrderFree], word, &pair, |walk| {
                    format!("{}: {a:?}, {b:?} -> {ab:?}; reversed {ba:?}", walk.path(number))
                });
            }
        }
    }

    /// Whether it can end without the peer's help.
    fn drains(&mut self, number: usize, (word, oracle): State) {
        if !oracle.done && !drains(self.step, word) {
            self.report(&[Property::Drains], word, "Cancel, then pay", |walk| walk.path(number));
        }
    }

    /// Applies `events`, then pays what is still owed as well as it can be paid.
    fn end(&self, word: Word, events: &[Event]) -> Option<(Word, Status)> {
        let word = events.iter().fold(word, |word, &event| (self.step)(word, event).word);
        let paid = pay(self.step, word, Event::HwOk, Event::MsgOk);
        let last = (self.step)(paid, Event::Cancel(Cause::Shutdown)).word;
        Status::of_word(Policy::Seed, last).map(|status| (last, status))
    }

    fn report(
        &mut self,
        broken: &[Property],
        word: Word,
        event: &str,
        detail: impl Fn(&Self) -> String,
    ) {
        for &property in broken {
            let key = (property, Class::of(word).to_string(), event.to_owned());
            if !self.violations.contains_key(&key) {
                let detail = detail(self);
                self.violations.insert(key, detail);
            }
        }
    }

    /// The shortest way from a beginning.
    fn path(&self, number: usize) -> String {
        let mut steps = Vec::new();
        let mut at = number;
        while let (_, Some((from, event))) = self.found[at] {
            steps.push(format!(" --{event:?}--> {}", self.found[at].0 .0));
            at = from;
        }
        steps.push(self.found[at].0 .0.to_string());
        steps.iter().rev().map(String::as_str).collect()
    }
}

/// Whether a word comes to `Done` by what the node alone can bring about (INV-15): it gives up and
/// all but the peer pay; and also if it gives up and the engine is proven stopped.
fn drains(step: &Stepper, word: Word) -> bool {
    let cancelled = step(word, Event::Cancel(Cause::Shutdown)).word;
    let paid = pay(step, cancelled, Event::HwTouched, Event::MsgUnknown);
    let stopped = step(cancelled, Event::Stopped).word;
    let reclaimed = pay(step, stopped, Event::Stopped, Event::Stopped);
    paid.phase() == Phase::Done && reclaimed.phase() == Phase::Done
}

/// Pays what is owed in this way.
fn pay(step: &Stepper, mut word: Word, hw: Event, msg: Event) -> Word {
    for (debt, event) in [(Debts::CPU, Event::PayCpu), (Debts::HW, hw), (Debts::MSG, msg)] {
        if word.owes(debt) {
            word = step(word, event).word;
        }
    }
    word
}

/// Walks with every event whatever, also of callers who keep no contract. What needs no oracle
/// must hold even there. Returns what is broken and how many words there are.
pub fn check_careless(step: &Stepper) -> (Violations, usize) {
    let beginnings = debt_sets().map(|debts| Word::live(GENERATION, debts));
    let mut todo: Vec<Word> = beginnings.chain([Word::queued(GENERATION)]).collect();
    let mut seen: HashSet<Word> = todo.iter().copied().collect();
    let events = events(&Cause::ALL);
    let mut violations = Violations::new();
    while let Some(word) = todo.pop() {
        if word.phase() != Phase::Done && !drains(step, word) {
            let key = (Property::Drains, Class::of(word).to_string(), String::new());
            violations.entry(key).or_insert_with(|| word.to_string());
        }
        for &event in &events {
            let next = step(word, event);
            for property in shape(next.word).into_iter().chain(transition(word, event, next)) {
                let key = (property, Class::of(word).to_string(), name(event));
                violations.entry(key).or_insert_with(|| format!("{word} --> {next:?}"));
            }
            if next.word.is_of(GENERATION) && seen.insert(next.word) {
                todo.push(next.word);
            }
        }
    }
    (violations, seen.len())
}
