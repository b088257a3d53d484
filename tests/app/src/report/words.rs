// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What frames and events are about, in words.

use lnd_core::id::Tag;
use lnd_core::message::Message;
use lnd_core::transfer::{Debts, Event};

/// What a frame says of transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub immediate: bool,
    pub put_req: Option<Tag>,
    pub get_req: Option<Tag>,
    /// Cookies of the sender's own transfer, and of the receiver's.
    pub own: Option<Tag>,
    pub others: Option<Tag>,
}

/// An event in words, with the names of debts.
pub fn event_words(event: Event) -> String {
    let names = |debts: Debts| {
        let all =
            [(Debts::CPU, "CPU"), (Debts::HW, "HW"), (Debts::MSG, "MSG"), (Debts::PEER, "PEER")];
        let open = all.into_iter().filter(|(debt, _)| debts.0 & debt.0 != 0);
        open.map(|(_, name)| name).collect::<Vec<_>>().join("·")
    };
    match event {
        Event::Arm(debts) => format!("Arm({})", names(debts)),
        Event::Withdraw(debts, cause) => format!("Withdraw({}, {cause:?})", names(debts)),
        other => format!("{other:?}"),
    }
}

/// The name of a message, and which transfers it names.
pub fn said(message: &Message<'_>) -> (&'static str, About) {
    let none = About::default();
    match *message {
        Message::Hello(_) => ("HELLO", none),
        Message::HelloAck(_) => ("HELLO_ACK", none),
        Message::Noop => ("NOOP", none),
        Message::Close => ("CLOSE", none),
        Message::Immediate { .. } => ("IMMEDIATE", About { immediate: true, ..none }),
        Message::PutReq { source, .. } => {
            ("PUT_REQ", About { put_req: Some(source), own: Some(source), ..none })
        }
        Message::GetReq { sink, .. } => {
            ("GET_REQ", About { get_req: Some(sink), own: Some(sink), ..none })
        }
        Message::PutNak { source, .. } => ("PUT_NAK", About { others: Some(source), ..none }),
        Message::PutDone { source, .. } => ("PUT_DONE", About { others: Some(source), ..none }),
        Message::GetNak { sink, .. } => ("GET_NAK", About { others: Some(sink), ..none }),
        Message::CancelPut { source, .. } => ("CANCEL_PUT", About { own: Some(source), ..none }),
        Message::CancelGet { source, sink } => {
            ("CANCEL_GET", About { own: Some(source), others: Some(sink), ..none })
        }
        Message::GetDone { sink, .. } => ("GET_DONE", About { others: Some(sink), ..none }),
        Message::CancelPush { sink, .. } => ("CANCEL_PUSH", About { own: Some(sink), ..none }),
        Message::PullReady(it) => {
            ("PULL_READY", About { own: Some(it.source), others: Some(it.sink), ..none })
        }
    }
}
