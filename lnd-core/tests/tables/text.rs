// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables as text for people.

use std::fmt::{Debug, Write};

use lnd_core::link::{link_step, LinkEffect, LinkEvent, LinkState};
use lnd_core::peer::{hello_step, HelloEffect, HelloEvent, HelloState};
use lnd_core::transfer::{
    Cause, Debts, Delivery, Effect, Event, Phase, Place, Policy, Status, Word,
};

use super::roles::{classes, ANY};
use super::words::{name, Class, Stepper, PLAIN};

/// First line of every text file.
pub const LICENCE: &str = "# SPDX-License-Identifier: MIT OR GPL-2.0-only\n";

const LEGEND: &str = "\
# What may happen to a transfer: rows are classes of words, columns are events.
#
# A row shows the debts that are open: C a thread (CPU), H the engine (HW), M the short message
# (MSG), P the peer (PEER). `Qu.` is Queued. Flags: a cancellation asked, p all bytes proven to have
# been moved, l lost. Cause, place and generation do not decide any cell.
#
# A cell shows the class after the event; OK and LOST are Done, with the finalize token. Then the
# effect: ! ask the engine for the descriptor, > start the pull, ^ take it out of its queue.
# Nothing changes at: . late (counted), = second cancellation, x not the caller's to do (counted),
# ~ too late to hand anything out. Wdr is Withdraw.
";

/// The columns: for the two events that carry debts, the sets that tell most.
fn columns() -> Vec<(String, Event)> {
    let all = Debts::HW.union(Debts::MSG).union(Debts::PEER);
    let unsent = Debts::MSG.union(Debts::PEER);
    let mut columns = vec![
        ("Arm(M)".to_owned(), Event::Arm(Debts::MSG)),
        ("Wdr(HMP)".to_owned(), Event::Withdraw(all, ANY)),
        ("Wdr(MP)".to_owned(), Event::Withdraw(unsent, ANY)),
        ("Cancel".to_owned(), Event::Cancel(ANY)),
    ];
    columns.extend(PLAIN.map(|event| (name(event), event)));
    columns
}

/// What one event does to one class, in one cell.
fn cell(step: &Stepper, word: Word, event: Event) -> String {
    let next = step(word, event);
    match next.effect {
        Effect::Late => ".".to_owned(),
        Effect::Repeat => "=".to_owned(),
        Effect::Misuse => "x".to_owned(),
        Effect::TooLate => "~".to_owned(),
        Effect::None | Effect::Finalize => Class::of(next.word).to_string(),
        Effect::Invalidate => format!("{} !", Class::of(next.word)),
        Effect::StartPull => format!("{} >", Class::of(next.word)),
        Effect::Unqueue => format!("{} ^", Class::of(next.word)),
    }
}

/// The transfer's table.
pub fn transfer(step: &Stepper) -> String {
    let columns = columns();
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(columns.iter().map(|(title, _)| title.clone()));
    for (class, word) in classes(step) {
        if class.phase == Phase::Done {
            continue;
        }
        let mut row = vec![class.to_string()];
        row.extend(columns.iter().map(|(_, event)| cell(step, word, *event)));
        rows.push(row);
    }
    format!("{LICENCE}{LEGEND}\n{}", grid(&rows))
}

/// The handshake's table.
pub fn hello() -> String {
    let cell = |event, state| match hello_step(state, event) {
        (_, HelloEffect::Ignored) => ".".to_owned(),
        (next, HelloEffect::None) => format!("{next:?}"),
        (next, effect) => format!("{next:?} / {effect:?}"),
    };
    let title = "The handshake with a peer";
    machine(title, &HelloEvent::ALL, &HelloState::ALL, cell)
}

/// The link's table.
pub fn link() -> String {
    let cell = |event, state| match link_step(state, event) {
        (_, LinkEffect::Ignored) => ".".to_owned(),
        (next, LinkEffect::None) => format!("{next:?}"),
        (next, effect) => format!("{next:?} / {effect:?}"),
    };
    machine("A link's failure and recovery", &LinkEvent::ALL, &LinkState::ALL, cell)
}

/// The table of a small machine.
fn machine<E: Copy + Debug, S: Copy + Debug>(
    title: &str,
    events: &[E],
    states: &[S],
    cell: impl Fn(E, S) -> String,
) -> String {
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(states.iter().map(|state| format!("{state:?}")));
    for &event in events {
        let mut row = vec![format!("{event:?}")];
        row.extend(states.iter().map(|&state| cell(event, state)));
        rows.push(row);
    }
    let legend = "# Rows are events, columns are states. A cell shows the next state and the \
                  effect;\n# . is ignored and counted.";
    format!("{LICENCE}# {title}.\n#\n{legend}\n\n{}", grid(&rows))
}

/// What every loss means, under both policies.
pub fn status() -> String {
    let head = ["cause", "place", "delivered", "seed", "", "", "o2ib-compat", "", ""];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for cause in Cause::ALL {
        for place in Place::ALL {
            let mut row = vec![format!("{cause:?}"), format!("{place:?}")];
            let seed = Status::of(Policy::Seed, cause, place);
            row.push(known(seed.delivery).to_owned());
            for policy in [Policy::Seed, Policy::O2ibCompat] {
                let status = Status::of(policy, cause, place);
                assert_eq!(status.delivery, seed.delivery, "knowledge is not a matter of policy");
                row.push(format!("{} {}", status.errno, errno(status.errno)));
                row.push(format!("{:?}", status.health));
                row.push(if status.resend { "resend" } else { "-" }.to_owned());
            }
            rows.push(row);
        }
    }
    let text =
        "# What the loss of a transfer means: by first cause and furthest place, under both \
                policies:\n# errno, health class, and whether it may be sent again.\n\n";
    format!("{LICENCE}{text}{}", grid(&rows))
}

const fn known(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::Delivered => "yes",
        Delivery::NotDelivered => "no",
        Delivery::Unknown => "unknown",
        Delivery::Sent => "sent",
    }
}

/// Linux's name for an errno.
fn errno(number: i32) -> &'static str {
    match -number {
        5 => "EIO",
        14 => "EFAULT",
        71 => "EPROTO",
        100 => "ENETDOWN",
        103 => "ECONNABORTED",
        104 => "ECONNRESET",
        108 => "ESHUTDOWN",
        110 => "ETIMEDOUT",
        111 => "ECONNREFUSED",
        112 => "EHOSTDOWN",
        116 => "ESTALE",
        121 => "EREMOTEIO",
        125 => "ECANCELED",
        other => panic!("errno {other} has no name here"),
    }
}

/// Columns of equal width, two blanks apart.
fn grid(rows: &[Vec<String>]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (entry, width) in row.iter().zip(&widths) {
            write!(line, "{entry:width$}  ").expect("writing to a string");
        }
        text.push_str(line.trim_end());
        text.push('\n');
        if number == 0 {
            let rule: usize = widths.iter().map(|width| width + 2).sum();
            text.push_str(&"-".repeat(rule - 2));
            text.push('\n');
        }
    }
    text
}
