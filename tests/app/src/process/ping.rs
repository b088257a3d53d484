// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd ping`: bytes go to a server and come back.

use std::path::Path;

use indicatif::ProgressBar;
use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use serde_json::json;

use super::client::{ask, Next, Words};
use super::{signals, Broken, Setup};
use crate::files::{Job, JobDone, FIXED_BYTES, MAX_MESSAGE};

/// Most bytes of a ping.
pub const PING_BYTES: u32 = (MAX_MESSAGE - FIXED_BYTES) as u32;

/// What to ping with.
#[derive(Clone, Copy, Debug)]
pub struct PingPlan {
    /// How often.
    pub count: u32,
    /// Bytes.
    pub size: u32,
    /// From the begin of one to the begin of the next.
    pub interval: Span,
    /// One of several is lost after so long.
    pub wait: Span,
    /// Whether the answer is JSON.
    pub json: bool,
}

/// How the pings went.
#[derive(Debug, Default)]
struct Pings {
    begun: u32,
    began: Option<Instant>,
    /// Microseconds of each that was answered.
    times: Vec<f64>,
}

impl Pings {
    fn on_done(&mut self, to: Nid, plan: &PingPlan, done: &JobDone) {
        let number = self.begun;
        if done.error.is_some() {
            if !plan.json && plan.count > 1 {
                crate::say!("no answer from {to}: number {number}");
            }
            return;
        }
        let micros = done.duration().as_nanos() as f64 / 1e3;
        self.times.push(micros);
        if !plan.json && plan.count > 1 {
            crate::say!("{} bytes from {to}: number {number}, {micros:.1} µs", plan.size);
        }
    }

    fn tell(&mut self, to: Nid, plan: &PingPlan) {
        let (sent, answered) = (self.begun, self.times.len() as u32);
        let lost = sent.saturating_sub(answered);
        self.times.sort_by(f64::total_cmp);
        let at = |part: usize| {
            self.times.get((self.times.len() * part / 100).min(self.times.len().saturating_sub(1)))
        };
        let sum: f64 = self.times.iter().sum();
        let average = (answered > 0).then(|| sum / f64::from(answered));
        if plan.json {
            let shown = json!({
                "peer": to.to_string(), "bytes": plan.size,
                "sent": sent, "answered": answered, "lost": lost,
                "us": {
                    "min": at(0), "avg": average, "p50": at(50), "p99": at(99), "max": at(100),
                },
            });
            crate::output::document(&shown);
        } else if plan.count == 1 {
            if let Some(micros) = average {
                crate::say!("{to} is alive: {micros:.1} µs");
            }
        } else {
            let percent = f64::from(lost) * 100.0 / f64::from(sent.max(1));
            crate::say!("{sent} sent, {answered} answered, {lost} lost ({percent:.0} %)");
            if let (Some(min), Some(average), Some(max)) = (at(0), average, at(100)) {
                crate::say!("min/avg/max {min:.1}/{average:.1}/{max:.1} µs");
            }
        }
    }
}

/// Has bytes sent back. Whether all that were sent have come back.
///
/// # Errors
/// The fabric or the server; of several pings, none was answered.
pub fn ping(setup: &Setup, to: Nid, plan: &PingPlan) -> Result<bool, Broken> {
    signals::catch();
    if plan.json {
        crate::output::use_stderr();
    }
    let words =
        Words { what: &format!("ping {to}"), local: Path::new(""), bar: ProgressBar::hidden() };
    let mut pings = Pings::default();
    let several = plan.count > 1;
    let next = |now: Instant, done: Option<&JobDone>| {
        if let Some(done) = done {
            pings.on_done(to, plan, done);
            let is_over = signals::stopped() || crate::output::has_failed();
            if pings.begun >= plan.count || is_over {
                return Next::End;
            }
            let due = pings.began.map_or(now, |began| began.after(plan.interval));
            if now < due {
                return Next::At(due);
            }
        }
        pings.begun += 1;
        pings.began = Some(now);
        let deadline = if several { now.after(plan.wait) } else { Instant::NEVER };
        Next::Job(Job::ping(to, vec![0x5a; plan.size as usize], deadline))
    };
    let asked = ask(setup, to, &words, Box::new(next));
    if pings.begun > 0 && (several || asked.is_ok()) {
        pings.tell(to, plan);
    }
    // Of several some may be lost: that is what pings are for.
    match asked {
        Err(error) if pings.times.is_empty() => Err(error),
        _ => Ok(pings.begun as usize == pings.times.len()),
    }
}
