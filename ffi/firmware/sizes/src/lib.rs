// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The LND part of a firmware image alone: a node over real hardware, all of its memory in statics,
//! every verb reachable. The rest of the image supplies the foreign functions (`lnd_port_*`): the
//! wire, the upper layer, the clock. `tests/firmware/sizes.py` links this and measures it.
//!
//! Counted as flash: the text and read-only data of everything here. Counted as RAM: every static,
//! which is the driver with all its tables, the interrupt's half, the memory shared with the engine
//! (descriptors and rings) and the buffer for frames. Not counted: the stack, which is measured
//! separately, and the payload, which is the upper layer's.
#![no_std]
#![allow(clippy::missing_safety_doc)]

mod ports;
mod shape;

use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::ptr::NonNull;

use lnd_core::counters::Counter;
use lnd_core::driver::{
    Driver, Identity, Inbound, Interrupt, Kind, Receive, RecvError, Reply, Report, Request,
    RequestKind, RunState, RxRequest,
};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Nid, Tag, MAX_LINKS};
use lnd_core::message::NakReason;
use lnd_core::ports::Sent;
use lnd_core::time::Instant;
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::memory::{LinkGeometry, LinkMemory};
use lnd_fw::memory::{bytes, Bytes, Static};
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::{Checksum, Frame};

use ports::{
    lnd_port_finalize, lnd_port_parse, tracer, Board, Decision, Device, Numbers, Payload, Tracer,
    Wire,
};
use shape::{CONFIG, FRAME};

const LINKS: usize = CONFIG.links as usize;
const GEOMETRY: LinkGeometry = LinkGeometry { descriptors: CONFIG.slots, lists: 0 };
const RING: usize = GEOMETRY.bytes_needed();

type Half = Interrupt<'static, CompletionQueue<'static, Device>>;

/// All statics that count as RAM.
struct All {
    rings: [Ring; LINKS],
    tables: Bytes<{ CONFIG.bytes_needed() }>,
    frame: [u8; FRAME],
    driver: MaybeUninit<Driver<'static, Board>>,
    node: MaybeUninit<Node>,
    halves: [MaybeUninit<Irq>; LINKS],
}

/// Memory of one link, aligned for the device.
#[repr(C, align(64))]
struct Ring(Bytes<RING>);

static ALL: Static<All> = Static::new(All {
    rings: [const { Ring(bytes()) }; LINKS],
    tables: bytes(),
    frame: [0; FRAME],
    driver: MaybeUninit::uninit(),
    node: MaybeUninit::uninit(),
    halves: [const { MaybeUninit::uninit() }; LINKS],
});

/// The thread's state.
pub struct Node {
    driver: &'static mut Driver<'static, Board>,
    receiver: Receiver,
}

/// The state of one link's interrupt.
#[derive(Debug)]
pub struct Irq {
    half: Half,
    tracer: Tracer,
}

/// Creates the node.
#[no_mangle]
pub extern "C" fn lnd_fw_create(nid: u64, incarnation: u64) -> Option<&'static mut Node> {
    let me =
        Identity { nid: Nid::from_raw(nid)?, incarnation: Incarnation::from_raw(incarnation)? };
    let All { rings, tables, frame, driver, node, halves } = ALL.take()?;
    let mut memories: [Option<LinkMemory<'static>>; MAX_LINKS] = [None; MAX_LINKS];
    for (place, memory) in memories.iter_mut().zip(rings) {
        let base = NonNull::from(memory).cast::<u8>();
        // SAFETY: taken: no other owner, for ever.
        *place = unsafe { LinkMemory::format(base, RING, GEOMETRY, 0, 3, 0) }.ok();
    }
    let engines = memories.iter().zip(0..).filter_map(|(memory, number)| {
        let link = LinkId::new(number as usize)?;
        Some(MmioEngine::new(link, Device(number), (*memory)?, Numbers))
    });
    let wire = Wire { frame };
    let driver =
        Driver::create_in(driver, tables, CONFIG, me, engines, wire, Payload, tracer()).ok()?;
    let irq_handle = driver.irq_handle();
    for ((memory, place), number) in memories.iter().zip(halves).zip(0..) {
        let queue = CompletionQueue::new(Device(number), (*memory)?);
        place.write(Irq { half: Interrupt::new(irq_handle, queue), tracer: tracer() });
    }
    Some(node.write(Node { driver, receiver: Receiver::new(Checksum::On) }))
}

/// Sends.
#[no_mangle]
pub extern "C" fn lnd_fw_submit(
    node: &mut Node,
    now: u64,
    kind: u32,
    peer: u64,
    payload: &Fragment,
    header: &[u8; 32],
    user: u64,
) -> i32 {
    let Some(peer) = Nid::from_raw(peer) else { return -22 };
    let kind = match kind {
        0 => Kind::Put,
        1 => Kind::Get,
        2 => Kind::Ack,
        _ => Kind::Reply,
    };
    let now = Instant::from_nanos(now);
    let request = Request {
        kind,
        peer: peer.into(),
        link: None,
        routed: false,
        header,
        payload: core::slice::from_ref(payload),
        deadline: now.after(lnd_core::time::Span::from_secs(10)),
        user,
    };
    match node.driver.submit(now, request) {
        Ok(_) => 0,
        Err(refused) => refused.why.errno(),
    }
}

