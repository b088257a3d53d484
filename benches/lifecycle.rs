// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One large PUT's life in the software parts alone: claim → publish → post → complete → finalize →
//! release, with 1 to 65,535 others outstanding.
//!
//! The ports do nothing but record, so what is timed is the driver. One life is: `submit` with a
//! header of 72 bytes and one fragment, the end of its message, the completion of the *oldest*
//! outstanding transfer through the interrupt's `IrqHandle`, and its report. Each 16 lives share a
//! message that returns their credits and a call of `on_time`.
//!
//! The yardstick is the [bare life](lnd_bench::floor) of four locked operations.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_bench::floor::Floor;
use lnd_bench::mock::{Rig, LINK};
use lnd_bench::{clock, place, Column, Options, Table};
use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::driver::Kind;
use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::message::Message;
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};
use lnd_core::time::Span;
use std::collections::VecDeque;

const SLOTS: u32 = 65_536;
/// All but the one slot that must be left to requests of peers.
const MOST: usize = SLOTS as usize - 1;
const OUTSTANDING: [usize; 5] = [1, 64, 4096, 16_384, MOST];
/// Lives that share a credit return and a call of `on_time`.
const BATCH: u64 = 16;
const PAYLOAD: [Fragment; 1] = [Fragment::new(0x1000, 65_536)];

/// A driver with a constant number of transfers outstanding.
struct Load {
    rig: Rig,
    outstanding: VecDeque<Tag>,
    counters: Counters,
    incarnations: u64,
}

impl Load {
    fn new(outstanding: usize) -> Self {
        let mut config = Config::new(SLOTS, 4, 1);
        (config.passive_slots, config.lists) = (1, 0);
        let mut rig = Rig::new(config);
        rig.meet(1);
        let room = VecDeque::with_capacity(MOST);
        let mut load = Self { rig, outstanding: room, counters: Counters::new(), incarnations: 0 };
        while load.outstanding.len() + 1 < outstanding {
            load.begin();
        }
        load
    }

    fn begin(&mut self) {
        let rig = &mut self.rig;
        let tag =
            rig.driver.submit(rig.now, rig.request(Kind::Put, 1, &PAYLOAD)).unwrap().tag().unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        self.outstanding.push_back(tag);
        self.incarnations += 1;
        if self.incarnations.is_multiple_of(BATCH) {
            // The peer has consumed everything so far, the handshake's request included.
            let credits = (self.incarnations + 1) as u16;
            let envelope = rig.envelope(1, self.incarnations as u32, credits);
            let _ = rig.driver.on_message(rig.now, LINK, &envelope, &Message::Noop);
            rig.now = rig.now.after(Span::from_nanos(BATCH * 100));
            rig.driver.on_time(rig.now);
        }
    }

    fn end_oldest(&mut self) {
        let rig = &mut self.rig;
        let tag = self.outstanding.pop_front().unwrap();
        let completion = Completion { tag, returned: Returned::Ok };
        rig.driver.irq_handle().on_completion(
            rig.now,
            completion,
            &mut self.counters,
            &mut NoTrace,
        );
        let report = rig.driver.next_report(rig.now).unwrap();
        assert!(report.tag == tag && report.status.errno == 0);
    }

    fn run(&mut self, incarnations: u64) {
        for _ in 0..incarnations {
            self.begin();
            self.end_oldest();
        }
    }

    fn finish(mut self) {
        while !self.outstanding.is_empty() {
            self.end_oldest();
        }
        assert_eq!(self.rig.driver.in_use(), (0, 0));
        assert_eq!(self.rig.driver.audit(), Ok(()));
    }
}

fn main() {
    let options = Options::read();
    place::pin(place::pair().0);
    if let Some(count) = options.count {
        // For a simulator: the difference of two counts leaves the preparation out.
        Load::new(options.outstanding.unwrap_or(1)).run(count);
        return;
    }
    let rounds = options.rounds(21, 2);
    let incarnations = options.scale(200_000, 20_000);
    let mut loads = OUTSTANDING.map(Load::new);
    // Every slot is touched once before anything is timed.
    for load in &mut loads {
        load.run(options.scale(150_000, 1000));
    }
    let mut columns = OUTSTANDING.map(|_| Column::default());
    let (mut floor, mut bare) = (Floor::new(64), Column::default());
    for _ in 0..rounds {
        let begin = clock::spent();
        for number in 0..incarnations {
            floor.begin(number);
            floor.end_oldest();
        }
        bare.push((clock::spent() - begin) as f64 / incarnations as f64);
        for (load, column) in loads.iter_mut().zip(&mut columns) {
            let begin = clock::spent();
            load.run(incarnations);
            column.push((clock::spent() - begin) as f64 / incarnations as f64);
        }
    }
    let headline = "Life of a large PUT, driver alone: ns of processor time, completed in order";
    let table = Table::begin("lifecycle", &options, headline);
    table.line("bare life, four locked operations", "ns", &bare, None);
    let ratio = columns[0].over(&bare);
    table.line("1 outstanding, beside it", "ns", &columns[0], Some((&ratio, "of the bare life")));
    for (outstanding, column) in OUTSTANDING.iter().zip(&columns) {
        let ratio = column.over(&columns[0]);
        let name = format!("{outstanding} outstanding");
        table.line(&name, "ns", column, Some((&ratio, "of 1 outstanding")));
    }
    counted(&mut loads[0]);
    for load in loads {
        load.finish();
    }
}

/// Locked operations and fences of 1600 lives, if they are being counted.
#[cfg(feature = "count-ops")]
fn counted(load: &mut Load) {
    let incarnations = 1600;
    let _ = lnd_core::sync::tally::take();
    load.run(incarnations);
    let (locked, fences) = lnd_core::sync::tally::take();
    let each = |n: usize| n as f64 / incarnations as f64;
    println!("  a life: {} locked operations, {} full fences", each(locked), each(fences));
    assert!(locked as u64 <= 6 * incarnations && fences as u64 <= incarnations);
}

#[cfg(not(feature = "count-ops"))]
fn counted(_load: &mut Load) {}
