// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a node's transfers ended.

use std::collections::BTreeMap;

use lnd_core::driver::Role;
use lnd_core::transfer::Status;

/// Ends of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Ended OK.
    pub ok: u64,
    /// Ended OK although it had been cancelled.
    pub lost_races: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Bytes of those that ended OK.
    pub bytes: u64,
}

/// Ends by role and by errno.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Accepted from the upper layer, or by its decision.
    pub accepted: u64,
    /// Refused at the call, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Finalized, by role.
    pub roles: BTreeMap<&'static str, Outcomes>,
    /// Failures by errno and health class.
    pub failures: BTreeMap<(i32, String), u64>,
    /// Rules that were broken; empty, or the run has failed.
    pub violations: Vec<String>,
}

impl Stats {
    /// Notes an end, by which `bytes` were moved.
    pub fn note(&mut self, role: Role, status: &Status, bytes: u32, lost_race: bool) {
        let outcomes = self.roles.entry(name(role)).or_default();
        if status.errno == 0 {
            outcomes.ok += 1;
            outcomes.lost_races += u64::from(lost_race);
            outcomes.bytes += u64::from(bytes);
        } else {
            outcomes.failed += 1;
            let class = format!("{:?}", status.health);
            *self.failures.entry((status.errno, class)).or_default() += 1;
        }
    }

    /// Transfers finalized.
    pub fn finalized(&self) -> u64 {
        self.roles.values().map(|o| o.ok + o.failed).sum()
    }

    /// Adds another incarnation's.
    pub fn merge(&mut self, other: &Self) {
        self.accepted += other.accepted;
        for (why, n) in &other.refused {
            *self.refused.entry(why.clone()).or_default() += n;
        }
        for (role, theirs) in &other.roles {
            let mine = self.roles.entry(role).or_default();
            mine.ok += theirs.ok;
            mine.lost_races += theirs.lost_races;
            mine.failed += theirs.failed;
            mine.bytes += theirs.bytes;
        }
        for (key, n) in &other.failures {
            *self.failures.entry(key.clone()).or_default() += n;
        }
        self.violations.extend(other.violations.iter().cloned());
    }
}

/// What a role is called in reports.
pub const fn name(role: Role) -> &'static str {
    match role {
        Role::Immediate => "send inline",
        Role::PutSource => "PUT, source",
        Role::GetSink | Role::GetPull | Role::PushSink => "GET, sink",
        Role::InlineSink => "receive inline",
        Role::PutSink => "PUT, sink",
        Role::GetSource | Role::PushSource => "GET, source",
        Role::RxRequest | Role::NakPut | Role::NakGet | Role::PutDone | Role::GetDone => "silent",
    }
}
