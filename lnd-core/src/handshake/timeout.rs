// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A peer's timer: of its hello, or of credits that do not come back.

use crate::base::counters::Counter;
use crate::base::id::PeerId;
use crate::base::time::Instant;
use crate::machines::peer::{HelloEvent, HelloState};
use crate::peers::PeerFlags;
use crate::ports::{Channel, Ports};
use crate::shard::Driver;
use crate::slots::PutOff;

/// Stalls in a row after which the session begins anew.
const FRUITLESS: u8 = 16;

impl<P: Ports> Driver<'_, P> {
    /// A peer's timer has run out: the hello's, or the credits', which is armed while there are none.
    pub(crate) fn peer_timer(&mut self, now: Instant, due: Instant, id: PeerId) {
        if let Some((until, put_off)) = self.put_off_of_peer(now, due, id) {
            self.peers.arm(id, until);
            if let Some(peer) = self.peers.get_mut(id) {
                peer.set_put_off(put_off);
            }
            return;
        }
        let Some(peer) = self.peers.get(id) else { return };
        // No link leads to it: it could not be asked. What waits for it waits for a connection, not for a link.
        let cut = peer.nid.is_some_and(|nid| !self.links.any_leads_to(nid));
        match self.peers.state(id) {
            HelloState::Handshake if cut && (peer.queue.is_empty() || !self.links.any_open()) => {
                self.hello_event(now, id, HelloEvent::NoLink);
            }
            HelloState::Handshake if cut || peer.tries < self.config.hello_tries => {
                self.hello_event(now, id, HelloEvent::TryAgain);
            }
            HelloState::Handshake => self.hello_event(now, id, HelloEvent::Exhausted),
            HelloState::Good if peer.is(PeerFlags::NOTIFIED) && self.channel.is_reliable() => {
                self.hello_event(now, id, HelloEvent::Resync);
            }
            HelloState::Good if peer.queue.is_empty() => {
                // What waited was given up before the bound. The next one shall not wait for it
                // again: with deadlines shorter than the bound none would ever get through.
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.flags.insert(PeerFlags::STALLED);
                }
            }
            HelloState::Good => {
                // Every credit is gone and none comes back: the receiver is slow, or what carried
                // them is lost. The answer to a hello tells which.
                self.counters.count(Counter::Resyncs);
                self.count_stall(id);
                self.hello_event(now, id, HelloEvent::Resync);
            }
            // Armed by a request that waits in the channel: see `revive`.
            HelloState::Down if peer.parked != 0 => {
                self.hello_event(now, id, HelloEvent::HelloSameIncarnation);
            }
            HelloState::Down | HelloState::Unknown => {}
        }
    }

    /// Until when the verdict on a peer's silence is put off, if that has ended in what may have been a pause of
    /// ours. A hold-off is no silence, and neither is that of credits which has lasted its time before.
    fn put_off_of_peer(&self, now: Instant, due: Instant, id: PeerId) -> Option<(Instant, PutOff)> {
        let peer = self.peers.get(id)?;
        let bound = match self.peers.state(id) {
            HelloState::Handshake => self.config.hello_timeout,
            HelloState::Good if !peer.is(PeerFlags::STALLED | PeerFlags::NOTIFIED) => {
                self.config.credit_stall
            }
            HelloState::Good | HelloState::Down | HelloState::Unknown => return None,
        };
        self.put_off(now, due, bound, peer.put_off())
    }

    /// Counts a stall. After many in a row the two sides count differently: a late hello of a session's
    /// begin, behind one of a former incarnation, does that. A new session makes it good, and loses
    /// nothing where the channel does not; the receiver's own cap bounds what it takes (INV-12).
    fn count_stall(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.fruitless = peer.fruitless.saturating_add(1);
        if peer.fruitless >= FRUITLESS {
            peer.session = 0;
            peer.fruitless = 0;
        }
    }
}
