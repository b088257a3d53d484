// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a node answers. Names and structure follow `lnetctl`.

use lnd_core::counters::Counter;
use lnd_core::driver::Blocker;
use lnd_core::id::LinkId;
use lnd_core::link::LinkState;
use lnd_core::peer::HelloState;
use lnd_core::time::{Instant, Span};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess, StatusBits};
use lnd_sim::fabric::{nid_of, node_of};
use lnd_sim::node::{blocker_words, tag_words, upper_words, words};
use lnd_sim::runtime::Station;
use serde_json::{json, Map, Value};

use super::knobs::{self, OfProcess, Setting};
use super::PARTS;
use crate::process::parse_nid;

/// What a process reports beside its node.
#[derive(Debug)]
pub struct Process {
    /// What it has done.
    pub served: Value,
    /// What it can change.
    pub knobs: OfProcess,
}

/// What a request wants of the process and not of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Take nothing new, let what is open end for so long, then leave.
    Drain(Span),
    /// Set these knobs.
    Set(OfProcess),
}

/// Longest time that a drain may be given.
const LONGEST_GRACE_MS: u64 = 3_600_000;

/// Answers a request of the node.
///
/// # Errors
/// The request makes no sense, in words.
pub fn answer(
    now: Instant,
    station: &mut Station<'_>,
    process: Process,
    request: &Value,
) -> Result<(Value, Option<Order>), String> {
    let word = |name: &str| {
        let found = request.get(name).and_then(Value::as_str);
        found.ok_or_else(|| format!("'{name}' is missing or no text"))
    };
    match word("do")? {
        "show" => Ok((show(now, station, process, word("what")?)?, None)),
        "set" if request.get("knobs").is_some() => set_several(station, &process, request),
        "set" => {
            let set = knobs::check(station, &process.knobs, word("knob")?, &request["value"])?;
            let answer = json!({ "knob": set.name, "before": set.before, "value": set.value });
            Ok((answer, made(station, &[set])))
        }
        "peer" => {
            let nid = parse_nid(word("nid")?)?;
            let up = request["up"].as_bool().ok_or("'up' is missing or no truth value")?;
            let node = node_of(nid).filter(|node| *node < station.fabric().shape().nodes);
            if nid == station.node.driver.identity().nid {
                return Err(format!("{nid} is this node itself"));
            }
            if node.is_none() {
                return Err(format!("{nid} is no peer on this fabric"));
            }
            if station.node.driver.peer(nid).is_none() {
                return Err(format!("{nid}: the node knows no such peer"));
            }
            station.node.driver.on_peer(now, nid, up);
            Ok((json!({ "nid": nid.to_string(), "up": up }), None))
        }
        "drain" => {
            let grace = request["grace_ms"].as_u64().filter(|ms| *ms <= LONGEST_GRACE_MS);
            let grace =
                grace.ok_or_else(|| format!("'grace_ms' is not 0 to {LONGEST_GRACE_MS}"))?;
            Ok((json!({ "grace_ms": grace }), Some(Order::Drain(Span::from_millis(grace)))))
        }
        other => Err(format!("'{other}': there are show, set, peer and drain")),
    }
}

fn show(
    now: Instant,
    station: &mut Station<'_>,
    process: Process,
    what: &str,
) -> Result<Value, String> {
    Ok(match what {
        "net" => net(station, &process.knobs),
        "peer" => peers(now, station),
        "stats" => stats(now, station, process.served),
        "health" => health(station),
        "transfers" => transfers(now, station),
        "nodes" => nodes(station),
        "dump" => dump(now, station, process),
        other => {
            let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
            return Err(format!("'{other}': there are {}", names.join(", ")));
        }
    })
}

fn millis(span: Span) -> f64 {
    // Microseconds are as much as a reader wants.
    (span.as_nanos() / 1_000) as f64 / 1e3
}

fn lower(name: impl std::fmt::Debug) -> String {
    format!("{name:?}").to_lowercase()
}

/// Makes the settings of the node; those of the process are ordered.
fn made(station: &mut Station<'_>, all: &[Setting]) -> Option<Order> {
    all.iter().for_each(|setting| knobs::make(station, setting));
    Some(Order::Set(all.iter().map(|it| (it.name, it.value)).collect()))
}

