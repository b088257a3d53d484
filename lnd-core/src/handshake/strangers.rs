// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles nodes that are not in the peer table (S0-14, LU-1600).

use super::control::VERSION;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, Nid, PeerId};
use crate::base::message::{Envelope, Hello, HelloAck, Lane, Message};
use crate::base::time::Instant;
use crate::ports::{Channel, Ports};
use crate::shard::{Driver, RunState};

impl<P: Ports> Driver<'_, P> {
    /// Takes up a node as a peer if there is room. No peer is made during shutdown (LU-1600).
    pub(crate) fn take_up_stranger(
        &mut self,
        now: Instant,
        nid: Nid,
        promised: bool,
    ) -> Option<PeerId> {
        if self.run.state() != RunState::Running {
            return None;
        }
        self.take_up_peer(now, nid, promised)
    }

    /// Answers a hello for which the peer table has no place (S0-14). All fields of the answer come
    /// from the hello, so the answer needs no place. Its depth of zero credits makes the other side
    /// stop the attempt and ask again after its hold-off (R68).
    pub(crate) fn refuse_hello(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        hello: &Hello,
    ) {
        // Hellos under false names must not cause a storm of answers. So at most `batch` answers go
        // out in one `hello_timeout`, and an answer is no longer than its hello.
        if !self.hellos_refused.one_more(now, self.config.hello_timeout, self.config.batch) {
            return;
        }
        let link = self.links.any_way_to(from.from, Some(link));
        // A forged hello may name a node that the channel does not reach. Such a node gets no
        // answer.
        let Some(link) = link.filter(|_| self.channel.reaches(from.from)) else { return };
        // A refusal never waits for room in the control lane: it would need a place to wait in. The
        // sender repeats its hello.
        if !self.channel.ready(link, from.from, Lane::Control) {
            return;
        }
        let envelope = Envelope {
            from: self.me.nid,
            to: from.from,
            from_incarnation: self.me.incarnation,
            to_incarnation: Some(from.from_incarnation),
            session: 0,
            sequence: 0,
            credits: 0,
            credits_of: 0,
        };
        let ack = HelloAck {
            session: from.session,
            attempt: hello.attempt,
            version: Some(VERSION),
            depth: 0,
            immediate_max: 0,
            features: 0,
        };
        self.counters.count(Counter::HellosRefused);
        let sent = self.channel.send(link, &envelope, &Message::HelloAck(ack), None).is_ok();
        self.after_sending(now, link, &envelope, Lane::Control, sent);
    }
}
