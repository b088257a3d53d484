// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The parts of an NI, and the contexts that may use them.
//!
//! An `lnd_ni` has two halves. The *thread's half* ([`Thread`]) is the shard: its driver and
//! everything that belongs to it. The context that uses it holds the NI's lock and has written its
//! id into the owner word. This module relies on that word, not on the lock, so that a lock that
//! does not exclude gives an error and no damage. The *interrupts' half* is one [`Irq`] per link,
//! each with an owner word of its own, and the words of the core.

use core::ffi::CStr;
use core::mem::{align_of, MaybeUninit};

use lnd_core::defect::ordered;
use lnd_core::driver::{Driver, Interrupt, IrqHandle, RxRequest};
use lnd_core::id::LinkId;
use lnd_core::sync::{AtomicU32, Guarded, Ordering};
use lnd_core::time::Instant;
use lnd_core::wake::Wake;
use lnd_dma::driver::CompletionQueue;
use lnd_shortmsg::dispatch::Receiver;

use crate::abi::{lnd_error, LND_NEVER};
use crate::offered::Offered;
use crate::platform::{Locked, Platform};
use crate::ports::Host;
use crate::registers::Registers;
use crate::tally::{Tally, Totals};

const ALIVE: u32 = 0x4c4e_4449;
const DEAD: u32 = 0x6465_6164;

/// struct lnd_ni - One network interface: one shard with its links and peers. Opaque.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct lnd_ni {
    magic: AtomicU32,
    /// Id of the context in the thread's half; zero: none.
    owner: AtomicU32,
    /// Id of the context in `lnd_run()`.
    pub(crate) runner: AtomicU32,
    wake: Wake,
    /// Links whose registers report a change; one bit each.
    pub(crate) link_changes: AtomicU32,
    misuses: AtomicU32,
    pub(crate) tally: &'static Tally,
    pub(crate) platform: &'static Platform,
    pub(crate) irq_handle: IrqHandle<'static>,
    pub(crate) irqs: &'static [Irq],
    /// Connections may be out of service one by one.
    pub(crate) connects: bool,
    thread: &'static ThreadCell,
}

/// The thread's half in its place.
#[derive(Debug)]
pub(crate) struct ThreadCell(pub Guarded<MaybeUninit<Thread>>);

/// The thread's half.
pub(crate) struct Thread {
    pub driver: &'static mut Driver<'static, Host>,
    pub receiver: Receiver,
    /// Requests in the channel that wait for their decision, by link.
    pub offered: &'static mut [Offered],
    /// Kept requests that wait for their decision, by slot.
    pub parked: &'static mut [Option<RxRequest<'static>>],
    pub totals: &'static mut Totals,
    /// A frame was answered with `LND_E_WAIT` since `wake` last reported room.
    pub frame_waits: bool,
    /// The time that the last run gave for the next one.
    pub next_run: u64,
    /// How often time has passed.
    pub runs: u32,
}

impl Thread {
    /// Adds what was counted outside the lock since the last call.
    pub fn follow(&mut self, ni: &lnd_ni) {
        let tallies = core::iter::once(ni.tally).chain(ni.irqs.iter().map(|irq| &irq.tally));
        self.totals.follow(tallies, ni.misuses.load(Ordering::Relaxed));
    }

    /// Whether the NI must be run before the time that the last run gave. What the last call has
    /// changed is usually due later: a deadline, the end of a message. Waking a thread costs more
    /// than all of the call.
    pub fn wants_run(&mut self, now: Instant) -> bool {
        if self.driver.tracer_mut().has_events() || !self.driver.nothing_to_report() {
            return true;
        }
        !self.driver.is_quiet(now) && self.next_time(now) < self.next_run
    }

    /// When the NI must be run next.
    pub fn next_time(&self, now: Instant) -> u64 {
        self.driver.next_time(now).map_or(LND_NEVER, Instant::as_nanos)
    }

    /// Whether frames that were answered with `LND_E_WAIT` are to be offered again: the host does
    /// so after `wake`.
    pub fn offers_again(&mut self) -> bool {
        let offer = self.frame_waits && self.driver.offer_again();
        self.frame_waits &= !offer;
        offer
    }
}

type LinkInterrupt = Interrupt<'static, CompletionQueue<'static, Registers>>;

/// The interrupts' half of one link.
#[derive(Debug)]
pub(crate) struct Irq {
    /// Id of the context inside; zero: none.
    owner: AtomicU32,
    /// `None`: the engine has no ring and uses [`lnd_completed`](crate::interrupts::lnd_completed).
    entered: Guarded<Option<LinkInterrupt>>,
    pub tally: Tally,
}

// SAFETY: only the context whose id the owner word holds enters the cell.
unsafe impl Sync for Irq {}
// SAFETY: only the context whose id the owner word of the NI holds enters the cell.
unsafe impl Sync for ThreadCell {}

impl Irq {
    pub fn new(irq_handle: IrqHandle<'static>, registers: Option<Registers>, link: LinkId) -> Self {
        let queue = |it: Registers| CompletionQueue::new(it, it.memory());
        let interrupt = |it| Interrupt::of_link(irq_handle, queue(it), link);
        Self {
            owner: AtomicU32::new(0),
            entered: Guarded::new(registers.map(interrupt)),
            tally: Tally::default(),
        }
    }

