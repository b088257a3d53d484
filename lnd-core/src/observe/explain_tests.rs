// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an observer says in words.

use core::fmt::Write;
use core::num::NonZeroU32;
use std::collections::BTreeSet;
use std::string::{String, ToString};
use std::vec::Vec;

use super::*;
use crate::base::id::{LinkId, Nid, Tag};
use crate::machines::link::{Connection, LinkState};
use crate::machines::peer::HelloState;
use crate::machines::transfer::{step, Effect, Event, Policy, Status};
use crate::observe::{
    BoundOrigin, Family, Gauge, MetricKind, Observer, Room, SizeClass, Stamps, Unit,
};
use crate::ports::trace::Trace;
use crate::ports::Tracer;

const TAG: Tag = Tag { index: 0, generation: 26 };

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn nid() -> Nid {
    Nid::from_raw(7).unwrap()
}

/// Takes so many bytes, and no more.
struct Short(usize);

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// The text, after every reader that takes less of it has got an error.
fn text(it: &impl fmt::Display) -> String {
    let text = it.to_string();
    for room in 0..text.len() {
        assert!(write!(Short(room), "{it}").is_err(), "{room} bytes of {text}");
    }
    text
}

/// Feeds an observer one transfer's events.
fn play(observer: &mut Observer<'_>, mut word: Word, events: &[(u64, Event)]) -> Word {
    for &(when, event) in events {
        let before = word;
        word = step(word, event).word;
        let trace = Trace::Step { tag: TAG, event, before, after: word, effect: Effect::None };
        observer.record(at(when), trace);
    }
    word
}

#[test]
fn times_have_three_places_of_their_unit() {
    for (ns, text) in [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.000 us"),
        (1_234_567, "1.234 ms"),
        (61_002_000_000, "61.002 s"),
    ] {
        assert_eq!(Time(ns).to_string(), text);
    }
}

#[test]
fn each_cause_is_the_finding_of_one_party() {
    let of = |cause| Party::of(cause).as_str();
    let parts = Cause::ALL.map(|cause| (cause, of(cause)));
    for (cause, part) in parts {
        let word = match cause {
            Cause::PeerDown => "does not answer",
            Cause::PeerRestarted | Cause::Refused | Cause::Protocol => "a message of its own",
            Cause::LinkDown => "link",
            Cause::ConnectionDown => "connection",
            Cause::Deadline => "deadline",
            Cause::Shutdown => "shutdown",
            Cause::Withdrawn => "withdrew",
            Cause::Channel => "channel",
            Cause::Device => "engine",
            Cause::Local => "post",
        };
        assert!(part.contains(word), "{cause:?}: {part}");
    }
    let texts: BTreeSet<_> = parts.iter().map(|(_, part)| part).collect();
    assert_eq!(texts.len(), Cause::ALL.len() - 2, "three causes are the peer's own words");
}

