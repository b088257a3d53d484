// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Requests that an upper layer keeps before it decides (LNet's delayed matching,
//! `lnd_eager_recv`).

use std::cell::Cell;
use std::rc::Rc;

use lnd_core::driver::{RequestKind, RxRequest};
use lnd_core::fragment::Fragment;
use lnd_core::ports::{Channel, Memory, Tracer};
use lnd_core::time::{Instant, Span};

use super::glue::Node;
use crate::rng::Rng;

/// Which requests are kept, and for how long.
#[derive(Debug)]
pub struct Keeping {
    /// Requests kept, per million, and the longest such time in microseconds.
    pub rates: Rc<Cell<(u32, u32)>>,
    /// Decides which.
    pub rng: Rng,
}

impl Keeping {
    /// Until when the next request is kept; `None`: it is decided at once.
    pub(super) fn until(&mut self, now: Instant) -> Option<Instant> {
        let (rate, longest) = self.rates.get();
        if rate == 0 || !self.rng.chance(rate) {
            return None;
        }
        Some(now.after(Span::from_nanos(self.rng.below(u64::from(longest) * 1_000 + 1))))
    }
}

/// A request that is kept, with what was in its frame.
#[derive(Debug)]
pub(super) struct Kept {
    due: Instant,
    rx_request: RxRequest<'static>,
    header: Vec<u8>,
    payload: Vec<u8>,
    tracked: Option<usize>,
}

impl<C: Channel, T: Tracer> Node<'_, C, T> {
    pub(super) fn keep(&mut self, due: Instant, rx_request: RxRequest<'_>, tracked: Option<usize>) {
        let (header, payload) = (rx_request.header.to_vec(), rx_request.payload().to_vec());
        self.kept.push(Kept { due, rx_request: rx_request.detach(), header, payload, tracked });
    }

    /// Requests that are kept.
    pub fn keeps(&self) -> usize {
        self.kept.len()
    }

    /// Decides what was kept long enough, or `all` of it. Returns when there is more to decide.
    pub fn decide_kept(&mut self, now: Instant, all: bool) -> Option<Instant> {
        let (due, kept): (Vec<_>, Vec<_>) =
            self.kept.drain(..).partition(|kept| all || kept.due <= now);
        self.kept = kept;
        for Kept { rx_request, header, payload, tracked, .. } in due {
            let copied = (rx_request.kind() == RequestKind::Immediate).then_some(&payload[..]);
            self.decide(now, rx_request, &header, copied, tracked);
        }
        self.kept.iter().map(|kept| kept.due).min()
    }

    /// Copies an inline payload that the driver does not have any more. Returns the length that is
    /// left for the driver to copy: nothing.
    pub(super) fn copy_in(&mut self, sink: &[Fragment], payload: &[u8], length: u32) -> u32 {
        let mut rest = payload.get(..length as usize).unwrap_or(payload);
        for fragment in sink {
            let (part, after) = rest.split_at(rest.len().min(fragment.length as usize));
            if self.window.write(fragment.address, part).is_err() {
                self.stats.violations.push("a sink outside of the window".into());
            }
            rest = after;
        }
        0
    }
}