/// Sets several knobs, or none of them. `tunables` have to be what they are; with `check` nothing
/// is set.
fn set_several(
    station: &mut Station<'_>,
    process: &Process,
    request: &Value,
) -> Result<(Value, Option<Order>), String> {
    let empty = Map::new();
    let table = |name: &str| match request.get(name) {
        None => Ok(&empty),
        Some(it) => it.as_object().ok_or_else(|| format!("'{name}' is no table")),
    };
    let now = tunables(station);
    for (name, wanted) in table("tunables")? {
        let Some(now) = now.get(name) else { return Err(format!("no tunable '{name}'")) };
        // 5 and 5.0 are one number.
        if now != wanted && now.as_f64() != wanted.as_f64() {
            let why = "is fixed when a node starts";
            return Err(format!("'{name}' is {now}, not {wanted}, and {why}"));
        }
    }
    let check =
        |(name, wanted): (&String, &Value)| knobs::check(station, &process.knobs, name, wanted);
    let all: Vec<Setting> = table("knobs")?.iter().map(check).collect::<Result<_, _>>()?;
    let shown = all
        .iter()
        .filter(|it| it.before != it.value)
        .map(|it| json!({ "knob": it.name, "before": it.before, "value": it.value }));
    let answer = json!({ "set": shown.collect::<Vec<_>>() });
    let is_check = request["check"].as_bool().unwrap_or(false);
    Ok((answer, if is_check { None } else { made(station, &all) }))
}

/// A link: the driver's state of it, and what its engine's registers say.
fn link(station: &Station<'_>, link: LinkId) -> Option<Value> {
    let driver = &station.node.driver;
    let state = driver.link_state(link)?;
    let memory = station.fabric().link_memory(node_of(driver.identity().nid)?, link).ok()?;
    let carrier = LinkBits(memory.read(Register::Link)).contains(LinkBits::UP);
    let status = StatusBits(memory.read(Register::Status));
    let engine = match () {
        () if status.contains(StatusBits::STOPPED) => "stopped",
        () if status.contains(StatusBits::RUNNING) => "running",
        () => "not running",
    };
    Some(json!({
        "link": link.index(), "state": lower(state), "carrier": carrier, "engine": engine,
    }))
}

/// What is fixed when a node starts.
fn tunables(station: &Station<'_>) -> Value {
    let config = station.node.driver.config();
    json!({
        "peer_credits": config.depth,
        "peers": config.peers,
        "pulls_per_peer": config.pulls,
        "immediate_bytes_max": config.immediate_max,
        "drain_bound_ms": millis(config.drain_bound),
        "hello_timeout_ms": millis(config.hello_timeout),
        "hello_tries": config.hello_tries,
        "credit_stall_ms": millis(config.credit_stall),
        "decision_bound_ms": millis(config.decision_bound),
    })
}

fn net(station: &Station<'_>, process: &OfProcess) -> Value {
    let driver = &station.node.driver;
    let (me, config) = (driver.identity(), driver.config());
    let links = station.fabric().links();
    let states: Vec<LinkState> = links.filter_map(|it| driver.link_state(it)).collect();
    let is_up = states.contains(&LinkState::Up);
    let (active, passive) = driver.in_use();
    let links: Vec<Value> = station.fabric().links().filter_map(|it| link(station, it)).collect();
    let interface = json!({
        "nid": me.nid.to_string(),
        "status": if is_up { "up" } else { "down" },
        "incarnation": format!("{:016x}", me.incarnation.raw()),
        "state": lower(driver.run_state()),
        "links": links,
        "slots": {
            "all": config.slots, "for peers": config.passive_slots,
            "in use": active + passive, "in use by peers": passive,
        },
        "tunables": tunables(station),
        "knobs": knobs::shown(station, process),
    });
    json!({ "net": [{ "net type": "soft0", "local NI(s)": [interface] }] })
}

/// Every node of the fabric, as its table has it.
fn nodes(station: &Station<'_>) -> Value {
    let fabric = station.fabric();
    let shown = (0..fabric.shape().nodes).map(|number| {
        let found = fabric.node(number);
        json!({
            "nid": nid_of(number).to_string(),
            "state": lower(found.state),
            "incarnation": found.incarnation.map(|it| format!("{:016x}", it.raw())),
        })
    });
    json!({ "nodes": shown.collect::<Vec<_>>() })
}

fn peers(now: Instant, station: &Station<'_>) -> Value {
    let driver = &station.node.driver;
    let all = (0..driver.peers_known()).filter_map(|index| driver.peer_view(index));
    let shown = all.map(|it| {
        let credits = driver.credits_with(it.id);
        let heard = (it.last_heard != Instant::ORIGIN).then(|| millis(now.since(it.last_heard)));
        json!({
            "primary nid": it.nid.to_string(),
            "state": lower(it.state),
            "incarnation": it.incarnation.map(|it| format!("{:016x}", it.raw())),
            "last_heard_ms": heard,
            "session": it.session,
            "max_tx_credits": credits.map(|it| it.depth),
            "available_tx_credits": it.credits,
            "in_flight": it.in_flight,
            "transfers": it.transfers,
            "pulls": it.pulls,
            "pulls_waiting": it.pulls_waiting,
        })
    });
    json!({ "peer": shown.collect::<Vec<_>>() })
}

