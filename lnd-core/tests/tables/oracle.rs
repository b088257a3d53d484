// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What should happen to a transfer, told naively.
//!
//! The oracle writes down *facts* (the descriptor came back untouched; the message failed; no side
//! waits for the peer any more) and judges only at the end, from all of them at once. So its
//! result cannot depend on the order of events, and a `step` whose result does is found out.

use lnd_core::transfer::{Cause, Debts, Effect, Event, Place};

/// One transfer as a bookkeeper sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Oracle {
    /// Nothing has been handed out yet.
    pub queued: bool,
    /// The finalize token has been given away.
    pub done: bool,
    /// Open debts.
    pub cpu: bool,
    pub hw: bool,
    pub msg: bool,
    pub peer: bool,
    /// Debts that were ever open: each is handed out once.
    pub ever: Bits,
    /// A sweep or a deadline wants the transfer back.
    pub was_invalidated: bool,
    /// The engine has been asked for the descriptor.
    pub invalidated: bool,
    /// Fact: all bytes were moved; the engine or the peer has said so.
    pub moved: bool,
    /// Fact: something was taken back before it was handed out.
    pub withdrawn: bool,
    /// Fact: so was the descriptor.
    pub unposted: bool,
    /// Fact: the message failed, and how.
    pub message: Option<Place>,
    /// Fact: the descriptor failed, and how.
    pub descriptor: Option<Place>,
    /// Fact: the peer's answer was given up or was a refusal.
    pub unanswered: bool,
    /// Who was blamed first.
    pub blame: Option<Cause>,
}

/// A set of debts that can be hashed and defaulted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits(pub u8);

impl Oracle {
    /// A published transfer; `None` if it is only queued.
    pub fn published(debts: Option<Debts>) -> Self {
        let mut oracle = Self { queued: true, cpu: true, ..Self::default() };
        if let Some(debts) = debts {
            oracle.post(debts);
        }
        oracle
    }

    /// The open debts.
    pub fn debts(&self) -> Debts {
        let mut debts = Debts::empty();
        debts.set(Debts::CPU, self.cpu);
        debts.set(Debts::HW, self.hw);
        debts.set(Debts::MSG, self.msg);
        debts.set(Debts::PEER, self.peer);
        debts
    }

    /// Whether a caller who keeps the contract may raise this event now. What the world does
    /// (engine, channel, peer, clock) is never restricted.
    pub fn allows(&self, event: Event) -> bool {
        let posted = Debts::HW.union(Debts::MSG).union(Debts::PEER);
        match event {
            // Something, and each debt once in a life.
            Event::Arm(debts) => {
                !debts.is_empty() && posted.contains(debts) && !Debts(self.ever.0).intersects(debts)
            }
            // Something that is open, or the whole transfer while it waits.
            Event::Withdraw(debts, _) => {
                let open = self.debts().intersection(posted);
                if self.queued {
                    debts.is_empty()
                } else {
                    !debts.is_empty() && open.contains(debts)
                }
            }
            _ => true,
        }
    }

    /// Whether something has gone wrong, were the transfer to end now (INV-4).
    pub fn failed(&self) -> bool {
        let wrong = self.withdrawn
            || self.unanswered
            || self.message.is_some()
            || self.descriptor.is_some();
        wrong && !self.moved
    }

    /// How far it had come: what the descriptor says, for it knows best (S0-17); if it has nothing
    /// to say, the furthest of the rest.
    pub fn place(&self) -> Option<Place> {
        let queue = self.withdrawn.then_some(Place::Queue);
        let answer = self.unanswered.then_some(Place::Answer);
        self.descriptor.or([queue, self.message, answer].into_iter().flatten().max())
    }

    /// Writes down what happened; says what has to be done.
    pub fn note(&mut self, event: Event) -> Effect {
        if self.done {
            return Effect::Late;
        }
        match event {
            Event::Arm(_) | Event::Withdraw(..) | Event::PayCpu if !self.cpu => Effect::Misuse,
            Event::Arm(debts) => self.arm(debts),
            Event::Withdraw(debts, cause) => self.withdraw(debts, cause),
            Event::PayCpu => self.pay_cpu(),
            Event::Cancel(cause) => self.cancel(cause),
            _ if self.queued => Effect::Late,
            Event::HwOk => self.descriptor_back(None),
            Event::HwUntouched => self.descriptor_back(Some(Place::Staged)),
            Event::HwTouched => self.descriptor_back(Some(Place::Moving)),
            Event::MsgOk => self.message_back(None),
            Event::MsgNotDelivered => self.message_back(Some(Place::Message)),
            Event::MsgUnknown => self.message_back(Some(Place::Answer)),
            Event::Accepted => self.accepted(),
            Event::Done => self.asserted(),
            Event::Refused => self.refused(),
            Event::Stopped => self.stopped(),
        }
    }

