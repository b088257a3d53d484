// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Multi-rail worlds that a seed draws: who has which interfaces, what is done to them.

use super::kind::Kind;
use super::plan::{Host, Net, Plan, Profile, Scheduled, What};
use super::rules::{Class, InjectedFault, Rule, Type, Who};
use crate::rng::Rng;

/// The plan of a seed.
pub fn swarm(seed: u64) -> Plan {
    let mut rng = Rng::new(seed ^ 0x7261_696c_7300_0000);
    let mut plan = topology(&mut rng);
    plan.seconds = 1;
    plan.pause_ms = rng.between(5, 30) as u32;
    plan.timeout_ms = rng.between(300, 1_500) as u32;
    plan.retries = (rng.below(2) == 0).then(|| rng.between(0, 4) as u8);
    plan.sensitivity = [100, 100, 250, 50, 1000][rng.below(5) as usize];
    plan.profile = if rng.below(4) == 0 { Profile::LnetCompat } else { Profile::Seed };
    plan.probes = rng.below(2) == 0;
    for _ in 0..rng.below(4) {
        let rule = rule(&mut rng, &plan);
        plan.rules.push(rule);
    }
    for _ in 0..rng.below(5) {
        let event = event(&mut rng, &plan);
        plan.events.push(event);
    }
    plan
}

/// Two or three nodes whose interfaces lie on some of three networks; or two that only a router
/// connects.
fn topology(rng: &mut Rng) -> Plan {
    let names = ["a", "b", "c"];
    let kind = |rng: &mut Rng| Kind::ALL[rng.below(3) as usize];
    let networks =
        names.iter().map(|&name| Net { name: name.into(), kind: kind(rng) }).collect::<Vec<_>>();
    let host =
        |nis: Vec<&str>, router| Host { nis: nis.into_iter().map(String::from).collect(), router };
    let hosts = if rng.below(4) == 0 {
        vec![host(vec!["a"], false), host(vec!["a", "b"], true), host(vec!["b"], false)]
    } else {
        (0..rng.between(2, 3))
            .map(|_| {
                // Every node is on the first network, so that each reaches every other.
                let more = rng.below(3) as usize;
                let more = (0..more).map(|_| names[rng.below(3) as usize]);
                host(std::iter::once("a").chain(more.collect::<Vec<_>>()).collect(), false)
            })
            .collect()
    };
    Plan { networks, hosts, ..Plan::default() }
}

fn who(rng: &mut Rng, plan: &Plan) -> Who {
    let host = rng.below(plan.hosts.len() as u64) as u32;
    match rng.below(3) {
        0 => Who::ANY,
        1 => Who::host(host),
        _ => Who::ni(host, rng.below(2) as u32),
    }
}

fn rule(rng: &mut Rng, plan: &Plan) -> Rule {
    let class = Class::ALL[rng.below(10) as usize];
    let open = class.status().delivery == lnd_core::transfer::Delivery::Unknown;
    let types = [Type::Put, Type::Ack, Type::Get, Type::Reply, Type::Ping];
    let by_time = rng.below(4) == 0;
    let mut rule = Rule {
        from: who(rng, plan),
        to: who(rng, plan),
        types: types.into_iter().filter(|_| rng.below(2) == 0).collect(),
        rate: if by_time { 1 } else { rng.between(1, 20) as u32 },
        interval_ms: if by_time { rng.between(1, 100) as u32 } else { 0 },
        from_ms: rng.below(500) as u32,
        to_ms: Some(rng.between(500, 1_000) as u32),
        ..Rule::default()
    };
    if rng.below(4) == 0 {
        rule.injected = InjectedFault::Delay;
        rule.latency_ms = rng.between(1, 200) as u32;
    } else if rng.below(4) > 0 {
        rule.health = Some(class);
        rule.arrives = open && rng.below(2) == 0;
    }
    rule
}

fn event(rng: &mut Rng, plan: &Plan) -> Scheduled {
    let all = [What::NiDown, What::NiDown, What::Migration, What::Cut, What::Death, What::Drain];
    let hosts = plan.hosts.len() as u64;
    let host = rng.below(hosts) as u32;
    let peer = (host + 1 + rng.below(hosts - 1) as u32) % hosts as u32;
    let ni_of = |rng: &mut Rng, host: u32| {
        let nis = plan.hosts.get(host as usize).map_or(1, |h| h.nis.len() as u64);
        rng.below(nis) as u32
    };
    Scheduled {
        at_ms: rng.below(900) as u32,
        what: all[rng.below(6) as usize],
        host,
        ni: ni_of(rng, host),
        peer: Some(peer),
        peer_ni: ni_of(rng, peer),
        for_ms: rng.between(1, 600) as u32,
        noticed_ms: (rng.below(2) == 0).then(|| rng.below(100) as u32),
    }
}
