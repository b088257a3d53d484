// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Short messages one way between two threads, against a bare cache-line ping-pong of the same
//! round.
//!
//! Four ping-pongs in turn: a bare line in each direction; a mailbox message of 56 bytes, and one
//! of as many bytes and lines as the frame of the next; a whole LND message (submit, credits,
//! encode, checksum, mailbox, decode, checks, the upper layer's decision, copy, report) with a
//! header of 72 and a payload of 56 bytes, through two drivers. No descriptor is involved, so the
//! engines, which elsewhere are hardware, are not stepped meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant;

use lnd_bench::pair::{fragments, pair, Node, HEADER};
use lnd_bench::probe::{agree, Patience, Probe, LINE, QUIT};
use lnd_bench::shared::Arena;
use lnd_bench::wire::Window;
use lnd_bench::{place, Column, Options, Table};
use lnd_core::fragment::Fragment;
use lnd_shortmsg::mailbox::spsc::{channel, Producer};
use lnd_shortmsg::mailbox::{Consumer, Line, MailboxGeometry, Outlet};

const MAILBOX: u32 = 2;
const LND: u32 = 3;
const FRAME: u32 = 4;
const BYTES: usize = 56;
/// Bytes of the whole message's frame: a short head, 72 and 56.
const FRAME_BYTES: usize = 40 + HEADER.len() + BYTES;

/// One side of a mailbox in each direction, for messages of one length.
struct Ends {
    out: Producer<'static>,
    back: Consumer<'static>,
    mode: u32,
    bytes: usize,
}

fn ends(mode: u32, bytes: usize) -> (Ends, Ends) {
    let slot = (bytes as u32 + 8).next_multiple_of(64);
    let geometry = MailboxGeometry::new(64, slot).unwrap();
    let lines = geometry.bytes_needed() / size_of::<Line>();
    let make = || channel(vec![Line::ZERO; lines].leak(), geometry).unwrap();
    let (there, back) = (make(), make());
    let (a, b) = ((there.0, back.1), (back.0, there.1));
    let end = |(out, back)| Ends { out, back, mode, bytes };
    (end(a), end(b))
}

impl Ends {
    /// Takes a message if there is one, and sends the same bytes back.
    fn echo(&mut self) {
        let mut frame = [0; 192];
        if let Some(message) = self.back.recv(&mut frame).unwrap() {
            self.out.send(message).unwrap();
        }
    }

    fn one_way(&mut self, probe: &Probe, trips: u32) -> f64 {
        probe.set_mode(self.mode);
        let mut message = [0xa5; 192];
        let message = &mut message[..self.bytes];
        let mut frame = [0; 192];
        let mut trip = |number: u32| {
            message[..4].copy_from_slice(&number.to_le_bytes());
            self.out.send(message).unwrap();
            let mut patience = Patience::default();
            loop {
                patience.look();
                if let Some(back) = self.back.recv(&mut frame).unwrap() {
                    assert!(back.len() == message.len() && back[..4] == number.to_le_bytes());
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
fn partner(probe: &Probe, ends: &mut [Ends; 2], node: &mut Node, payload: &[Fragment]) {
    let mut patience = Patience::default();
    loop {
        match probe.mode() {
            QUIT => return,
            LINE => probe.answer(),
            mode @ (MAILBOX | FRAME) => {
                let ends = &mut ends[usize::from(mode == FRAME)];
                while probe.mode() == mode {
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
    let [mut a, mut b] = pair(&mut Arena::small(), window);
    let payload = |offset| fragments(window.address(offset), BYTES);
    a.set_sinks(vec![payload(4096)]);
    b.set_sinks(vec![payload(8192)]);
    let ((mut one, one_there), (mut three, three_there)) =
        (ends(MAILBOX, BYTES), ends(FRAME, FRAME_BYTES));
    let mut theirs = [one_there, three_there];
    let probe = Probe::default();
    probe.set_mode(LINE);
    let rounds = options.rounds(1001, 5);
    let trips = options.scale(500, 50) as u32;
    let [mut line, mut mailbox, mut frame, mut lnd] = [(); 4].map(|()| Column::default());
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
            let boxed = one.one_way(&probe, trips);
            let framed = three.one_way(&probe, trips);
            let whole = lnd_one_way(&probe, &mut a, &payload(0), trips);
            if agree(before, probe.probe()) {
                line.push(bare);
                mailbox.push(boxed);
                frame.push(framed);
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
    let ratio = frame.over(&line);
    let name = format!("mailbox, {FRAME_BYTES} bytes, three lines");
    table.line(&name, "ns", &frame, Some((&ratio, "of the bare line")));
    let ratio = lnd.over(&line);
    table.line("whole LND message, 72 + 56 bytes", "ns", &lnd, Some((&ratio, "of the bare line")));
    let ratio = lnd.over(&frame);
    table.line("the same, beside its bytes alone", "ns", &lnd, Some((&ratio, "of the mailbox's")));
    println!("  rounds dropped because their probes disagree: {dropped} of {rounds}");
    assert_eq!(a.in_use().0, 0, "everything sent has ended");
}