fn stats(now: Instant, station: &Station<'_>, server: Value) -> Value {
    let node = &station.node;
    let counters = Counter::ALL
        .iter()
        .map(|&it| (it.name().to_owned(), Value::from(node.driver.counters().value(it))));
    let roles = node.stats.roles.iter().map(|(role, it)| {
        let (ok, failed, bytes) = (it.ok, it.failed, it.bytes);
        ((*role).to_owned(), json!({ "ok": ok, "failed": failed, "bytes": bytes }))
    });
    let refused = node.receiver().errors().iter().filter(|(_, count)| *count > 0);
    let refused = refused.map(|(error, count)| (error.to_string(), Value::from(count)));
    let ledger = node.lnet.ledger();
    let incarnation = node.driver.identity().incarnation;
    json!({ "statistics": {
        "incarnation": format!("{:016x}", incarnation.raw()),
        "at_ms": millis(now.since(Instant::ORIGIN)),
        "counters": counters.collect::<Map<_, _>>(),
        "ends": roles.collect::<Map<_, _>>(),
        "messages": {
            "sent": ledger.sent, "send_failed": ledger.send_failed,
            "received": ledger.received, "receive_failed": ledger.receive_failed,
            "dropped": ledger.dropped_in_all(), "forwarded": ledger.forwarded,
        },
        "refused_frames": refused.collect::<Map<_, _>>(),
        "frames_that_waited": station.waited,
        "server": server,
    } })
}

fn health(station: &Station<'_>) -> Value {
    let driver = &station.node.driver;
    let classes =
        station.node.stats.failures.iter().map(
            |((errno, class), count)| json!({ "class": class, "errno": errno, "count": count }),
        );
    let links = station.fabric().links();
    let down = links.filter(|it| driver.link_state(*it).is_some_and(|it| it != LinkState::Up));
    let peers = (0..driver.peers_known()).filter_map(|index| driver.peer_view(index));
    let peers = peers.filter(|it| it.state == HelloState::Down);
    let audit = match driver.audit() {
        Ok(()) => Value::from("all tables agree"),
        Err(broken) => format!("{broken:?}").into(),
    };
    json!({ "health": {
        "failures": classes.collect::<Vec<_>>(),
        "links_down": down.map(LinkId::index).collect::<Vec<_>>(),
        "peers_down": peers.map(|it| it.nid.to_string()).collect::<Vec<_>>(),
        "rules_broken": station.node.stats.violations,
        "audit": audit,
    } })
}

fn transfers(now: Instant, station: &Station<'_>) -> Value {
    let driver = &station.node.driver;
    let all = (0..driver.config().slots).filter_map(|slot| driver.transfer_view(slot));
    let shown = all.map(|it| {
        json!({
            "transfer": tag_words(it.tag),
            "role": lower(it.role),
            "peer": it.peer.map(|peer| peer.to_string()),
            "link": it.link.map(LinkId::index),
            "word": it.word.to_string(),
            "bytes": it.length,
            "left_ms": it.until.map(|until| millis(until.since(now))),
        })
    });
    json!({ "transfers": shown.collect::<Vec<_>>() })
}

fn dump(now: Instant, station: &mut Station<'_>, process: Process) -> Value {
    let mut all = Map::new();
    for part in [
        net(station, &process.knobs),
        nodes(station),
        peers(now, station),
        stats(now, station, process.served),
        health(station),
        transfers(now, station),
    ] {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    let mut blockers = Vec::new();
    let mut from = 0;
    while let Some(blocker) = station.node.driver.blocker(from) {
        blockers.push(Value::from(blocker_words(&blocker)));
        from = match blocker {
            Blocker::Transfer { tag, .. } | Blocker::Unreported { tag } => tag.index + 1,
            Blocker::Link { .. } => break,
        };
    }
    blockers.extend(station.node.lnet.blockers().iter().map(|it| Value::from(upper_words(it))));
    let events = station.node.driver.tracer_mut().history.last().map(
        |(at, trace)| json!({ "at_ms": millis(at.since(Instant::ORIGIN)), "event": words(trace) }),
    );
    all.insert("blockers".into(), blockers.into());
    all.insert("last_events".into(), events.collect());
    all.into()
}