    /// Runs `serve` unless another context is inside, or there is no ring.
    pub fn enter<R>(&self, me: u32, serve: impl FnOnce(&mut LinkInterrupt) -> R) -> Option<R> {
        // Acquire: partner is the Release below, of the interrupt before.
        self.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed).ok()?;
        // SAFETY: the owner word was zero and holds our id now: no other context is inside.
        let entered = unsafe { &mut *self.entered.get() };
        let served = entered.as_mut().map(serve);
        // Release: partner is the Acquire above.
        self.owner.store(0, ordered("interrupt-left-relaxed", Ordering::Release));
        served
    }

    pub fn is_busy(&self) -> bool {
        self.owner.load(Ordering::Relaxed) != 0
    }
}

/// The proof of being inside the thread's half. Dropping it first clears the owner word, then
/// releases the lock.
pub(crate) struct Entered<'a> {
    ni: &'a lnd_ni,
    _locked: Locked<'a>,
}

impl lnd_ni {
    pub(crate) fn new(
        platform: &'static Platform,
        irq_handle: IrqHandle<'static>,
        irqs: &'static [Irq],
        connects: bool,
        thread: &'static ThreadCell,
        tally: &'static Tally,
    ) -> Self {
        Self {
            magic: AtomicU32::new(ALIVE),
            owner: AtomicU32::new(0),
            runner: AtomicU32::new(0),
            wake: Wake::new(),
            link_changes: AtomicU32::new(0),
            misuses: AtomicU32::new(0),
            tally,
            platform,
            irq_handle,
            irqs,
            connects,
            thread,
        }
    }

    /// The NI behind a caller's pointer. Context: any.
    ///
    /// # Safety
    /// The pointer is null, or to memory that can be read as an NI for `'a`.
    pub(crate) unsafe fn of<'a>(ni: *const Self) -> Result<&'a Self, lnd_error> {
        if ni.is_null() {
            return Err(lnd_error::LND_E_NULL);
        }
        if ni as usize % align_of::<Self>() != 0 {
            return Err(lnd_error::LND_E_ALIGN);
        }
        // SAFETY: aligned, and readable by the caller's promise. Memory that is not an NI, or no
        // longer one, lacks the magic number, which is an atomic and valid whatever it holds.
        let magic = unsafe { &(*ni).magic };
        // Relaxed: creation and destruction are ordered by the caller.
        if magic.load(Ordering::Relaxed) != ALIVE {
            return Err(lnd_error::LND_E_NI);
        }
        // SAFETY: it has the magic number, so `lnd_ni_create` made it.
        Ok(unsafe { &*ni })
    }

    /// Counts a misuse and reports it to the platform.
    pub(crate) fn misuse(&self, error: lnd_error, what: &'static CStr) -> lnd_error {
        // Relaxed: a count.
        self.misuses.fetch_add(1, Ordering::Relaxed);
        self.platform.bug(what);
        error
    }

    /// Enters the thread's half. Context: thread, with nothing held.
    pub(crate) fn enter(&self) -> Result<Entered<'_>, lnd_error> {
        if self.platform.in_interrupt() {
            return Err(self.misuse(lnd_error::LND_E_CONTEXT, c"thread call in an interrupt"));
        }
        let me = self.platform.self_id();
        // Relaxed: only we write our own id, so we read it only where we have left it. Without
        // `self_id` an interrupt on another processor has the same one.
        let entered = self.owner.load(Ordering::Relaxed) == me
            || self.platform.knows_callers()
                && self.irqs.iter().any(|irq| irq.owner.load(Ordering::Relaxed) == me);
        if entered {
            return Err(self.misuse(lnd_error::LND_E_REENTRY, c"call from inside an operation"));
        }
        let locked = self.platform.lock();
        // Acquire: partner is the Release in `Entered::drop`.
        if self.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed).is_err() {
            drop(locked);
            return Err(self.misuse(lnd_error::LND_E_BUSY, c"lock() does not exclude"));
        }
        let entered = Entered { ni: self, _locked: locked };
        // The NI may have been destroyed while we waited for the lock.
        let alive = self.magic.load(Ordering::Relaxed) == ALIVE;
        if !alive {
            return Err(lnd_error::LND_E_NI);
        }
        Ok(entered)
    }

    /// Ensures that a run follows. Context: any.
    pub(crate) fn wake(&self) {
        if self.wake.call() {
            self.platform.wake();
        }
    }

    /// Leaves, and ensures that a run follows if there is work before the next one.
    pub(crate) fn exit(&self, mut entered: Entered<'_>, now: Instant) {
        let thread = entered.thread();
        let run = thread.wants_run(now) | thread.offers_again();
        drop(entered);
        if run {
            self.wake();
        }
    }

    /// Begins a run. It sees everything done before a `wake` that requested no further run.
    pub(crate) fn start_run(&self) {
        self.wake.begin();
    }
}

impl Entered<'_> {
    /// The thread's half.
    pub fn thread(&mut self) -> &mut Thread {
        // SAFETY: the owner word holds the id of the context that has this `Entered`, and each id
        // has one `Entered` at most: `enter` refuses a second. The cell was written before
        // `lnd_ni_create` returned the NI.
        let cell = unsafe { &mut *self.ni.thread.0.get() };
        // SAFETY: written before `lnd_ni_create` returned the NI.
        unsafe { cell.assume_init_mut() }
    }

    /// Ends the NI: every later call refuses it.
    pub fn mark_dead(&mut self) {
        self.ni.magic.store(DEAD, Ordering::Relaxed);
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // Release: partner is the Acquire in `enter`.
        self.ni.owner.store(0, ordered("thread-left-relaxed", Ordering::Release));
    }
}
