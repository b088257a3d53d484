// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file sends the message of a transfer that is being posted.

use super::copy::gather;
use super::gate::{PostFrom, Tx};
use crate::base::id::Tag;
use crate::base::key::Key;
use crate::base::message::{Lane, Message, NakReason, PullReady};
use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Debts, Effect, Event};
use crate::ports::{BadAddress, Channel, Engine, Ports, Sent};
use crate::shard::Driver;
use crate::slots::Role;

impl<P: Ports> Driver<'_, P> {
    /// Sends the transfer's message.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(super) fn send_message(
        &mut self,
        now: Instant,
        tx: &Tx<'_>,
        from: PostFrom<'_>,
    ) -> Result<(), Cause> {
        let key = self.staged_key(tx);
        let key = key.as_bytes();
        let Some(state) = self.slots.states.get_mut(tx.tag.index) else {
            return Err(Cause::Local);
        };
        let lane = if tx.role.requests() { Lane::Request } else { Lane::Control };
        let mut payload = &[][..];
        if tx.role == Role::Immediate {
            let place = self.scratch.get_mut(..state.length as usize).ok_or(Cause::Local)?;
            let one = state.pieces.fragment(state.address);
            let fragments = match state.pieces.list() {
                None => one.as_slice(),
                Some((list, count)) => self.slots.lists.get(list, count),
            };
            gather(&self.memory, fragments, place).map_err(|BadAddress| Cause::Local)?;
            payload = place;
        }
        // The envelope spends the credit. Everything that can fail locally is above this line.
        let envelope = self.peers.envelope(tx.peer, self.me, lane);
        // By reference, so that no copy lies on the stack.
        let Some(envelope) = &envelope else { return Err(Cause::Local) };
        // The number stays with the transfer: its end, or a CANCEL, must name it.
        if lane == Lane::Request {
            (state.session, state.sequence) = (envelope.session, envelope.sequence);
        }
        let why = if tx.role.is_final() { state.why() } else { None };
        let (remote, length) = (state.remote, state.length);
        let header = match from {
            PostFrom::Claim(header) => header,
            PostFrom::Queue | PostFrom::Answer => self.slots.header(tx.tag.index),
        };
        let message = match tx.role {
            Role::Immediate => Message::Immediate { header, payload },
            Role::PutSource => Message::PutReq { header, source: tx.tag, length, key },
            Role::GetSink | Role::PushSink => Message::GetReq { header, sink: tx.tag, length, key },
            Role::GetSource => {
                Message::PullReady(PullReady { sink: remote, source: tx.tag, length, key })
            }
            Role::PutDone => Message::PutDone { source: remote, failed: why },
            Role::GetDone if P::Engine::PUSHES => {
                Message::GetDone { sink: remote, length, failed: why }
            }
            Role::NakGet => Message::GetNak { sink: remote, why: why.unwrap_or(NakReason::Failed) },
            _ => Message::PutNak { source: remote, why: why.unwrap_or(NakReason::Failed) },
        };
        // From here on the message cannot be withdrawn (INV-5, R5). Only its completion or a proof
        // ends its debt.
        let sent = self.channel.send(tx.link, envelope, &message, Some(tx.tag));
        self.after_sending(now, tx.link, envelope, lane, sent.is_ok());
        let ended = sent.map_err(|_| Cause::Channel)?;
        if self.channel.ends_at_once() {
            self.message_ended(now, tx.tag, ended.unwrap_or(Sent::Unknown));
        } else if let Some(ended) = ended {
            self.on_sent(now, tx.tag, ended);
        }
        Ok(())
    }

    /// The key with which the peer's engine pulls what was staged for it, or pushes into what was
    /// exposed, where engines have keys.
    #[inline]
    fn staged_key(&self, tx: &Tx<'_>) -> Key {
        if !P::Engine::KEYS || !tx.role.stages() {
            return Key::NONE;
        }
        self.links.get(tx.link).map_or(Key::NONE, |link| link.engine.key(tx.tag))
    }

    /// Handles a message that was no debt and has ended. A failed message becomes a debt first. A
    /// transfer that was cancelled meanwhile has already lost, and its descriptor is invalidated.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn message_ended(&mut self, now: Instant, tag: Tag, ended: Sent) {
        if ended != Sent::Ok && self.apply(now, tag, Event::Arm(Debts::MSG)) == Some(Effect::None) {
            self.on_sent(now, tag, ended);
        }
    }
}
