// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two nodes on QEMU's `virt` board (RISC-V, two harts). Hart 0 is the processor of both nodes.
//! Hart 1 is the hardware: it executes the two engines, takes their doorbells as software
//! interrupts, and raises one on hart 0 for a completion.
//!
//! | context (hart 0) | does |
//! |---|---|
//! | thread | submits, receives messages, reports, calls `on_time`, sleeps |
//! | software interrupt (CLINT) | takes completions and only decides; handles a failed link |
//! | timer interrupt (CLINT) | ends the thread's sleep |
#![no_std]
#![no_main]

mod bell;
mod board;
mod console;
mod engines;
mod hart;
mod interrupt;

use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::ptr::NonNull;

use lnd_core::driver::Interrupt;
use lnd_core::id::Incarnation;
use lnd_core::ports::Features;
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::memory::{LinkGeometry, LinkMemory};
use lnd_fw::channel::{Outlets, PairChannel, Post};
use lnd_fw::engines::Numbers;
use lnd_fw::job::WINDOW;
use lnd_fw::log::Log;
use lnd_fw::memory::{bytes, Bytes, Static, Window};
use lnd_fw::node::{nid, Node, Parts, LINK, LOG, SLOTS, TABLES};
use lnd_fw::print::Text;
use lnd_fw::script::Script;

use bell::Bell;
use board::Virt;
use console::Console;

core::arch::global_asm!(include_str!("start.s"));

const GEOMETRY: LinkGeometry = LinkGeometry { descriptors: SLOTS as u32, lists: 0 };
const LINK_BYTES: usize = GEOMETRY.bytes_needed();

type Engine = MmioEngine<'static, Bell, Numbers>;

/// All memory of the image.
static TABLES_OF: [Static<Bytes<TABLES>>; 2] = [const { Static::new(bytes()) }; 2];
static LINKS: [Static<Bytes<LINK_BYTES>>; 2] = [const { Static::new(bytes()) }; 2];
static WINDOWS: [Static<Bytes<WINDOW>>; 2] = [const { Static::new(bytes()) }; 2];
static POSTS: [Static<Post>; 2] = [const { Static::new(Post::new()) }; 2];
static LOGS: [Static<Log<LOG>>; 2] = [const { Static::new(Log::new()) }; 2];
static NODES: [Static<MaybeUninit<Node<Engine>>>; 2] =
    [const { Static::new(MaybeUninit::uninit()) }; 2];
static SCRIPT: Static<MaybeUninit<Script<Virt, Engine>>> = Static::new(MaybeUninit::uninit());

/// Hart 0, from start to end.
#[no_mangle]
extern "C" fn processor() {
    let mut board = Virt::new();
    board.text("lnd firmware riscv32imac\n");
    let good = match build() {
        Some(script) => {
            let good = script.tell();
            #[cfg(feature = "seed-panic")]
            #[allow(clippy::panic)]
            if good {
                panic!("a seeded defect");
            }
            report(script);
            good
        }
        None => {
            board.text("wrong: the nodes could not be made\n");
            false
        }
    };
    Console.end(good)
}

/// Its stack frame is large, and is freed before the script begins.
#[inline(never)]
fn build() -> Option<&'static mut Script<Virt, Engine>> {
    let (to_b, at_b) = POSTS[0].take()?.split()?;
    let (to_a, at_a) = POSTS[1].take()?.split()?;
    let (memory_a, memory_b) = (link_memory(0)?, link_memory(1)?);
    let (window_a, window_b) = (window(0)?, window(1)?);
    engines::begin([memory_a, memory_b], [window_a, window_b]);
    let a = node(0, memory_a, window_a, to_b, at_a)?;
    let b = node(1, memory_b, window_b, to_a, at_b)?;
    let half = |node: &Node<Engine>, memory| {
        let queue = CompletionQueue::new(Bell(memory), memory);
        (node.driver.irq_handle(), Interrupt::new(node.driver.irq_handle(), queue))
    };
    interrupt::begin([half(a, memory_a), half(b, memory_b)]);
    Some(SCRIPT.take()?.write(Script::new(Virt::new(), [a, b])))
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
    inlets: lnd_fw::channel::Inlets,
) -> Option<&'static mut Node<Engine>> {
    let at = number as usize;
    let parts = Parts {
        number,
        tables: TABLES_OF.get(at)?.take()?,
        engine: MmioEngine::new(LINK, Bell(link), link, Numbers),
        channel: PairChannel::new(nid(1 - number), outlets, link),
        inlets,
        window,
        log: LOGS.get(at)?.take()?,
    };
    let incarnation = Incarnation::from_raw(100 + u64::from(number))?;
    Some(NODES.get(at)?.take()?.write(Node::new(parts, incarnation).ok()?))
}

fn report(script: &mut Script<Virt, Engine>) {
    let (board, nodes) = script.parts();
    interrupt::off();
    for node in nodes {
        board.log(node.driver.tracer_mut().0);
    }
    interrupt::with_log(|log| board.log(log));
    board.stacks();
}

/// No panic is linked in: the test checks that the image lacks this function.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    Console.text("wrong: panic\n");
    Console.end(false)
}
