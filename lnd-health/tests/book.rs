// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables of `docs/health.md` are printed from the code, and compared with what stands there.
//! `UPDATE=1 cargo test -p lnd-health --test book` writes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fmt::Write;

use common::CLASSES;
use lnd_core::driver::Why;
use lnd_core::fragment::FragmentError;
use lnd_core::transfer::{Cause, Delivery, Place};
use lnd_health::attempts::UNTIL_DEADLINE;
use lnd_health::{classify, refusal, Change, Charge, HealthConfig, Profile, Resend, Situation};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/health.md");

fn change(change: Change) -> &'static str {
    match change {
        Change::Keep => "",
        Change::Decrement => "−",
        Change::DecrementStayUp => "− (never down)",
        Change::Increment => "+",
        Change::Full => "full",
    }
}

fn resend(resend: Resend) -> &'static str {
    match resend {
        Resend::No => "",
        Resend::OtherLocal => "other local",
        Resend::OtherRemote => "other remote",
        Resend::NewPath => "new path",
        Resend::Untried => "untried",
        Resend::Anew => "as selected",
    }
}

/// S4-5 to S4-18, R43: each class in both profiles, with several rails at both ends.
fn effects() -> String {
    let mut out = String::from(
        "| class | seed: local | remote | resend | if it may have arrived | lnet: local | remote | \
         resend |\n|---|---|---|---|---|---|---|---|\n",
    );
    for class in CLASSES {
        let seed = classify(Profile::Seed, class, &Situation::PLAIN);
        let lnet = classify(Profile::LnetCompat, class, &Situation::PLAIN);
        let unknown = Situation { delivery: Delivery::Unknown, ..Situation::PLAIN };
        let suppressed = Situation { suppressed: true, ..unknown };
        assert_eq!(classify(Profile::Seed, class, &unknown).resend, Resend::No);
        let careful = match classify(Profile::Seed, class, &suppressed).resend {
            Resend::No => "",
            _ => "only with suppression",
        };
        let _ = writeln!(
            out,
            "| {class:?} | {} | {} | {} | {careful} | {} | {} | {} |",
            change(seed.local),
            change(seed.remote),
            resend(seed.resend),
            change(lnet.local),
            change(lnet.remote),
            resend(lnet.resend),
        );
    }
    out
}

const fn charge(charge: Charge) -> &'static str {
    match charge {
        Charge::None => "none",
        Charge::OurNi => "ours",
        Charge::PeerNi => "the peer's",
        Charge::Path => "both",
    }
}

/// Whom a loss costs, by why and where.
fn charges() -> String {
    let mut out = String::from("| cause |");
    Place::ALL.iter().for_each(|place| _ = write!(out, " {place:?} |"));
    out.push_str("\n|---|---|---|---|---|---|\n");
    for cause in Cause::ALL {
        let _ = write!(out, "| {cause:?} |");
        for place in Place::ALL {
            let _ = write!(out, " {} |", charge(Charge::of(cause, place)));
        }
        out.push('\n');
    }
    out
}

/// The same for refusals at the call.
fn refusals() -> String {
    let mut out = String::from("| refusal | costs | tried again |\n|---|---|---|\n");
    for why in [
        Why::PeerDown,
        Why::NoSlots,
        Why::NoLists,
        Why::PeersFull,
        Why::NoRoute,
        Why::DeadlinePassed,
        Why::StalePeer,
        Why::BadLink,
        Why::Fragments(FragmentError::TooMany),
        Why::BadAddress,
        Why::HeaderTooLong,
        Why::TooLong,
        Why::WrongKind,
        Why::ShuttingDown,
    ] {
        let name = format!("{why:?}");
        let name = name.split('(').next().unwrap_or_default();
        let it = refusal(why);
        let again = if it.again { "yes" } else { "no" };
        let _ = writeln!(out, "| {name} | {} | {again} |", charge(it.charge));
    }
    out
}

/// R50: the gaps between recovery pings.
fn schedule() -> String {
    let backoff = HealthConfig::new(1, 1, 1).recovery;
    let mut out = String::from("| pings without an answer | next one after |\n|---|---|\n");
    for count in 0..=10 {
        let seconds = backoff.delay(count).as_nanos() / 1_000_000_000;
        let name = if count == 10 { String::from("10 and more") } else { count.to_string() };
        let _ = writeln!(out, "| {name} | {seconds} s |");
    }
    out
}

/// The knobs' defaults.
fn knobs() -> String {
    let c = HealthConfig::new(1, 1, 1);
    let seconds = |s: lnd_core::time::Span| s.as_nanos() as f64 / 1e9;
    let rows = [
        (
            "`sensitivity`",
            "health that one failure costs, and one success gives",
            c.sensitivity.to_string(),
        ),
        (
            "`retries`",
            "an operator's limit of resends; `lnet-compat`: 2",
            if c.retries == UNTIL_DEADLINE { "none".into() } else { c.retries.to_string() },
        ),
        (
            "`resend`",
            "pauses of a message whose paths have all been tried",
            format!("{} s, doubled up to {} s", seconds(c.resend.first), seconds(c.resend.cap)),
        ),
        (
            "`pressure`",
            "the same for one that found no room",
            format!("{} s, doubled up to {} s", seconds(c.pressure.first), seconds(c.pressure.cap)),
        ),
        (
            "`thresholds`",
            "health at which an interface goes down, and up",
            format!("{}, {}", c.thresholds.down, c.thresholds.up),
        ),
        ("`recovery.cap`", "longest gap between pings", format!("{} s", seconds(c.recovery.cap))),
        (
            "`recovery_limit`",
            "given up when pinged in vain for so long; 0 is never",
            format!("{} s", seconds(c.recovery_limit)),
        ),
        ("`probe.idle`", "idle time before a probe", format!("{} s", seconds(c.probe.idle))),
        ("`probe.again`", "between probes of a suspect", format!("{} s", seconds(c.probe.again))),
        (
            "`probe.results`",
            "findings of *dead* in a row for \"down\"",
            c.probe.results.to_string(),
        ),
        (
            "`probe.hold_off`",
            "least time from the first of them",
            format!("{} s", seconds(c.probe.hold_off)),
        ),
        (
            "`reconnect.negative`",
            "\"no listener\" counts for",
            format!("{} s", seconds(c.reconnect.negative)),
        ),
        (
            "`reconnect.at_once`",
            "attempts under way, over all peers",
            c.reconnect.at_once.to_string(),
        ),
        (
            "`reconnect.bound`",
            "an attempt without an end has failed after",
            format!("{} s", seconds(c.reconnect.bound)),
        ),
        (
            "`action_every`, `action_burst`",
            "budget over pings, probes, attempts",
            format!(
                "1 in {} ms, {} at once",
                c.action_every.as_nanos() / 1_000_000,
                c.action_burst
            ),
        ),
    ];
    let mut out = String::from("| knob | what | default |\n|---|---|---|\n");
    for (name, what, value) in rows {
        let _ = writeln!(out, "| {name} | {what} | {value} |");
    }
    out
}

#[test]
fn the_page_says_what_the_code_does() {
    let mut page = std::fs::read_to_string(PAGE).unwrap();
    let before = page.clone();
    for (name, table) in [
        ("effects", effects()),
        ("charges", charges()),
        ("refusals", refusals()),
        ("schedule", schedule()),
        ("knobs", knobs()),
    ] {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let from = page.find(&open).expect(&open) + open.len();
        let to = page.find(&close).expect(&close);
        page.replace_range(from..to, &table);
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    } else {
        assert!(page == before, "docs/health.md is not what the code prints");
    }
}
