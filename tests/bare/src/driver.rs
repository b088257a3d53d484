// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-core`: the driver of a shard and its interrupts, over foreign ports.

use core::mem::MaybeUninit;

use lnd_core::config::{Config, ConfigError};
use lnd_core::driver::{
    Arrival, Blocker, Broken, Driver, Identity, Inbound, Interrupt, IrqHandle, Receive, Received,
    RecvError, Refused, Reply, Report, Request, RunState, RxRequest, Served, Submitted,
};
use lnd_core::id::{LinkId, Nid, PeerId, Tag};
use lnd_core::link::LinkState;
use lnd_core::message::{Envelope, Message, NakReason, PullReady};
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};

use crate::ports::Foreign;

type Node<'m> = Driver<'m, Foreign>;

#[no_mangle]
pub fn lnd_bare_create<'m>(
    memory: &'m mut [MaybeUninit<u8>],
    config: Config,
    me: Identity,
    engines: usize,
) -> Result<Node<'m>, ConfigError> {
    let engines = core::iter::repeat_with(|| Foreign).take(engines);
    Driver::create(memory, config, me, engines, Foreign, Foreign, Foreign)
}

#[no_mangle]
pub fn lnd_bare_submit<'r>(
    node: &mut Node<'_>,
    now: Instant,
    request: Request<'r>,
) -> Result<Submitted, Refused<'r>> {
    node.submit(now, request)
}

#[no_mangle]
pub fn lnd_bare_withdraw(node: &mut Node<'_>, now: Instant, tag: Tag) {
    node.withdraw(now, tag);
}

#[no_mangle]
pub fn lnd_bare_on_message<'d, 'm, 'f>(
    node: &'d mut Node<'m>,
    now: Instant,
    link: LinkId,
    from: &'d Envelope,
    message: &'d Message<'f>,
) -> Inbound<'d, 'm, 'f, Foreign> {
    node.on_message(now, link, from, message)
}

#[no_mangle]
pub fn lnd_bare_keep<'f>(arrival: Arrival<'_, '_, 'f, Foreign>) -> RxRequest<'f> {
    arrival.keep()
}

#[no_mangle]
pub fn lnd_bare_arrival_recv<'f>(
    arrival: Arrival<'_, '_, 'f, Foreign>,
    it: &Receive<'_>,
) -> Result<Received, RecvError<'f>> {
    arrival.recv(it)
}

#[no_mangle]
pub fn lnd_bare_arrival_give<'f>(
    arrival: Arrival<'_, '_, 'f, Foreign>,
    it: &Reply<'_>,
) -> Result<Tag, RecvError<'f>> {
    arrival.reply(it)
}

#[no_mangle]
pub fn lnd_bare_arrival_refuse(arrival: Arrival<'_, '_, '_, Foreign>, why: NakReason) {
    arrival.nak(why);
}

#[no_mangle]
pub fn lnd_bare_on_pull_ready(
    node: &mut Node<'_>,
    now: Instant,
    link: LinkId,
    from: &Envelope,
    it: &PullReady<'_>,
) {
    node.on_pull_ready(now, link, from, it);
}

#[no_mangle]
pub fn lnd_bare_recv<'f>(
    node: &mut Node<'_>,
    now: Instant,
    rx_request: RxRequest<'f>,
    it: &Receive<'_>,
) -> Result<Tag, RecvError<'f>> {
    node.recv(now, rx_request, it)
}

#[no_mangle]
pub fn lnd_bare_give<'f>(
    node: &mut Node<'_>,
    now: Instant,
    rx_request: RxRequest<'f>,
    it: &Reply<'_>,
) -> Result<Tag, RecvError<'f>> {
    node.reply(now, rx_request, it)
}

#[no_mangle]
pub fn lnd_bare_refuse(
    node: &mut Node<'_>,
    now: Instant,
    rx_request: RxRequest<'_>,
    why: NakReason,
) {
    node.nak(now, rx_request, why);
}

#[no_mangle]
pub fn lnd_bare_on_time(node: &mut Node<'_>, now: Instant) -> Option<Instant> {
    node.on_time(now)
}

#[no_mangle]
pub fn lnd_bare_next_report(node: &mut Node<'_>, now: Instant) -> Option<Report> {
    node.next_report(now)
}

#[no_mangle]
pub fn lnd_bare_on_sent(node: &mut Node<'_>, now: Instant, tag: Tag, sent: Sent) {
    node.on_sent(now, tag, sent);
}

#[no_mangle]
pub fn lnd_bare_on_peer(node: &mut Node<'_>, now: Instant, nid: Nid, up: bool) {
    node.on_peer(now, nid, up);
}

#[no_mangle]
pub fn lnd_bare_on_link(node: &mut Node<'_>, now: Instant, link: LinkId, up: bool) {
    node.on_link(now, link, up);
}

#[no_mangle]
pub fn lnd_bare_shutdown(node: &mut Node<'_>, now: Instant, grace: Instant) -> RunState {
    node.shutdown(now, grace);
    node.run_state()
}

#[no_mangle]
pub fn lnd_bare_blocker(node: &Node<'_>, from: u32) -> Option<Blocker> {
    node.blocker(from)
}

#[no_mangle]
pub fn lnd_bare_audit(node: &Node<'_>) -> Result<(), Broken> {
    node.audit()
}

#[no_mangle]
pub fn lnd_bare_look(
    node: &Node<'_>,
    nid: Nid,
    link: LinkId,
) -> (Option<HelloState>, Option<LinkState>, Option<Span>) {
    let state = node.peer(nid).map(|peer| node.peer_state(peer));
    (state, node.link_state(link), node.time_to_quiesce(link))
}

#[no_mangle]
pub fn lnd_bare_interrupt(it: &mut Interrupt<'_, Foreign>, now: Instant, budget: u32) -> Served {
    it.on_interrupt(now, budget, &mut Foreign)
}

#[no_mangle]
pub fn lnd_bare_peer_down(it: &IrqHandle<'_>, peer: PeerId) {
    it.peer_down(peer);
}

#[no_mangle]
pub fn lnd_bare_link_failed(it: &IrqHandle<'_>, link: LinkId) {
    it.link_failed(link);
}
