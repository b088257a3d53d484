// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An event of a trace in words, for people who read what a node did.

use std::fmt::Debug;

use lnd_core::driver::Blocker;
use lnd_core::id::Tag;
use lnd_core::trace::Trace;
use lnd_core::transfer::{Debts, Delivery, Effect, Event, Status};

use crate::lnet;

/// Entries of a list that are told in full.
const FEW: usize = 8;

/// A transfer's name: slot and use of the slot.
pub fn tag_words(tag: Tag) -> String {
    format!("{}/{}", tag.index, tag.generation)
}

/// What kind of event it is, in one word.
pub const fn kind(trace: &Trace) -> &'static str {
    match trace {
        Trace::Accepted { .. } => "accepted",
        Trace::Step { .. } => "step",
        Trace::Stale { .. } => "stale",
        Trace::Posted { .. } => "posted",
        Trace::Invalidated { .. } => "invalidated",
        Trace::Reclaimed { .. } => "reclaimed",
        Trace::Sent { .. } => "sent",
        Trace::Received { .. } => "received",
        Trace::Ended { .. } => "ended",
        Trace::Peer { .. } => "peer",
        Trace::Link { .. } => "link",
        Trace::Connection { .. } => "connection",
        Trace::Finalized { .. } => "finalized",
    }
}

/// The event in words, without its time.
pub fn words(trace: &Trace) -> String {
    match trace {
        Trace::Accepted { tag, peer, length } => {
            format!("transfer {}: accepted, {length} bytes, with {peer}", tag_words(*tag))
        }
        Trace::Step { tag, event, before, after, effect } => {
            let (tag, event, then) = (tag_words(*tag), event_words(event), effect_words(*effect));
            format!("transfer {tag}: {event}: {before} -> {after}{then}")
        }
        Trace::Stale { tag } => {
            format!("transfer {}: over already, the event is about a former use", tag_words(*tag))
        }
        Trace::Posted { tag, link } => {
            format!("transfer {}: descriptor posted on link {}", tag_words(*tag), link.index())
        }
        Trace::Invalidated { tag, link } => {
            let tag = tag_words(*tag);
            format!("transfer {tag}: engine of link {} asked for the descriptor", link.index())
        }
        Trace::Reclaimed { tag, link, real } => {
            let end = if *real { "with its real end" } else { "without an end" };
            let tag = tag_words(*tag);
            format!("transfer {tag}: descriptor reclaimed from link {}, {end}", link.index())
        }
        Trace::Sent { to, link, lane, sequence } => {
            let lane = lower(lane);
            format!("message {sequence} of the {lane} lane sent to {to} by link {}", link.index())
        }
        Trace::Received { from, lane, sequence, taken } => {
            let end = if *taken { "" } else { ", and dropped" };
            format!("message {sequence} of the {} lane received from {from}{end}", lower(lane))
        }
        Trace::Ended { peer, sequence, length, status } => {
            let end = status_words(status);
            format!("message {sequence}, {length} bytes, with {peer}: ended, {end}")
        }
        Trace::Peer { peer, state } => format!("peer {peer}: {}", lower(state)),
        Trace::Link { link, state } => format!("link {}: {}", link.index(), lower(state)),
        Trace::Connection { connection, state } => format!(
            "connection {} with {} on link {}: {}",
            connection.number,
            connection.peer,
            connection.link.index(),
            lower(state)
        ),
        Trace::Finalized { tag, status } => {
            format!("transfer {}: reported, {}", tag_words(*tag), status_words(status))
        }
    }
}

fn lower(name: &impl Debug) -> String {
    format!("{name:?}").to_lowercase()
}

/// How a message or a transfer ended.
pub fn status_words(status: &Status) -> String {
    let delivery = match status.delivery {
        Delivery::Delivered => "delivered",
        Delivery::NotDelivered => "not delivered",
        Delivery::Unknown => "delivery unknown",
        Delivery::Sent => "sent",
    };
    match status.evidence {
        None => format!("OK, {delivery}"),
        Some((cause, place)) => format!(
            "errno {}, {:?}, {delivery}: {cause:?} while it was in {place:?}",
            status.errno, status.health
        ),
    }
}

/// What keeps a driver from its rest.
pub fn blocker_words(blocker: &Blocker) -> String {
    match blocker {
        Blocker::Transfer { tag, peer, link, word, .. } => {
            let peer = peer.map_or(String::new(), |peer| format!(" with {peer}"));
            let link = link.map_or(String::new(), |link| format!(" on link {}", link.index()));
            format!("transfer {}{peer}{link} is in {word}", tag_words(*tag))
        }
        Blocker::Unreported { tag } => {
            format!("transfer {} has ended and is not reported", tag_words(*tag))
        }
        Blocker::Link { link, state } => format!("link {} is {}", link.index(), lower(state)),
    }
}

/// What keeps an upper layer from its rest.
pub fn upper_words(blocker: &lnet::Blocker) -> String {
    let (what, peer) = match blocker {
        lnet::Blocker::Queued { id, kind, .. } => (format!("{kind:?} {id} waits in line"), "for"),
        lnet::Blocker::Sending { id, kind, .. } => (format!("{kind:?} {id} is being sent"), "to"),
        lnet::Blocker::Receiving { id, kind, .. } => {
            (format!("{kind:?} {id} is being received"), "from")
        }
        lnet::Blocker::Awaiting { .. } => ("an answer is awaited".into(), "from"),
    };
    format!("{what} {peer} {}", blocker.with())
}

/// The first of a list, and how many there are beyond them.
pub fn few(mut all: Vec<String>) -> String {
    let more = all.len().saturating_sub(FEW);
    all.truncate(FEW);
    if more > 0 {
        all.push(format!("and {more} more"));
    }
    all.join("; ")
}

fn debts_words(debts: Debts) -> String {
    let all = [(Debts::CPU, "CPU"), (Debts::HW, "HW"), (Debts::MSG, "MSG"), (Debts::PEER, "PEER")];
    let open = all.iter().filter(|(debt, _)| debts.contains(*debt)).map(|(_, name)| *name);
    open.collect::<Vec<_>>().join("+")
}

fn event_words(event: &Event) -> String {
    match event {
        Event::Arm(debts) => format!("thread posts {}", debts_words(*debts)),
        Event::Withdraw(debts, cause) => {
            format!("thread has not posted {} ({cause:?})", debts_words(*debts))
        }
        Event::PayCpu => "thread is done".into(),
        Event::HwOk => "descriptor came back OK".into(),
        Event::HwUntouched => "descriptor came back, no byte moved".into(),
        Event::HwTouched => "descriptor came back with an error".into(),
        Event::Stopped => "link is proven stopped".into(),
        Event::MsgOk => "message has left".into(),
        Event::MsgNotDelivered => "message was not delivered".into(),
        Event::MsgUnknown => "message failed, delivery unknown".into(),
        Event::Accepted => "peer has staged its side".into(),
        Event::Done => "peer has pulled everything".into(),
        Event::Refused => "peer refuses".into(),
        Event::Cancel(cause) => format!("cancelled ({cause:?})"),
    }
}

const fn effect_words(effect: Effect) -> &'static str {
    match effect {
        Effect::None => "",
        Effect::Finalize => "; all debts are paid",
        Effect::Invalidate => "; invalidate the descriptor",
        Effect::StartPull => "; start the pull",
        Effect::Unqueue => "; take it out of its queue",
        Effect::TooLate => "; too late, it was cancelled",
        Effect::Late => "; late, counted only",
        Effect::Repeat => "; a repeated cancellation",
        Effect::Misuse => "; misuse, counted only",
    }
}
