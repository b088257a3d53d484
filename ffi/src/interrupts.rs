// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The calls for interrupts.

use lnd_core::driver::Served;
use lnd_core::id::{LinkId, Tag};
use lnd_core::ports::Completion;
use lnd_core::sync::Ordering;
use lnd_core::time::Instant;
use lnd_dma::regs::InterruptBits as Bits;

use crate::abi::{lnd_error, lnd_tag};
use crate::engine::returned as came_back;
use crate::errors::outcome;
use crate::input::{given, place_if, put_if};
use crate::ni::lnd_ni;
use crate::tracing::IrqTrace;

/// lnd_interrupt() - A link's engine has raised an interrupt.
/// @ni: the NI.
/// @link: the link.
/// @budget: most completions to take, at least 1.
/// @now: the time.
/// @more: 1 is written if the budget ran out, else 0; may be NULL.
///
/// Acknowledges the engine's interrupt, takes completions, decides transfers, and wakes the thread
/// if a report is due. Call it again if @more is 1; a call without need is harmless. An interrupt
/// status that no working device shows is counted. No completion is taken then, and the link fails
/// until the device is proven stopped: see lnd_assert_stopped().
///
/// Context: any; one call at a time for each link, links concurrently. Takes no lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_ARGUMENT, LND_E_BUSY (a
/// call for this link is under way; nothing was done), LND_E_UNSUPPORTED (the engine is operations,
/// see lnd_completed()).
#[no_mangle]
pub unsafe extern "C" fn lnd_interrupt(
    ni: *mut lnd_ni,
    link: u32,
    budget: u32,
    now: u64,
    more: *mut u32,
) -> lnd_error {
    outcome(given!(interrupt(ni, link, budget, now, more)))
}

unsafe fn interrupt(
    ni: *mut lnd_ni,
    link: u32,
    budget: u32,
    now: u64,
    more: *mut u32,
) -> Result<(), lnd_error> {
    let ni = given!(lnd_ni::of(ni))?;
    place_if(more)?;
    if budget == 0 {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    let irq = ni.irqs.get(link as usize).ok_or(lnd_error::LND_E_LINK)?;
    if ni.platform.is_engine() {
        return Err(lnd_error::LND_E_UNSUPPORTED);
    }
    let id = LinkId::new(link as usize).ok_or(lnd_error::LND_E_LINK)?;
    let served = irq.enter(ni.platform.self_id(), |entered| {
        let mut trace = IrqTrace(ni.platform);
        let (bits, served) = match entered.queue_mut().acknowledge() {
            Some(bits) => {
                (bits, entered.on_interrupt(Instant::from_nanos(now), budget, &mut trace))
            }
            None => {
                // A status that no working device shows proves neither a completion nor a link
                // change (INV-3).
                entered.on_impossible_status(id);
                (Bits::empty(), Served { wake: true, ..Served::default() })
            }
        };
        irq.tally.show(entered.counters());
        // Relaxed: counts.
        irq.tally.interrupts.fetch_add(1, Ordering::Relaxed);
        irq.tally.completions.fetch_add(served.taken, Ordering::Relaxed);
        let link_changed = bits.contains(Bits::LINK);
        if link_changed {
            // Relaxed: `wake` orders it.
            ni.link_changes.fetch_or(1 << link, Ordering::Relaxed);
        }
        (served, served.wake || link_changed)
    });
    let Some((served, wake)) = served else {
        return Err(ni.misuse(lnd_error::LND_E_BUSY, c"two interrupts of one link at a time"));
    };
    if wake {
        ni.wake();
    }
    given!(put_if(more, u32::from(served.more)))
}

/// lnd_completed() - A descriptor came back from an engine that is operations.
/// @ni: the NI.
/// @link: the link on which it was posted.
/// @tag: its tag.
/// @returned: enum lnd_returned, except LND_RETURNED_UNKNOWN.
/// @now: the time.
///
/// The engine no longer reads or writes the descriptor's memory, and no key of it is valid; for a
/// staged descriptor this holds for every node's engine. Decides the transfer, and wakes the thread
/// if a report is due. A tag that is not out, on this link and of this generation, is counted and
/// has no effect.
///
/// Context: any, also inside, concurrently. Takes no lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_ARGUMENT (@returned),
/// LND_E_UNSUPPORTED (the engine has registers, see lnd_interrupt()).
#[no_mangle]
pub unsafe extern "C" fn lnd_completed(
    ni: *mut lnd_ni,
    link: u32,
    tag: lnd_tag,
    returned: u32,
    now: u64,
) -> lnd_error {
    outcome(given!(completed(ni, link, tag, returned, now)))
}

unsafe fn completed(
    ni: *mut lnd_ni,
    link: u32,
    tag: lnd_tag,
    returned: u32,
    now: u64,
) -> Result<(), lnd_error> {
    let ni = given!(lnd_ni::of(ni))?;
    if !ni.platform.is_engine() {
        return Err(lnd_error::LND_E_UNSUPPORTED);
    }
    let link = LinkId::new(link as usize).filter(|link| link.index() < ni.irqs.len());
    let link = link.ok_or(lnd_error::LND_E_LINK)?;
    let returned = came_back(returned).ok_or(lnd_error::LND_E_ARGUMENT)?;
    let tag = Tag { index: tag.index, generation: tag.generation };
    let (completion, mut trace) = (Completion { tag, returned }, IrqTrace(ni.platform));
    let now = Instant::from_nanos(now);
    // Relaxed: a count.
    ni.tally.completions.fetch_add(1, Ordering::Relaxed);
    let mut counters = ni.tally;
    if ni.irq_handle.on_completion_of(now, link, completion, &mut counters, &mut trace) {
        ni.wake();
    }
    Ok(())
}

/// lnd_link_failed() - The platform reports that a link has failed.
/// @ni: the NI.
/// @link: the link.
///
/// Closes the link's gate at once and wakes the thread, which does the rest.
///
/// Context: any. Takes no lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK.
#[no_mangle]
pub unsafe extern "C" fn lnd_link_failed(ni: *mut lnd_ni, link: u32) -> lnd_error {
    let ni = match given!(lnd_ni::of(ni)) {
        Ok(ni) => ni,
        Err(error) => return error,
    };
    match LinkId::new(link as usize).filter(|link| link.index() < ni.irqs.len()) {
        Some(link) => ni.irq_handle.link_failed(link),
        None => return lnd_error::LND_E_LINK,
    }
    ni.wake();
    lnd_error::LND_OK
}
