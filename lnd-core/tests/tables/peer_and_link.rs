// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What must hold of the handshake and of the link, each checker shown to bite.

use std::collections::BTreeSet;

use lnd_core::link::{link_step, LinkEffect, LinkEvent, LinkState};
use lnd_core::peer::{hello_step, HelloEffect, HelloEvent, HelloState};

type Hello = fn(HelloState, HelloEvent) -> (HelloState, HelloEffect);
type Link = fn(LinkState, LinkEvent) -> (LinkState, LinkEffect);

/// The rules that a handshake breaks.
fn check_hello(step: Hello) -> BTreeSet<&'static str> {
    use HelloEffect as F;
    use HelloEvent as E;
    use HelloState as S;
    let mut broken = BTreeSet::new();
    for state in S::ALL {
        for event in E::ALL {
            let (next, effect) = step(state, event);
            let mut rule = |holds: bool, rule| {
                if !holds {
                    broken.insert(rule);
                }
            };
            let becomes = |s| next == s && state != s;
            let started = matches!(effect, F::StartHandshake | F::SweepAndHandshake);
            let sweeps = matches!(effect, F::Sweep | F::SweepAndHandshake);
            let unannounced = matches!(
                event,
                E::HelloSameIncarnation | E::HelloNewIncarnation | E::Claimed | E::Up
            );
            rule(effect != F::Ignored || next == state, "ignored changes nothing");
            rule(!becomes(S::Good) || event == E::Answered, "only our answered hello makes good");
            rule(becomes(S::Good) == (effect == F::Flush), "what waits goes out when good");
            rule(!becomes(S::Down) || sweeps, "a peer that goes down is swept");
            rule(!becomes(S::Handshake) || started, "a handshake means that a hello is out");
            rule(!started || next == S::Handshake, "a hello that is out is waited for");
            rule(
                event != E::HelloNewIncarnation || effect == F::SweepAndHandshake,
                "a former incarnation is over",
            );
            rule(event != E::Claimed || started, "who claims to be the successor is asked");
            rule(
                state != S::Down || next == state || unannounced,
                "down until a message shows that it is up",
            );
            let starts_one = event != E::Wanted && event != E::HelloSameIncarnation;
            rule(state != S::Handshake || !started || starts_one, "one hello in flight (LU-16213)");
        }
    }
    for state in S::ALL {
        let by = |state, event| step(state, event).0;
        let up = by(by(state, E::Up), E::Wanted);
        if by(up, E::Answered) != S::Good {
            broken.insert("every state finds its way to good");
        }
    }
    broken
}

/// The rules that a link breaks.
fn check_link(step: Link) -> BTreeSet<&'static str> {
    use LinkEffect as F;
    use LinkEvent as E;
    use LinkState as S;
    let mut broken = BTreeSet::new();
    for state in S::ALL {
        for event in E::ALL {
            let (next, effect) = step(state, event);
            let mut rule = |holds: bool, rule| {
                if !holds {
                    broken.insert(rule);
                }
            };
            let moves = next != state;
            rule(moves == (effect != F::Ignored && effect != F::None), "effect with each move");
            rule(
                effect != F::Reclaim || event == E::Quiesced,
                "reclaimed with the proof only (INV-3)",
            );
            rule(
                state != S::Failed || !moves || event == E::Quiesced,
                "a failed link waits for the proof (S0-10, INV-3)",
            );
            rule(
                event != E::Gone || !moves || next != S::Reclaiming,
                "a device that is gone proves nothing",
            );
            rule(
                effect != F::ResetEngine || state == S::Reclaiming,
                "reset when all are reclaimed",
            );
            rule(
                effect != F::StopEngine || (state == S::Stalled && event == E::PostersOut),
                "stopped when no poster is inside",
            );
            rule(
                effect != F::OpenGate || (state, next) == (S::Down, S::Up),
                "opened after a reset",
            );
            rule(moves == (effect == F::CloseGate) || state != S::Up, "closed first of all");
        }
    }
    let round = [E::Failed, E::PostersOut, E::Quiesced, E::Reclaimed, E::Restored];
    let passed: Vec<S> = round
        .iter()
        .scan(S::Up, |state, &event| {
            *state = step(*state, event).0;
            Some(*state)
        })
        .collect();
    if passed != [S::Stalled, S::Stopping, S::Reclaiming, S::Down, S::Up] {
        broken.insert("a failed link comes back by way of every state");
    }
    broken
}

