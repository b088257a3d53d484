// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Short messages one way between two threads, against a bare cache-line ping-pong of the same round.
//!
//! Three ping-pongs in turn: a bare line in each direction; a mailbox message of 56 bytes; a whole
//! LND message (submit, credits, encode, checksum, mailbox, decode, checks, the upper layer's
//! verdict, copy, report) with a header of 72 and a payload of 56 bytes, through two drivers. No
//! descriptor is involved, so the engines, which elsewhere are hardware, are not stepped meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant;

use lnd_bench::pair::{fragments, pair, Node};
use lnd_bench::probe::{agree, Patience, Probe, LINE, QUIT};
use lnd_bench::wire::Window;
use lnd_bench::{place, Column, Options, Table};
use lnd_core::fragment::Fragment;
use lnd_shortmsg::mailbox::spsc::{channel, Producer};
use lnd_shortmsg::mailbox::{Consumer, Line, MailboxGeometry, Outlet};

const MAILBOX: u32 = 2;
const LND: u32 = 3;
const BYTES: usize = 56;

/// One side of a mailbox in each direction.
struct Ends {
    out: Producer<'static>,
    back: Consumer<'static>,
}

fn ends() -> (Ends, Ends) {
    let geometry = MailboxGeometry::new(64, 64).unwrap();
    let lines = geometry.bytes_needed() / size_of::<Line>();
    let make = || channel(vec![Line::ZERO; lines].leak(), geometry).unwrap();
    let (there, back) = (make(), make());
    (Ends { out: there.0, back: back.1 }, Ends { out: back.0, back: there.1 })
}

impl Ends {
    /// Takes a message if there is one, and sends the same bytes back.
    fn echo(&mut self) {
        let mut frame = [0; 64];
        if let Some(message) = self.back.recv(&mut frame).unwrap() {
            self.out.send(message).unwrap();
        }
    }

    fn one_way(&mut self, probe: &Probe, trips: u32) -> f64 {
        probe.set_mode(MAILBOX);
        let mut message = [0xa5; BYTES];
        let mut frame = [0; 64];
        let mut trip = |number: u32| {
            message[..4].copy_from_slice(&number.to_le_bytes());
            self.out.send(&message).unwrap();
            let mut patience = Patience::default();
            loop {
                patience.look();
                if let Some(back) = self.back.recv(&mut frame).unwrap() {
                    assert!(back.len() == BYTES && back[..4] == number.to_le_bytes());
                    return;
                }
            }
        };
        trip(0);
        let begin = Instant::now();
        for number in 1..=trips {
            trip(number);
        }
        begin.elapsed().as_nanos() as f64 / f64::from(trips) / 2.0
    }
}

fn lnd_one_way(probe: &Probe, node: &mut Node, payload: &[Fragment], trips: u32) -> f64 {
    probe.set_mode(LND);
    let mut trip = || {
        let came = node.done.1;
        node.put(payload);
        let mut patience = Patience::default();
        while node.done.1 == came {
            patience.look();
            node.poll_messages();
        }
    };
    trip();
    let begin = Instant::now();
    for _ in 0..trips {
        trip();
    }
    begin.elapsed().as_nanos() as f64 / f64::from(trips) / 2.0
}

/// The partner: answers in whatever way is being measured.
fn partner(probe: &Probe, ends: &mut Ends, node: &mut Node, payload: &[Fragment]) {
    let mut patience = Patience::default();
    loop {
        match probe.mode() {
            QUIT => return,
            LINE => probe.answer(),
            MAILBOX => {
                while probe.mode() == MAILBOX {
                    patience.look();
                    ends.echo();
                }
            }
            _ => {
                let mut answered = node.done.1;
                while probe.mode() == LND {
                    patience.look();
                    node.poll_messages();
                    while answered < node.done.1 {
                        answered += 1;
                        node.put(payload);
                    }
                }
            }
        }
    }
}

fn main() {
    let options = Options::read();
    let (here, there) = place::pair();
    let window = Window::new(1 << 16);
    let [mut a, mut b] = pair(window);
    let payload = |offset| fragments(window.address(offset), BYTES);
    a.set_sinks(vec![payload(4096)]);
    b.set_sinks(vec![payload(8192)]);
    let (mut mine, mut theirs) = ends();
    let probe = Probe::default();
    probe.set_mode(LINE);
    let rounds = options.rounds(1001, 5);
    let trips = options.scale(500, 50) as u32;
    let (mut line, mut mailbox, mut lnd) = <(Column, Column, Column)>::default();
    let mut dropped = 0;
    let answers = payload(12_288);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            place::pin(there);
            partner(&probe, &mut theirs, &mut b, &answers);
        });
        place::pin(here);
        for _ in 0..rounds {
            let before = probe.probe();
            let bare = probe.one_way(trips);
            let boxed = mine.one_way(&probe, trips);
            let whole = lnd_one_way(&probe, &mut a, &payload(0), trips);
            if agree(before, probe.probe()) {
                line.push(bare);
                mailbox.push(boxed);
                lnd.push(whole);
            } else {
                dropped += 1;
            }
        }
        probe.set_mode(QUIT);
    });
    let headline = "Short message one way between two threads, ns";
    let table = Table::begin("latency", &options, headline);
    table.line("bare cache line", "ns", &line, None);
    let ratio = mailbox.over(&line);
    table.line("mailbox, 56 bytes", "ns", &mailbox, Some((&ratio, "of the bare line")));
    let ratio = lnd.over(&line);
    table.line("whole LND message, 72 + 56 bytes", "ns", &lnd, Some((&ratio, "of the bare line")));
    println!("  rounds dropped because their probes disagree: {dropped} of {rounds}");
    assert_eq!(a.in_use().0, 0, "everything sent has ended");
}