#[test]
fn a_failed_put_is_told_from_its_acceptance_to_its_report() {
    let (mut slots, mut journal) = ([Account::EMPTY; 1], [Account::EMPTY; 1]);
    let mut peers = [PeerLog::EMPTY; 1];
    let room = Room { slots: &mut slots, journal: &mut journal, peers: &mut peers, stamps: &[] };
    let mut observer = Observer::new(room);
    let all = Debts(Debts::HW.0 | Debts::MSG.0 | Debts::PEER.0);
    observer.record(at(0), Trace::Peer { peer: nid(), state: HelloState::Good });
    observer.record(at(10), Trace::Accepted { tag: TAG, peer: nid(), length: 5_000 });
    let word = play(
        &mut observer,
        Word::queued(26),
        &[
            (10, Event::Arm(all)),
            (11, Event::PayCpu),
            (13, Event::MsgOk),
            (3_013, Event::Cancel(Cause::Deadline)),
        ],
    );
    let text_now = text(&observer.explain(TAG).unwrap());
    assert!(text_now.contains("waits now: drain since +3.003 ms"), "{text_now}");
    // A deadline that passes a second time is the same deadline.
    let word = play(&mut observer, word, &[(3_014, Event::Cancel(Cause::Deadline))]);
    let link = LinkId::new(1).unwrap();
    let connection = Connection { link, peer: nid(), number: NonZeroU32::MIN };
    observer.record(at(3_015), Trace::Connection { connection, state: LinkState::Stopping });
    let word = play(&mut observer, word, &[(3_020, Event::HwTouched)]);
    let place = word.place().unwrap();
    let status = Status::of(Policy::Seed, Cause::Deadline, place);
    observer.record(at(3_050), Trace::Finalized { tag: TAG, status });
    let told = text(&observer.explain(TAG).unwrap());
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(
        lines[..7],
        [
            "transfer 0/26 with 7@soft0, 5000 bytes",
            "  points: queued +0 ns left +3.000 us completed +3.010 ms reported +3.040 ms",
            "  waited: post 1.000 us send 2.000 us answer 3.000 ms drain 7.000 us report 30.000 us",
            "  ended: -110 NetworkTimeout, Unknown",
            "  given up by: this node's timer: its deadline passed",
            "  evidence: its descriptor came back and bytes may have moved",
            "  given up at +3.003 ms, while it waited for: answer",
        ]
    );
    assert_eq!(lines[7], "  late by 37.000 us");
    assert_eq!(lines.iter().filter(|line| line.contains(" -> ")).count(), 6);
    let last = lines.len() - 2;
    assert_eq!(
        lines[last..],
        ["  peer at 0 ns: Good", "  peer at 3.015 ms: connection on link 1 Stopping"]
    );
}

#[test]
fn an_open_transfer_tells_what_it_has_lost_so_far() {
    let (mut slots, mut journal) = ([Account::EMPTY; 1], [Account::EMPTY; 1]);
    let room = Room { slots: &mut slots, journal: &mut journal, peers: &mut [], stamps: &[] };
    let mut observer = Observer::new(room);
    observer.record(at(1), Trace::Accepted { tag: TAG, peer: nid(), length: 9 });
    let account = observer.account(TAG).unwrap();
    assert_eq!((account.evidence(), account.deadline_passed()), (None, None));
    assert_eq!(observer.oldest_posted(), None, "it was not posted");
    let both = Debts(Debts::HW.0 | Debts::MSG.0);
    play(
        &mut observer,
        Word::queued(26),
        &[
            (1, Event::Arm(both)),
            (1, Event::PayCpu),
            (5, Event::MsgNotDelivered),
            (6, Event::HwUntouched),
        ],
    );
    let account = observer.account(TAG).unwrap();
    assert_eq!(account.evidence(), Some((Cause::Channel, Place::Staged)));
    let told = text(&observer.explain(TAG).unwrap());
    assert!(told.contains("evidence: its descriptor came back with no byte moved"), "{told}");
    assert!(!told.contains("ended") && !told.contains("peer at"), "{told}");
    // An account of no transfer has no peer either.
    assert!(text(&Explained::new(&Account::EMPTY, None)).starts_with("transfer 4294967295/0, 0"));
}

#[test]
fn evidence_is_one_sentence_for_each_place() {
    let texts: BTreeSet<_> = Place::ALL.map(evidence).into_iter().collect();
    assert_eq!(texts.len(), Place::ALL.len());
}

