// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers and links: reports from the platform, and their state.

use lnd_core::driver::{Driver, PeerView};
use lnd_core::id::{LinkId, Nid};
use lnd_core::link::Quiesced;
use lnd_core::time::Instant;

use crate::abi::{lnd_error, lnd_link_state, lnd_peer, lnd_peer_info};
use crate::errors::outcome;
use crate::handle;
use crate::input::{given, output, place, put};
use crate::ni::{lnd_ni, Thread};
use crate::ports::Host;
use crate::tracing::{link_state, peer_state};

/// lnd_peer_event() - The platform reports that a peer is down, or up.
/// @ni: the NI.
/// @nid: the peer.
/// @up: 0: down, and everything for the peer is cancelled; else a handshake may begin at once.
/// @now: the time.
///
/// A report about a NID that is not in the table has no effect. A peer stays down for @hello_tries
/// times @hello_timeout of struct lnd_config, and lnd_submit() refuses messages for it. If a frame
/// from it arrives earlier, the report was wrong: the handshake begins at once, and event() reports
/// it. The peer's requests wait in a reliable channel meanwhile.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_NO_PEER.
#[no_mangle]
pub unsafe extern "C" fn lnd_peer_event(ni: *mut lnd_ni, nid: u64, up: u32, now: u64) -> lnd_error {
    about(given!(lnd_ni::of(ni)), nid, |driver, nid| {
        driver.on_peer(Instant::from_nanos(now), nid, up != 0);
    })
}

/// lnd_peer_ask() - Asks a peer whether it still runs.
/// @ni: the NI.
/// @nid: the peer.
/// @now: the time.
///
/// For a transport that has heard nothing of the peer and does not know whether the peer is down:
/// its retries are exhausted, or a probe has failed. The hello to the peer is repeated. An answer
/// changes nothing, and nothing in flight is cancelled meanwhile. Without one the peer is down
/// after @hello_tries times @hello_timeout of struct lnd_config, and event() reports it. A peer
/// that is being asked already keeps its time; one that is down, or was never met, is not asked.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: as lnd_peer_event().
#[no_mangle]
pub unsafe extern "C" fn lnd_peer_ask(ni: *mut lnd_ni, nid: u64, now: u64) -> lnd_error {
    about(given!(lnd_ni::of(ni)), nid, |driver, nid| {
        driver.ask_peer(Instant::from_nanos(now), nid);
    })
}

/// Applies a report to a peer of the table.
fn about(
    ni: Result<&lnd_ni, lnd_error>,
    nid: u64,
    report: impl FnOnce(&mut Driver<'static, Host>, Nid),
) -> lnd_error {
    outcome(ni.and_then(|ni| {
        let mut entered = ni.enter()?;
        let driver = &mut entered.thread().driver;
        let nid = Nid::from_raw(nid).filter(|nid| driver.peer(*nid).is_some());
        report(driver, nid.ok_or(lnd_error::LND_E_NO_PEER)?);
        drop(entered);
        ni.wake();
        Ok(())
    }))
}

/// lnd_link_event() - The platform reports that a link is down, or up.
/// @ni: the NI.
/// @link: the link.
/// @up: 0: down; else up.
/// @now: the time.
///
/// Not needed for engines whose registers report it. A link that is reported down is stopped and
/// reset, and works again once the engine finds it working: a host that reports links has
/// engine_link_up, or registers. See lnd_link_failed() for interrupts.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_LINK.
#[no_mangle]
pub unsafe extern "C" fn lnd_link_event(
    ni: *mut lnd_ni,
    link: u32,
    up: u32,
    now: u64,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let link = LinkId::new(link as usize).filter(|link| link.index() < ni.irqs.len());
        let link = link.ok_or(lnd_error::LND_E_LINK)?;
        ni.enter()?.thread().driver.on_link(Instant::from_nanos(now), link, up != 0);
        ni.wake();
        Ok(())
    }))
}

