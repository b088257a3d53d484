// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What transfers are for: what each owes at first, and what honest parties can do to it.

use std::collections::{BTreeMap, VecDeque};

use lnd_core::transfer::{Cause, Debts, Event, Word};

use super::words::{Class, Stepper, GENERATION};

const HM: Debts = Debts::HW.union(Debts::MSG);
const MP: Debts = Debts::MSG.union(Debts::PEER);
const HMP: Debts = HM.union(Debts::PEER);

/// The cause that stands for all: no cell depends on it.
pub const ANY: Cause = Cause::PeerDown;

/// A role of a transfer.
pub struct Role {
    /// Name of its diagram's file.
    pub file: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What is owed once it is handed out.
    pub debts: Debts,
    /// What its thread may take back.
    pub withdraws: &'static [Debts],
    /// The answers that the peer may give.
    pub answers: &'static [Event],
}

/// Every role (design §6 and §7).
pub const ROLES: [Role; 7] = [
    Role {
        file: "immediate",
        title: "Immediate or refusal: one short message",
        debts: Debts::MSG,
        withdraws: &[Debts::MSG],
        answers: &[],
    },
    Role {
        file: "put",
        title: "PUT, sender's side: staged, announced, pulled by the peer",
        debts: HM,
        withdraws: &[HM, Debts::MSG],
        answers: &[Event::Refused],
    },
    Role {
        file: "put-by-message",
        title: "PUT, sender's side, where the engine does not tell the source of the end of a pull",
        debts: HMP,
        withdraws: &[HMP, MP],
        answers: &[Event::Refused, Event::Done],
    },
    Role {
        file: "get-requester",
        title: "GET, requester's side: asks, is told where to pull, pulls",
        debts: MP,
        withdraws: &[MP, Debts::HW],
        answers: &[Event::Refused, Event::Accepted],
    },
    Role {
        file: "get-target",
        title: "GET, target's side: staged, announced, pulled by the requester",
        debts: HM,
        withdraws: &[HM, Debts::MSG],
        answers: &[],
    },
    Role {
        file: "rx-pull",
        title: "RX: a peer's PUT, which we pull",
        debts: Debts::HW,
        withdraws: &[Debts::HW],
        answers: &[],
    },
    Role {
        file: "inline",
        title: "RX: a peer's inline message, copied by the thread that holds it",
        debts: Debts::empty(),
        withdraws: &[],
        answers: &[],
    },
];

impl Role {
    /// What the world can do to it.
    pub fn world(&self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.debts.contains(Debts::HW) || self.answers.contains(&Event::Accepted) {
            events.extend([Event::HwOk, Event::HwUntouched, Event::HwTouched]);
        }
        if self.debts.contains(Debts::MSG) {
            events.extend([Event::MsgOk, Event::MsgNotDelivered, Event::MsgUnknown]);
        }
        events.extend([Event::Stopped, Event::Cancel(ANY)]);
        events.extend(self.answers);
        events
    }

    /// Every event that makes sense for this role.
    pub fn events(&self) -> Vec<Event> {
        let mut events = vec![Event::Arm(self.debts), Event::PayCpu];
        events.extend(self.withdraws.iter().map(|&debts| Event::Withdraw(debts, ANY)));
        events.extend(self.world());
        events
    }

    /// Where it begins: in a queue, or handed out at once.
    pub fn beginnings(&self) -> [Word; 2] {
        [Word::queued(GENERATION), Word::live(GENERATION, self.debts)]
    }
}

/// A word for each class that any role reaches, in the order of a table's rows.
pub fn classes(step: &Stepper) -> Vec<(Class, Word)> {
    let mut found = BTreeMap::new();
    for role in &ROLES {
        let mut todo: VecDeque<Word> = role.beginnings().into();
        while let Some(word) = todo.pop_front() {
            let class = Class::of(word);
            if found.insert(class.rank(), (class, word)).is_none() {
                todo.extend(role.events().into_iter().map(|event| step(word, event).word));
            }
        }
    }
    found.into_values().collect()
}