#[test]
fn what_blocks_a_shutdown_is_told_with_what_it_needs() {
    let link = LinkId::new(2);
    let live = |debts: Debts| step(Word::live(26, debts), Event::PayCpu).word;
    let drains = |debts| step(live(debts), Event::Cancel(Cause::Shutdown)).word;
    for (word, needed) in [
        (Word::queued(26), "a handshake, a credit, a link, or its turn"),
        (Word::live(26, Debts::HW), "this node's thread to post it"),
        (live(Debts::MSG), "the channel to end its message"),
        (live(Debts::PEER), "the peer's answer"),
        (live(Debts::HW), "the engine: its own pull, or the peer's"),
        (drains(Debts::HW), "the engine to give its descriptor back, or its stop"),
        (drains(Debts::MSG), "the channel to end its message, or its stop"),
        (live(Debts(0)), "the host to fetch its report"),
    ] {
        let blocker = Blocker::Transfer { tag: TAG, peer: Some(nid()), link, word, until: None };
        let told = text(&blocker);
        assert!(told.starts_with("transfer 0/26 with 7@soft0 on link 2, "), "{told}");
        assert!(told.ends_with(&std::format!(", needs {needed}")), "{told}");
    }
    let word = live(Debts::PEER);
    for until in [None, Some(Instant::NEVER), Some(at(1_500))] {
        let told = text(&Blocker::Transfer { tag: TAG, peer: None, link: None, word, until });
        let bounded = until == Some(at(1_500));
        assert_eq!(told.ends_with("answer, until 1.500 ms at the latest"), bounded, "{told}");
        assert!(told.starts_with("transfer 0/26, "), "{told}");
    }
    let unreported = text(&Blocker::Unreported { tag: TAG });
    assert_eq!(unreported, "transfer 0/26 needs the host to fetch its report");
    let stopping = Blocker::Link { link: link.unwrap(), state: LinkState::Stopping };
    assert_eq!(text(&stopping), "link 2 is Stopping and needs the proof of its stop");
}

#[test]
fn every_name_of_a_table_is_there_once() {
    let units = [
        Unit::Transfers,
        Unit::Messages,
        Unit::Descriptors,
        Unit::Peers,
        Unit::Links,
        Unit::Events,
        Unit::Bytes,
        Unit::Nanoseconds,
    ];
    let origins = [BoundOrigin::Default, BoundOrigin::Given, BoundOrigin::Derived];
    let kinds = [MetricKind::Counter, MetricKind::Gauge];
    let mut names: Vec<&str> = units.map(Unit::name).to_vec();
    names.extend(origins.map(BoundOrigin::name));
    names.extend(kinds.map(MetricKind::name));
    names.extend(Gauge::ALL.map(Gauge::name));
    names.extend(Family::ALL.map(Family::name));
    names.extend(Point::ALL.map(Point::name));
    names.extend(SizeClass::ALL.map(SizeClass::name));
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    for family in Family::ALL {
        let sentence = family.help().ends_with('.') && family.help().len() > 8;
        assert!(sentence, "{}", family.name());
        assert!(family.labels().iter().all(|label| !label.is_empty()));
        assert_eq!(
            family.unit() == Unit::Nanoseconds,
            family.name() != "late_good"
                && matches!(family, Family::Wait | Family::Transfer | Family::Late)
        );
    }
}

#[test]
fn an_interrupt_notes_only_what_it_has_settled() {
    let stamps = [Stamps::new()];
    let mut interrupt = crate::observe::IrqObserver::new(&stamps);
    let both = Debts(Debts::HW.0 | Debts::MSG.0);
    let before = step(Word::live(26, both), Event::PayCpu).word;
    let word = |event| step(before, event).word;
    // Nothing of these is its own: another kind of event, a slot that is not observed, and a
    // message whose link was proven stopped, which has not left.
    interrupt.record(at(1), Trace::Stale { tag: TAG });
    let far = Tag { index: 1, ..TAG };
    let effect = Effect::None;
    let (event, after) = (Event::HwOk, word(Event::HwOk));
    interrupt.record(at(1), Trace::Step { tag: far, event, before, after, effect });
    let event = Event::Stopped;
    let after = word(event);
    interrupt.record(at(2), Trace::Step { tag: TAG, event, before, after, effect });
    let settled = stamps[0].settled(TAG, Instant::ORIGIN, before);
    assert!(settled.iter().flatten().all(|(_, debt)| *debt == Debts::HW), "{settled:?}");
    let event = Event::MsgOk;
    let after = word(event);
    interrupt.record(at(3), Trace::Step { tag: TAG, event, before, after, effect });
    let settled = stamps[0].settled(TAG, Instant::ORIGIN, before);
    assert!(settled.contains(&Some((at(3), Debts::MSG))), "{settled:?}");
}
