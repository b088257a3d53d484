// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Connections, the smallest stop domains: reports from the transport, and their state.

use lnd_core::id::{LinkId, Nid};
use lnd_core::link::{Connection, LinkState, Quiesced};
use lnd_core::ports::Engine;
use lnd_core::time::Instant;

use crate::abi::lnd_error;
use crate::errors::outcome;
use crate::input::{given, place, put};
use crate::ni::{lnd_ni, Entered, Thread};
use crate::tracing::link_state;

/// The connection that a caller names.
#[derive(Clone, Copy)]
struct Named {
    link: u32,
    nid: u64,
}

impl Named {
    /// Its link, and its peer if the peer is in the table.
    fn find(self, ni: &lnd_ni, thread: &Thread) -> Result<(LinkId, Nid), lnd_error> {
        let link = LinkId::new(self.link as usize).filter(|link| link.index() < ni.irqs.len());
        let link = link.ok_or(lnd_error::LND_E_LINK)?;
        let nid = Nid::from_raw(self.nid).filter(|nid| thread.driver.peer(*nid).is_some());
        Ok((link, nid.ok_or(lnd_error::LND_E_NO_PEER)?))
    }

    /// The current connection, if it has this number.
    fn numbered(
        self,
        ni: &lnd_ni,
        thread: &mut Thread,
        number: u32,
    ) -> Result<Connection, lnd_error> {
        let (link, peer) = self.find(ni, thread)?;
        let present = thread.driver.engine_mut(link).and_then(|it| it.connection(peer));
        let present = present.ok_or(lnd_error::LND_E_UNSUPPORTED)?;
        if present.get() != number {
            return Err(lnd_error::LND_E_STALE);
        }
        Ok(Connection { link, peer, number: present })
    }
}

/// Enters the thread's half of an NI whose engines have connections.
///
/// # Safety
/// As for [`lnd_ni::of`].
unsafe fn enter<'a>(ni: *const lnd_ni) -> Result<(&'a lnd_ni, Entered<'a>), lnd_error> {
    // SAFETY: the same promise.
    let ni = unsafe { lnd_ni::of(ni)? };
    let entered = ni.enter()?;
    if cfg!(feature = "operations") && ni.connects {
        Ok((ni, entered))
    } else {
        Err(lnd_error::LND_E_UNSUPPORTED)
    }
}

/// Applies a report about the current connection, if it has this number, and requests a run.
///
/// # Safety
/// As for [`lnd_ni::of`].
unsafe fn take_in(
    ni: *const lnd_ni,
    named: Named,
    number: u32,
    event: impl FnOnce(&mut Thread, Connection) -> Result<(), lnd_error>,
) -> lnd_error {
    // SAFETY: the same promise.
    outcome(unsafe { enter(ni) }.and_then(|(ni, mut entered)| {
        let thread = entered.thread();
        let it = named.numbered(ni, thread, number)?;
        let taken = event(thread, it);
        drop(entered);
        ni.wake();
        taken
    }))
}

/// lnd_connection_up() - A connection can take frames.
/// @ni: the NI.
/// @link: the link.
/// @nid: the peer.
/// @now: the time.
///
/// Frames that wait for room are tried at once, and not at the next @link_poll of struct
/// lnd_config. The call has no other effect: ready() and connection() of struct lnd_ops give a
/// connection's state.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_LINK, LND_E_NO_PEER, LND_E_UNSUPPORTED (@connections of struct lnd_config is 0).
#[no_mangle]
pub unsafe extern "C" fn lnd_connection_up(
    ni: *mut lnd_ni,
    link: u32,
    nid: u64,
    now: u64,
) -> lnd_error {
    outcome(given!(enter(ni)).and_then(|(ni, mut entered)| {
        let thread = entered.thread();
        Named { link, nid }.find(ni, thread)?;
        thread.driver.on_connection_up();
        ni.exit(entered, Instant::from_nanos(now));
        Ok(())
    }))
}

