// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Seeded defects of what constant functions say: they are put behind their callers, since a build with
//! defects cannot seed a constant function (`lnd_core::defect`). In what is shipped each one is its
//! argument.

use crate::effect::Resend;
use crate::judge::{Change, Verdict};
use crate::probe_kind::ProbeKind;
use crate::prober::{Life, ProbeEnd};
use lnd_core::defect::seeded;

/// What the end of a try does, unless a defect changes it; `late`: its deadline had passed.
#[inline]
pub(crate) fn misjudged(verdict: Verdict, late: bool) -> Verdict {
    let mut it = verdict;
    if seeded("never-sent-again") {
        it.resend = Resend::No;
    }
    if seeded("timeout-spares-ours") && it.local == Change::Doubt
        || seeded("late-is-no-evidence") && late
    {
        it.local = Change::Keep;
    }
    if seeded("late-is-no-evidence") && late {
        it.remote = Change::Keep;
    }
    it
}

/// What the end of a probe says, unless a defect misreads it.
#[inline]
pub(crate) fn misread(end: ProbeEnd) -> Life {
    match end {
        ProbeEnd::AccessError if seeded("access-error-is-death") => Life::Dead,
        ProbeEnd::RetryExceeded if seeded("retry-exceeded-is-nothing") => Life::Unknown,
        ProbeEnd::Other if seeded("anything-is-death") => Life::Dead,
        _ => end.verdict(),
    }
}

/// Whether a defect turns a kind of probe on that is off until a trial or an operator turns it on.
#[inline]
pub(crate) fn on_too_early(kind: ProbeKind) -> bool {
    match kind {
        ProbeKind::IllegalRead => seeded("illegal-read-untried"),
        ProbeKind::Noop => seeded("two-sided-by-default"),
        ProbeKind::ZeroRead | ProbeKind::PublishedWord => false,
    }
}