/// lnd_assert_stopped() - The platform guarantees that a link's device has stopped.
/// @ni: the NI.
/// @link: the link.
/// @now: the time.
///
/// For a device that does not answer (LND_LINK_FAILED), or does not stop (LND_LINK_STOPPING). Its
/// descriptors are then reclaimed, as after a stop that the device has confirmed.
///
/// The platform must know, by other means than the link's registers, two facts: the device no
/// longer reads or writes memory of this node, and no other node's device does so through this
/// link, until its reset. A slot without power and a device cut off from memory are such means. A
/// register that reads all ones is not. If the guarantee is wrong, memory in use elsewhere is
/// overwritten.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_LINK, LND_E_RUNNING (the link waits for no proof: no effect).
#[no_mangle]
pub unsafe extern "C" fn lnd_assert_stopped(ni: *mut lnd_ni, link: u32, now: u64) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let link = LinkId::new(link as usize).filter(|link| link.index() < ni.irqs.len());
        let link = link.ok_or(lnd_error::LND_E_LINK)?;
        let mut entered = ni.enter()?;
        // SAFETY: the platform asserts it, by the contract of this call.
        let proof = unsafe { Quiesced::assert_stopped(link) };
        let taken = entered.thread().driver.assert_stopped(Instant::from_nanos(now), proof);
        drop(entered);
        ni.wake();
        taken.map_err(|_| lnd_error::LND_E_RUNNING)
    }))
}

/// lnd_quarantine_get() - How many transfers a failed link, or its failed connections, hold.
/// @ni: the NI.
/// @link: the link.
/// @transfers: where the number of transfers is written whose memory the device still holds and
///             only its stop, or a connection's, can return. 0 while the link is up and none of its
///             connections has failed.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_LINK.
#[no_mangle]
pub unsafe extern "C" fn lnd_quarantine_get(
    ni: *const lnd_ni,
    link: u32,
    transfers: *mut u32,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        place(transfers)?;
        let mut entered = ni.enter()?;
        let link = LinkId::new(link as usize).filter(|link| link.index() < ni.irqs.len());
        let held = entered.thread().driver.quarantined(link.ok_or(lnd_error::LND_E_LINK)?);
        given!(put(transfers, held))
    }))
}

/// lnd_link_state_get() - The state of a link.
/// @ni: the NI.
/// @link: the link.
/// @state: where enum lnd_link_state is written.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_LINK.
#[no_mangle]
pub unsafe extern "C" fn lnd_link_state_get(
    ni: *const lnd_ni,
    link: u32,
    state: *mut u32,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        place(state)?;
        let mut entered = ni.enter()?;
        let link = LinkId::new(link as usize);
        let found = link.and_then(|link| entered.thread().driver.link_state(link));
        let found: lnd_link_state = link_state(found.ok_or(lnd_error::LND_E_LINK)?);
        given!(put(state, found as u32))
    }))
}

impl Thread {
    /// The peer that a handle names, if the handle is not stale.
    fn peer_of(&self, ni: &lnd_ni, peer: lnd_peer) -> Result<PeerView, lnd_error> {
        let id = handle::of_peer(ni.platform.id, peer)?;
        let view = self.driver.peer_view(peer.index);
        let same = |view: &PeerView| view.id == id && view.nid.raw() == peer.nid;
        view.filter(same).ok_or(lnd_error::LND_E_STALE)
    }
}

/// lnd_peer_find() - The handle of a peer.
/// @ni: the NI.
/// @nid: its NID.
/// @peer: where the handle is written.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_NO_PEER.
#[no_mangle]
pub unsafe extern "C" fn lnd_peer_find(
    ni: *const lnd_ni,
    nid: u64,
    peer: *mut lnd_peer,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        place(peer)?;
        let mut entered = ni.enter()?;
        let driver = &entered.thread().driver;
        let found = Nid::from_raw(nid).and_then(|nid| Some((nid, driver.peer(nid)?)));
        let (nid, id) = found.ok_or(lnd_error::LND_E_NO_PEER)?;
        given!(put(peer, handle::peer(ni.platform.id, nid, id)))
    }))
}

/// lnd_peer_info_get() - The state of a peer.
/// @ni: the NI.
/// @peer: its handle.
/// @info: filled in; the caller sets its size.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
/// LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (the NI has removed the peer).
#[no_mangle]
pub unsafe extern "C" fn lnd_peer_info_get(
    ni: *const lnd_ni,
    peer: lnd_peer,
    info: *mut lnd_peer_info,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let info = given!(output(info))?;
        let mut entered = ni.enter()?;
        let view = entered.thread().peer_of(ni, peer)?;
        *info = lnd_peer_info {
            size: info.size,
            state: peer_state(view.state) as u32,
            peer,
            incarnation: view.incarnation.map_or(0, |incarnation| incarnation.raw()),
            last_heard: view.last_heard.as_nanos(),
            transfers: view.transfers,
            credits: view.credits,
            in_flight: view.in_flight,
            session: view.session,
            pulls: view.pulls,
            pulls_waiting: view.pulls_waiting,
        };
        Ok(())
    }))
}
