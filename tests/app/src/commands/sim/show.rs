// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What runs of the simulator tell, as JSON.

use lnd_core::counters::{Counter, Counters};
use lnd_sim::rails::Report;
use lnd_sim::simulator::{Coverage, Facts, Failure};
use lnd_sim::world::Summary;
use serde_json::{json, Map, Value};

/// Prints a line to standard error; there is no place to report that this failed.
pub fn to_stderr(line: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn facts(it: &Facts) -> Value {
    json!({
        "result": "ok",
        "seed": it.seed,
        "steps": it.steps,
        "ended_ns": it.ended.as_nanos(),
        "hash": format!("{:016x}", it.hash),
        "requests": it.requests,
        "answered": it.answered,
        "delivered": it.delivered,
        "faults": it.faults,
    })
}

/// Counters that are not zero, by name.
fn counters(it: &Counters) -> Value {
    let all = Counter::ALL.iter().map(|&counter| (counter.name(), it.value(counter)));
    let counted = all.filter(|(_, count)| *count > 0);
    counted.map(|(name, count)| (name.to_owned(), count.into())).collect::<Map<_, _>>().into()
}

/// A run of a world with one interface a node.
pub fn summary(it: &Summary) -> Value {
    let mut shown = facts(&it.facts);
    let stats = it.stats();
    let roles: Map<String, Value> = stats
        .roles
        .iter()
        .map(|(role, ends)| {
            let (ok, failed, raced) = (ends.ok, ends.failed, ends.lost_races);
            let ends = json!({ "ok": ok, "failed": failed, "ok_after_cancel": raced });
            ((*role).to_owned(), ends)
        })
        .collect();
    let failures: Vec<Value> = stats
        .failures
        .iter()
        .map(|((errno, class), n)| json!({ "errno": errno, "class": class, "count": n }))
        .collect();
    let nodes: Vec<Value> = it
        .nodes
        .iter()
        .map(|node| {
            json!({
                "incarnations": node.incarnations, "transitions": node.traced,
                "forwarded": node.forwarded, "counters": counters(&node.counters),
            })
        })
        .collect();
    let refused = it.refused.iter().filter(|(_, count)| *count > 0);
    let refused: Map<String, Value> =
        refused.map(|(error, count)| (error.to_string(), count.into())).collect();
    shown["links"] = it.links.into();
    shown["routed"] = it.routed.into();
    shown["byzantine"] = it.byzantine.into();
    shown["roles"] = roles.into();
    shown["failures"] = failures.into();
    shown["frames_refused"] = refused.into();
    shown["counters"] = counters(&it.counters);
    shown["nodes"] = nodes.into();
    shown
}

/// A run of a world with several.
pub fn report(it: &Report) -> Value {
    let mut shown = facts(&it.facts);
    let (mut health, mut samples) = (Map::new(), Vec::new());
    for (_, name, count) in it.events().into_iter().filter(|(group, ..)| *group == "health") {
        health.insert(name, count.into());
    }
    for sample in &it.samples {
        samples.push(json!({ "ms": sample.ms, "health": sample.values }));
    }
    let nodes = it
        .nodes
        .iter()
        .map(|node| json!({ "incarnations": node.incarnations, "journal": node.journal }));
    shown["interfaces"] = it.specs.len().into();
    shown["healed_ms"] = it.healed_ms.into();
    shown["health"] = health.into();
    shown["samples"] = samples.into();
    shown["nodes"] = nodes.collect();
    shown
}

/// A run in which a rule was broken.
pub fn failure(it: &Failure) -> Value {
    let promise = it.promise();
    json!({
        "result": if it.step == 0 { "not run" } else { "failed" },
        "seed": it.seed,
        "step": it.step,
        "at_ns": it.at.as_nanos(),
        "rule": promise.map(|(id, _)| id),
        "promised": promise.map(|(_, words)| words),
        "happened": it.happened(),
        "faults": it.faults,
        "last": it.last,
        "command": it.command,
    })
}

/// Which events were reached.
pub fn coverage(it: &Coverage) -> Value {
    let events: Vec<Value> = it
        .events()
        .map(|(group, name, reached)| {
            let (seeds, times) = (reached.seeds, reached.times);
            json!({ "group": group, "event": name, "seeds": seeds, "times": times })
        })
        .collect();
    json!({ "seeds": it.seeds, "events": events })
}
