// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two nodes on QEMU's `xlnx-zcu102` board (AArch64): their engines are two channels of the board's
//! DMA controller, which is third-party hardware, behind an [`adapter`].
//!
//! | context | does |
//! |---|---|
//! | thread | submits, receives messages, reports, calls `on_time`, sleeps |
//! | interrupt of a DMA channel | ends a pull, or continues it with its next piece |
//! | software interrupt (GIC) | takes completions and only decides; handles a failed link |
//! | timer interrupt | ends the thread's sleep |
#![no_std]
#![no_main]

mod adapter;
mod cpu;
mod interrupt;
mod side;
mod zdma;

use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::ptr::NonNull;

use lnd_core::counters::Counters;
use lnd_core::driver::Interrupt;
use lnd_core::id::Incarnation;
use lnd_core::ports::Features;
use lnd_core::time::Instant;
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::memory::{LinkGeometry, LinkMemory};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_fw::channel::{Inlets, Outlets, PairChannel, Post};
use lnd_fw::engines::Numbers;
use lnd_fw::job::WINDOW;
use lnd_fw::log::Log;
use lnd_fw::memory::{bytes, stack_used, Bytes, Static, Window};
use lnd_fw::node::{nid, Node, Parts, LINK, LOG, SLOTS, TABLES};
use lnd_fw::print::Text;
use lnd_fw::script::{Board, Script};

use adapter::Controller;
use interrupt::Zdma;
use side::Side;
use zdma::{Chain, Channel};

core::arch::global_asm!(include_str!("start.s"));

const GEOMETRY: LinkGeometry = LinkGeometry { descriptors: SLOTS as u32, lists: 0 };
const LINK_BYTES: usize = GEOMETRY.bytes_needed();

type Engine = MmioEngine<'static, Zdma, Numbers>;

/// All memory of the image.
static TABLES_OF: [Static<Bytes<TABLES>>; 2] = [const { Static::new(bytes()) }; 2];
static LINKS: [Static<Bytes<LINK_BYTES>>; 2] = [const { Static::new(bytes()) }; 2];
static WINDOWS: [Static<Bytes<WINDOW>>; 2] = [const { Static::new(bytes()) }; 2];
static CHAINS: [Static<Chain>; 2] = [const { Static::new(Chain::new()) }; 2];
static POSTS: [Static<Post>; 2] = [const { Static::new(Post::new()) }; 2];
static LOGS: [Static<Log<LOG>>; 2] = [const { Static::new(Log::new()) }; 2];
static NODES: [Static<MaybeUninit<Node<Engine>>>; 2] =
    [const { Static::new(MaybeUninit::uninit()) }; 2];
static SCRIPT: Static<MaybeUninit<Script<Zcu102, Engine>>> = Static::new(MaybeUninit::uninit());

extern "C" {
    static stack_end: u32;
    static stack_start: u32;
}

/// The board.
#[derive(Debug)]
struct Zcu102;

impl Text for Zcu102 {
    fn text(&mut self, text: &str) {
        cpu::say(text);
    }
}

impl Board for Zcu102 {
    fn now(&mut self) -> Instant {
        Instant::from_nanos(cpu::nanoseconds())
    }

    fn sleep(&mut self, until: Instant) {
        interrupt::sleep(until);
    }

    fn cable(&mut self, node: u32, plugged: bool) {
        let bits = if plugged { LinkBits::UP } else { LinkBits::empty() };
        Zdma(node as usize).write(Register::Link, bits.bits());
        if !plugged {
            interrupt::link_failed(node);
        }
    }

    fn stall(&mut self, node: u32, stalled: bool) {
        interrupt::controller(|it| it.stall(node as usize, stalled));
    }

    fn kill(&mut self, node: u32) {
        interrupt::controller(|it| it.kill(node as usize));
    }

    fn interrupts(&mut self, node: u32) -> (Counters, u32) {
        interrupt::counted(node as usize)
    }
}

/// The core, from start to end.
#[no_mangle]
extern "C" fn processor() -> ! {
    cpu::say("lnd firmware aarch64\n");
    let good = match build() {
        Some(script) => {
            let good = script.tell();
            report(script);
            good
        }
        None => {
            cpu::say("wrong: the nodes could not be made\n");
            false
        }
    };
    cpu::say(if good { "end: good\n" } else { "end: bad\n" });
    cpu::end(u64::from(!good))
}