#[test]
fn the_handshake_keeps_its_rules() {
    assert_eq!(check_hello(hello_step), BTreeSet::new());
}

/// R3: links have such a table too.
#[test]
fn the_link_keeps_its_rules() {
    assert_eq!(check_link(link_step), BTreeSet::new());
}

#[test]
fn the_handshake_s_checker_bites() {
    use HelloEffect as F;
    use HelloEvent as E;
    use HelloState as S;
    let defects: [(&str, Hello); 6] = [
        ("only our answered hello makes good", |state, event| match (state, event) {
            // R27: to get HELLO is not to be answered.
            (S::Handshake, E::HelloSameIncarnation) => (S::Good, F::Flush),
            _ => hello_step(state, event),
        }),
        ("one hello in flight (LU-16213)", |state, event| match (state, event) {
            (S::Handshake, E::Wanted) => (S::Handshake, F::StartHandshake),
            _ => hello_step(state, event),
        }),
        ("a peer that goes down is swept", |state, event| match (state, event) {
            // LU-16450: messages wait for a handshake that has already failed.
            (S::Handshake, E::Exhausted) => (S::Down, F::None),
            _ => hello_step(state, event),
        }),
        ("a former incarnation is over", |state, event| match (state, event) {
            (S::Good, E::HelloNewIncarnation) => (S::Handshake, F::StartHandshake),
            _ => hello_step(state, event),
        }),
        ("who claims to be the successor is asked", |state, event| match (state, event) {
            (S::Good, E::Claimed) => (S::Good, F::None),
            _ => hello_step(state, event),
        }),
        ("every state finds its way to good", |state, event| match (state, event) {
            (S::Down, E::Up) => (S::Down, F::Ignored),
            _ => hello_step(state, event),
        }),
    ];
    for (rule, defect) in defects {
        assert!(check_hello(defect).contains(rule), "{rule}");
    }
}

#[test]
fn the_link_s_checker_bites() {
    use LinkEffect as F;
    use LinkEvent as E;
    use LinkState as S;
    let defects: [(&str, Link); 6] = [
        ("reclaimed with the proof only (INV-3)", |state, event| match (state, event) {
            // Reclaims while the link is stalled but its engine not yet stopped.
            (S::Stalled, E::PostersOut) => (S::Reclaiming, F::Reclaim),
            _ => link_step(state, event),
        }),
        ("a failed link waits for the proof (S0-10, INV-3)", |state, event| match (state, event) {
            (S::Failed, E::Restored) => (S::Up, F::OpenGate),
            _ => link_step(state, event),
        }),
        ("a device that is gone proves nothing", |state, event| match (state, event) {
            (S::Stopping, E::Gone) => (S::Reclaiming, F::Reclaim),
            _ => link_step(state, event),
        }),
        ("stopped when no poster is inside", |state, event| match (state, event) {
            (S::Up, E::Failed) => (S::Stopping, F::StopEngine),
            _ => link_step(state, event),
        }),
        ("opened after a reset", |state, event| match (state, event) {
            (S::Stalled, E::Restored) => (S::Up, F::OpenGate),
            _ => link_step(state, event),
        }),
        ("a failed link comes back by way of every state", |state, event| match (state, event) {
            (S::Stopping, E::Quiesced) => (S::Stopping, F::Ignored),
            _ => link_step(state, event),
        }),
    ];
    for (rule, defect) in defects {
        assert!(check_link(defect).contains(rule), "{rule}");
    }
}
