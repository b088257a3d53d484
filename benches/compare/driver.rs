// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the driver does when something goes down, and when several threads submit.

use std::sync::Mutex;
use std::time::Instant;

use lnd_bench::floor::Floor;
use lnd_bench::mock::{Rig, LINK};
use lnd_bench::peer_down::Scene;
use lnd_bench::{clock, place, Options};
use lnd_core::config::Config;
use lnd_core::driver::Kind;
use lnd_core::fragment::Fragment;
use lnd_core::message::Message;
use lnd_core::ports::Sent;

use super::tables::Load;
use super::Out;

const PAYLOAD: [Fragment; 1] = [Fragment::new(0x1000, 65_536)];

/// A dead peer's transfers drain while another peer is served.
fn drain(out: &Out, outstanding: usize) {
    let mut floor = Floor::new(outstanding);
    (0..outstanding as u64).for_each(|user| floor.begin(user));
    let begin = clock::spent();
    assert_eq!(floor.sweep(), outstanding);
    let each = |spent: f64| spent / outstanding as f64;
    out.say("drain", "floor", "ns", each((clock::spent() - begin) as f64));
    let cost = Scene::new(outstanding, true).drain();
    out.say("drain", "project", "ns", each(cost.drain));
    out.say("drain-other-peer-p99", "floor", "ns", cost.alone.quantile(0.99));
    out.say("drain-other-peer-p99", "project", "ns", cost.meanwhile.quantile(0.99));
    out.say("drain-longest-step", "project", "ns", cost.longest);
}

/// A link fails: from the report until every transfer has been reported, without the time that the
/// engine takes to stop.
fn link_failure(out: &Out, outstanding: usize) {
    let mut config = Config::new(outstanding as u32 + 64, 4, 1);
    (config.passive_slots, config.lists) = (1, 0);
    let mut rig = Rig::new(config);
    rig.driver.engine_mut(LINK).unwrap().stops = true;
    rig.meet(1);
    for n in 0..outstanding {
        let request = rig.request(Kind::Put, 1, &PAYLOAD);
        let tag = rig.driver.submit(rig.now, request).unwrap().tag().unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        let envelope = rig.envelope(1, n as u32 + 1, (n + 2) as u16);
        let _ = rig.driver.on_message(rig.now, LINK, &envelope, &Message::Noop);
    }
    let poll = Config::new(2, 1, 1).link_poll;
    let begin = clock::spent();
    rig.driver.on_link(rig.now, LINK, false);
    let mut reported = 0;
    while reported < outstanding {
        rig.driver.on_time(rig.now);
        // What has no event is polled for: the time passes without being waited for.
        rig.now = rig.now.after(poll);
        while let Some(report) = rig.driver.next_report(rig.now) {
            assert_ne!(report.status.errno, 0, "nothing has moved");
            reported += 1;
        }
    }
    out.say("link-failure", "project", "us", (clock::spent() - begin) as f64 / 1000.0);
    assert_eq!(rig.driver.in_use(), (0, 0));
}

/// Nanoseconds of each of so many transfers of some threads that share a driver behind a lock.
fn submit(threads: usize, transfers: usize) -> f64 {
    let load = Mutex::new(Load::new(64, 1, false));
    let places = place::processors();
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (load, places) = (&load, &places);
            scope.spawn(move || {
                place::pin(places[thread % places.len()]);
                for _ in 0..transfers / threads {
                    load.lock().unwrap().run_one();
                }
            });
        }
    });
    let each = begin.elapsed().as_nanos() as f64 / (transfers / threads * threads) as f64;
    load.into_inner().unwrap().finish();
    each
}

pub fn run(options: &Options) {
    let most = options.scale(1_000_000, 5000) as usize;
    for round in 0..options.rounds(5, 1) {
        let out = Out { between: "one thread", round, placement: None };
        place::pin(place::pair().0);
        drain(&out, most);
        link_failure(&out, options.scale(10_000, 500) as usize);
        let out = Out { between: "threads", round, placement: None };
        let transfers = options.scale(400_000, 2000) as usize;
        out.say("submitters", "floor", "ns", submit(1, transfers));
        out.say("submitters", "project", "ns", submit(4, transfers));
    }
}