/// Its stack frame is large, and is freed before the script begins.
#[inline(never)]
fn build() -> Option<&'static mut Script<Zcu102, Engine>> {
    let (to_b, at_b) = POSTS[0].take()?.split()?;
    let (to_a, at_a) = POSTS[1].take()?.split()?;
    let (memory_a, memory_b) = (link_memory(0)?, link_memory(1)?);
    let (window_a, window_b) = (window(0)?, window(1)?);
    let side = |node: usize, memory, window| {
        let channel = Channel::new(node as u32, CHAINS.get(node)?.take()?);
        Some(Side::new(memory, channel, window))
    };
    let sides = [side(0, memory_a, window_a)?, side(1, memory_b, window_b)?];
    interrupt::connect(Controller::new(sides));
    for at in [0, 1] {
        Zdma(at).write(Register::Link, LinkBits::UP.bits());
    }
    let a = node(0, memory_a, window_a, to_b, at_a)?;
    let b = node(1, memory_b, window_b, to_a, at_b)?;
    let half = |node: &Node<Engine>, number, memory| {
        let queue = CompletionQueue::new(Zdma(number), memory);
        (node.driver.irq_handle(), Interrupt::new(node.driver.irq_handle(), queue))
    };
    interrupt::begin([half(a, 0, memory_a), half(b, 1, memory_b)]);
    Some(SCRIPT.take()?.write(Script::new(Zcu102, [a, b])))
}

fn window(node: usize) -> Option<Window> {
    Some(Window::new(WINDOWS.get(node)?.take()?))
}

fn link_memory(node: usize) -> Option<LinkMemory<'static>> {
    let place = NonNull::from(LINKS.get(node)?.take()?).cast::<u8>();
    let features = Features::REMOTE_COMPLETION | Features::KNOWS_UNTOUCHED;
    // SAFETY: the memory was taken: it has no other owner, and stays for ever. The engines begin
    // later.
    unsafe { LinkMemory::format(place, LINK_BYTES, GEOMETRY, node as u32, features.bits(), 0) }.ok()
}

fn node(
    number: u32,
    link: LinkMemory<'static>,
    window: Window,
    outlets: Outlets,
    inlets: Inlets,
) -> Option<&'static mut Node<Engine>> {
    let at = number as usize;
    let parts = Parts {
        number,
        tables: TABLES_OF.get(at)?.take()?,
        engine: MmioEngine::new(LINK, Zdma(at), link, Numbers),
        channel: PairChannel::new(nid(1 - number), outlets, link),
        inlets,
        window,
        log: LOGS.get(at)?.take()?,
    };
    let incarnation = Incarnation::from_raw(100 + u64::from(number))?;
    Some(NODES.get(at)?.take()?.write(Node::new(parts, incarnation).ok()?))
}

fn report(script: &mut Script<Zcu102, Engine>) {
    let (board, nodes) = script.parts();
    for node in nodes {
        board.log(node.driver.tracer_mut().0);
    }
    interrupt::with_log(|log, device| {
        board.log(log);
        board.text("device");
        board.field("interrupts", device);
        board.text("\n");
    });
    let (end, start) = (&raw const stack_end, &raw const stack_start);
    board.text("stack");
    // SAFETY: the linker's own symbols: the two ends of a painted stack.
    let used = unsafe { stack_used(end, start) };
    board.field("used", used);
    board.field("of", (start as usize).wrapping_sub(end as usize) as u32);
    board.text("\n");
}

/// Handles an unexpected exception: prints its number, its cause (ESR) and its address.
#[no_mangle]
extern "C" fn fault(number: u64, why: u64, place: u64) -> ! {
    let mut board = Zcu102;
    board.text("wrong: exception");
    for value in [number, why, place] {
        board.text(" ");
        for byte in value.to_be_bytes() {
            board.byte(byte);
        }
    }
    board.text("\n");
    cpu::end(1)
}

/// No panic is linked in: the test checks that the image lacks this function.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    cpu::say("wrong: panic\n");
    cpu::end(1)
}
