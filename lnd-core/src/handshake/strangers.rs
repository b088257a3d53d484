// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Nodes that we do not know and that want something of us (S0-14, LU-1600).

use super::control::VERSION;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, Nid, PeerId};
use crate::base::message::{Envelope, Hello, HelloAck, Lane, Message};
use crate::base::time::Instant;
use crate::ports::{Channel, Ports};
use crate::shard::{Driver, RunState};

impl<P: Ports> Driver<'_, P> {
    /// Takes up a node of which we have heard, if there is room. While we shut down no peer is made any
    /// more (LU-1600).
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

    /// Answers a hello for which there is no place in the peer table: there is no room (S0-14). The
    /// answer needs none: all that it says is in the hello. Its depth of no credits tells the other side
    /// not to wait, and to ask again after its hold-off (R68).
    ///
    /// An answer is no longer than its hello, goes to nobody whom the channel does not reach, and finds
    /// room in the control lane or is not sent. There are at most `batch` of them in one
    /// `hello_timeout`: hellos under false names make no storm.
    pub(crate) fn refuse_hello(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        hello: &Hello,
    ) {
        if !self.hellos_refused.one_more(now, self.config.hello_timeout, self.config.batch) {
            return;
        }
        let link = self.links.any_way_to(from.from, Some(link));
        let Some(link) = link.filter(|_| self.channel.reaches(from.from)) else { return };
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
