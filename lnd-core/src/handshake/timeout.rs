// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles a peer's timer, which bounds a handshake or a wait for credits.

use crate::base::counters::Counter;
use crate::base::id::PeerId;
use crate::base::time::Instant;
use crate::machines::peer::{HelloEvent, HelloState};
use crate::peers::PeerFlags;
use crate::ports::{Channel, Ports};
use crate::shard::Driver;
use crate::slots::PutOff;

/// Stalls in a row after which a new session begins.
const FRUITLESS: u8 = 16;

impl<P: Ports> Driver<'_, P> {
    /// Handles the end of a peer's timer. The timer bounds a handshake, or the time without
    /// credits.
    pub(crate) fn peer_timer(&mut self, now: Instant, due: Instant, id: PeerId) {
        if let Some((until, put_off)) = self.put_off_of_peer(now, due, id) {
            self.peers.arm(id, until);
            if let Some(peer) = self.peers.get_mut(id) {
                peer.set_put_off(put_off);
            }
            return;
        }
        let Some(peer) = self.peers.get(id) else { return };
        // No link leads to the peer, so no hello could reach it. Requests for it wait for a
        // connection, and only an open link can bring one.
        let cut = peer.nid.is_some_and(|nid| !self.links.any_leads_to(nid));
        match self.peers.state(id) {
            // Without a link the attempt ends without blame: the peer returns to `Unknown`, not to
            // `Down` (LU-17505, LU-20379).
            HelloState::Handshake if cut && (peer.queue.is_empty() || !self.links.any_open()) => {
                self.hello_event(now, id, HelloEvent::NoLink);
            }
            HelloState::Handshake if cut || peer.tries < self.config.hello_tries => {
                self.hello_event(now, id, HelloEvent::TryAgain);
            }
            HelloState::Handshake => self.hello_event(now, id, HelloEvent::Exhausted),
            // Requests of a session that is not counted lie in the channel. The sender may have
            // declared us down since the last hello, so the hello is repeated.
            HelloState::Good if peer.is(PeerFlags::NOTIFIED) && self.channel.is_reliable() => {
                self.hello_event(now, id, HelloEvent::Resync);
            }
            HelloState::Good if peer.queue.is_empty() => {
                // The queue emptied before the bound: deadlines are shorter than the bound. The
                // next request asks for the peer's count at once. Otherwise no request would ever
                // get through.
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.flags.insert(PeerFlags::STALLED);
                }
            }
            HelloState::Good => {
                // All credits are spent and none has come back. Either the receiver is slow, or the
                // message with the credits is lost. The answer to a hello decides between the two.
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

    /// Returns until when the decision on a peer's silence is postponed, if the bound ended in what
    /// may have been a pause of this host (R41).
    fn put_off_of_peer(&self, now: Instant, due: Instant, id: PeerId) -> Option<(Instant, PutOff)> {
        let peer = self.peers.get(id)?;
        let bound = match self.peers.state(id) {
            HelloState::Handshake => self.config.hello_timeout,
            HelloState::Good if !peer.is(PeerFlags::STALLED | PeerFlags::NOTIFIED) => {
                self.config.credit_stall
            }
            // A hold-off is not a silence. A wait for credits that has already lasted its full time
            // is not postponed again.
            HelloState::Good | HelloState::Down | HelloState::Unknown => return None,
        };
        self.put_off(now, due, bound, peer.put_off())
    }

    /// Counts a stall. After [`FRUITLESS`] stalls in a row a new session begins.
    fn count_stall(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.setbacks.count_stall();
        // The two sides may count differently: a delayed hello of a session's begin, behind one of
        // a former incarnation, has that effect. A new session repairs it, and a reliable channel
        // loses nothing by it. The receiver's own cap bounds what it accepts (INV-12).
        if peer.setbacks.stalls() >= FRUITLESS {
            peer.session = 0;
            peer.setbacks.end_stalls();
        }
    }
}