/// Withdraws.
#[no_mangle]
pub extern "C" fn lnd_fw_withdraw(node: &mut Node, now: u64, cookie: u64) {
    node.driver.withdraw(Instant::from_nanos(now), Tag::from_cookie(cookie));
}

/// A frame has come in from `sender`.
#[no_mangle]
pub extern "C" fn lnd_fw_frame(
    node: &mut Node,
    now: u64,
    link: u32,
    sender: u64,
    frame: &[u8; FRAME],
) -> u32 {
    let Some(sender) = Nid::from_raw(sender).map(Sender::Known) else { return 0 };
    let Some(link) = LinkId::new(link as usize) else { return 0 };
    let now = Instant::from_nanos(now);
    match node.receiver.receive_from(sender, frame) {
        Err(_) => 0,
        Ok(Frame::Control(envelope, ready)) => {
            node.driver.on_pull_ready(now, link, &envelope, &ready);
            1
        }
        Ok(Frame::Lnd(envelope, message)) => {
            let rx_request = match node.driver.on_message(now, link, &envelope, &message) {
                Inbound::Handled => return 1,
                Inbound::Wait => return 2,
                Inbound::Request(arrival) => arrival.keep(),
            };
            decide(node, now, rx_request)
        }
    }
}

/// Not inlined, so that it takes no stack while the message is parsed.
#[inline(never)]
fn decide(node: &mut Node, now: Instant, rx_request: RxRequest<'_>) -> u32 {
    let mut decision = Decision::default();
    let (kind, header) = (rx_request.kind() as u32, rx_request.header.as_ptr());
    // SAFETY: linked for measurement, never run.
    let taken = unsafe { lnd_port_parse(kind, header, rx_request.length, &raw mut decision) };
    if taken == 0 {
        node.driver.nak(now, rx_request, NakReason::NoMatch);
        return 1;
    }
    let memory = [Fragment::new(decision.address, decision.room)];
    let Decision { length, user, .. } = decision;
    let deadline = Instant::from_nanos(decision.deadline);
    let outcome = if rx_request.kind() == RequestKind::Get {
        node.driver.reply(now, rx_request, &Reply { source: &memory, length, deadline, user })
    } else {
        node.driver.recv(now, rx_request, &Receive { sink: &memory, length, deadline, user })
    };
    if let Err(RecvError::Refused(rx_request, _)) = outcome {
        node.driver.nak(now, rx_request, NakReason::NoResources);
    }
    1
}

/// A short message has ended.
#[no_mangle]
pub extern "C" fn lnd_fw_sent(node: &mut Node, now: u64, cookie: u64, ok: u32) {
    let sent = match ok {
        0 => Sent::Ok,
        1 => Sent::NotDelivered,
        _ => Sent::Unknown,
    };
    node.driver.on_sent(Instant::from_nanos(now), Tag::from_cookie(cookie), sent);
}

/// Does the work that is due and reports what has ended.
#[no_mangle]
pub extern "C" fn lnd_fw_run(node: &mut Node, now: u64) -> u64 {
    let now = Instant::from_nanos(now);
    node.driver.ring();
    while let Some(report) = node.driver.next_report(now) {
        let Report { user, status, bytes, .. } = report;
        // SAFETY: linked for measurement, never run.
        unsafe { lnd_port_finalize(user, status.errno, status.health as u32, bytes) };
    }
    node.driver.on_time(now).map_or(u64::MAX, Instant::as_nanos)
}

/// Handles the engine's interrupt.
#[no_mangle]
pub extern "C" fn lnd_fw_interrupt(irq: &mut Irq, now: u64) -> u32 {
    let served = irq.half.on_interrupt(Instant::from_nanos(now), 16, &mut irq.tracer);
    u32::from(served.wake) | u32::from(served.more) << 1
}

/// Handles the link's interrupt.
#[no_mangle]
pub extern "C" fn lnd_fw_link(node: &mut Node, now: u64, link: u32, up: u32) {
    if let Some(link) = LinkId::new(link as usize) {
        node.driver.irq_handle().link_failed(link);
        node.driver.on_link(Instant::from_nanos(now), link, up != 0);
    }
}

/// The platform reports a peer's state.
#[no_mangle]
pub extern "C" fn lnd_fw_peer(node: &mut Node, now: u64, nid: u64, up: u32) {
    if let Some(nid) = Nid::from_raw(nid) {
        node.driver.on_peer(Instant::from_nanos(now), nid, up != 0);
    }
}

/// Ends the node; 1 once it has.
#[no_mangle]
pub extern "C" fn lnd_fw_shutdown(node: &mut Node, now: u64, grace: u64) -> u32 {
    node.driver.shutdown(Instant::from_nanos(now), Instant::from_nanos(grace));
    u32::from(node.driver.run_state() == RunState::Quiescent && node.driver.blocker(0).is_none())
}

/// A counter.
#[no_mangle]
pub extern "C" fn lnd_fw_counter(node: &Node, at: u32) -> u64 {
    Counter::ALL.get(at as usize).map_or(0, |&counter| node.driver.counters().value(counter))
}

extern "C" {
    /// There is no such function: an image in which anything can panic does not link.
    fn lnd_panic_is_unreachable() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never linked.
    unsafe { lnd_panic_is_unreachable() }
}