    /// Whether it ever had a descriptor (R31: who had none was not pulled from).
    pub fn had_descriptor(&self) -> bool {
        Debts(self.ever.0).contains(Debts::HW)
    }

    fn post(&mut self, debts: Debts) {
        self.queued = false;
        self.hw |= debts.contains(Debts::HW);
        self.msg |= debts.contains(Debts::MSG);
        self.peer |= debts.contains(Debts::PEER);
        self.ever.0 |= debts.0;
    }

    fn arm(&mut self, debts: Debts) -> Effect {
        if self.was_invalidated || self.failed() {
            return Effect::TooLate;
        }
        self.post(debts);
        Effect::None
    }

    fn withdraw(&mut self, debts: Debts, cause: Cause) -> Effect {
        self.unposted |= debts.contains(Debts::HW);
        self.hw &= !debts.contains(Debts::HW);
        self.msg &= !debts.contains(Debts::MSG);
        // What was not sent is not answered.
        self.peer = false;
        self.withdrawn = true;
        self.blame.get_or_insert(cause);
        self.was_invalidated = true;
        Effect::None
    }

    fn pay_cpu(&mut self) -> Effect {
        self.cpu = false;
        self.ask_or_finish()
    }

    fn cancel(&mut self, cause: Cause) -> Effect {
        if self.was_invalidated {
            return Effect::Repeat;
        }
        self.blame.get_or_insert(cause);
        if self.queued {
            self.was_invalidated = true;
            self.withdrawn = true;
            return Effect::Unqueue;
        }
        self.give_up_on_peer();
        self.mark_invalidate()
    }

    fn descriptor_back(&mut self, failure: Option<Place>) -> Effect {
        if !self.hw {
            return Effect::Late;
        }
        self.hw = false;
        match failure {
            None => self.moved = true,
            Some(place) => {
                self.descriptor = Some(place);
                if !self.moved {
                    self.blame.get_or_insert(Cause::Device);
                    // Its source is gone, so the peer's answer could only be a failure.
                    self.peer = false;
                }
            }
        }
        self.ask_or_finish()
    }

    fn message_back(&mut self, failure: Option<Place>) -> Effect {
        if !self.msg {
            return Effect::Late;
        }
        self.msg = false;
        if failure.is_none() {
            return self.ask_or_finish();
        }
        self.message = failure;
        self.blame.get_or_insert(Cause::Channel);
        // What was not received is not answered.
        self.peer = false;
        if self.hw {
            self.mark_invalidate()
        } else {
            self.ask_or_finish()
        }
    }

    fn accepted(&mut self) -> Effect {
        // Who has a descriptor or had one has nothing to pull; and a thread that is still at work
        // holds the only `CPU` debt.
        if !self.peer || self.cpu || self.had_descriptor() {
            return Effect::Late;
        }
        self.peer = false;
        self.hw = true;
        self.cpu = true;
        self.ever.0 |= Debts::HW.0;
        Effect::StartPull
    }

    fn asserted(&mut self) -> Effect {
        // Its word counts as long as the descriptor has not told how it ended, asked for or not.
        if self.was_invalidated && self.hw && !self.peer && !self.moved {
            self.moved = true;
            return Effect::None;
        }
        if !self.peer || !self.had_descriptor() {
            return Effect::Late;
        }
        self.peer = false;
        self.moved = true;
        self.mark_invalidate()
    }

    fn refused(&mut self) -> Effect {
        if self.was_invalidated || !(self.peer || self.hw) {
            return Effect::Late;
        }
        self.blame.get_or_insert(Cause::Refused);
        self.give_up_on_peer();
        self.mark_invalidate()
    }

    fn stopped(&mut self) -> Effect {
        if !self.hw && !self.msg {
            return Effect::Late;
        }
        if self.hw {
            self.hw = false;
            self.descriptor = Some(Place::Moving);
        }
        if self.msg {
            self.msg = false;
            self.message = Some(Place::Answer);
        }
        self.peer = false;
        self.blame.get_or_insert(Cause::LinkDown);
        self.ask_or_finish()
    }

    fn give_up_on_peer(&mut self) {
        if self.peer {
            self.peer = false;
            self.unanswered = true;
        }
    }

    fn mark_invalidate(&mut self) -> Effect {
        self.was_invalidated = true;
        self.ask_or_finish()
    }

    /// Asks the engine once, as soon as the descriptor is surely posted; or ends if all is settled.
    fn ask_or_finish(&mut self) -> Effect {
        if self.was_invalidated && self.hw && !self.cpu && !self.invalidated {
            self.invalidated = true;
            return Effect::Invalidate;
        }
        if self.debts().is_empty() {
            self.done = true;
            return Effect::Finalize;
        }
        Effect::None
    }
}