/// lnd_connection_down() - A connection has failed.
/// @ni: the NI.
/// @link: the link.
/// @nid: the peer.
/// @number: the connection's number, from lnd_ops.connection. A report about a connection that has
///          been reset since is stale. It does not fail the connection that replaced it.
/// @now: the time.
///
/// Its transfers end with LND_CAUSE_CONNECTION_DOWN after it is proven stopped; their memory is
/// lent until then. Transfers with other peers continue. Messages for the peer wait, or use another
/// link: a connection that is down is not a peer that is down, see lnd_peer_event(). If
/// @connections of struct lnd_config are already out of service, the link is stopped instead. A
/// connection without a proof of its stop within two @drain_bound is stopped with its link.
///
/// lnd_run() calls connection_stop() of struct lnd_ops, and later connection_reset(). A second
/// report of the same failure has no effect. A report while the link is being stopped has none
/// either: the link's reset resets the connection, possibly without a connection_stop() before.
/// On LND_E_NO_PEER and LND_E_LINK_DOWN no memory is lent to the peer on this link, and no call
/// follows: the host makes the connection anew by itself.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_LINK, LND_E_NO_PEER, LND_E_LINK_DOWN (the link's reset is over), LND_E_STALE (@number is
/// not the current connection's), LND_E_UNSUPPORTED (@connections of struct lnd_config is 0, or
/// this peer has no connection of its own).
#[no_mangle]
pub unsafe extern "C" fn lnd_connection_down(
    ni: *mut lnd_ni,
    link: u32,
    nid: u64,
    number: u32,
    now: u64,
) -> lnd_error {
    let failed = |thread: &mut Thread, it: Connection| {
        // The reset that would make it anew has been.
        if thread.driver.link_state(it.link) == Some(LinkState::Down) {
            return Err(lnd_error::LND_E_LINK_DOWN);
        }
        thread.driver.on_connection_down(Instant::from_nanos(now), it.link, it.peer);
        Ok(())
    };
    given!(take_in(ni, Named { link, nid }, number, failed))
}

/// lnd_connection_stopped() - A connection is proven stopped.
/// @ni: the NI.
/// @link: the link.
/// @nid: the peer.
/// @number: the connection's number, from connection_stop() of struct lnd_ops.
/// @now: the time.
///
/// The caller guarantees the same as connection_quiesced() of struct lnd_ops; a platform may use
/// both. If the guarantee is wrong, memory in use elsewhere is overwritten.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_LINK, LND_E_NO_PEER, LND_E_STALE (@number is not the current connection's), LND_E_RUNNING
/// (the connection waits for no proof: no stop was requested, or the proof has already been given),
/// LND_E_UNSUPPORTED (as lnd_connection_down()).
#[no_mangle]
pub unsafe extern "C" fn lnd_connection_stopped(
    ni: *mut lnd_ni,
    link: u32,
    nid: u64,
    number: u32,
    now: u64,
) -> lnd_error {
    let stopped = |thread: &mut Thread, it: Connection| {
        // SAFETY: the platform asserts it, by the contract of this call.
        let proof = unsafe { Quiesced::assert_connection_stopped(it) };
        let taken = thread.driver.assert_stopped(Instant::from_nanos(now), proof);
        taken.map_err(|_| lnd_error::LND_E_RUNNING)
    };
    given!(take_in(ni, Named { link, nid }, number, stopped))
}

/// lnd_connection_state_get() - The state of a connection.
/// @ni: the NI.
/// @link: the link.
/// @nid: the peer.
/// @state: where enum lnd_link_state is written; LND_LINK_UP: the connection is in service, or its
///         whole link is out of service.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_LINK, LND_E_NO_PEER, LND_E_UNSUPPORTED (@connections of struct lnd_config is 0).
#[no_mangle]
pub unsafe extern "C" fn lnd_connection_state_get(
    ni: *const lnd_ni,
    link: u32,
    nid: u64,
    state: *mut u32,
) -> lnd_error {
    outcome(given!(enter(ni)).and_then(|(ni, mut entered)| {
        place(state)?;
        let thread = entered.thread();
        let (link, peer) = Named { link, nid }.find(ni, thread)?;
        let found = thread.driver.connection_state(link, peer).unwrap_or(LinkState::Up);
        given!(put(state, link_state(found) as u32))
    }))
}
