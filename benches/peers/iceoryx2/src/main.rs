// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peer: iceoryx2's publish and subscribe over shared memory, one way between two threads that
//! poll. Prints nanoseconds for each size that is given as an argument.

use std::sync::{Arc, Barrier};
use std::time::Instant;

use iceoryx2::port::{publisher::Publisher, subscriber::Subscriber};
use iceoryx2::prelude::*;

type Out = Publisher<ipc::Service, [u8], ()>;
type Back = Subscriber<ipc::Service, [u8], ()>;

const TRIPS: u32 = 20_000;

fn pin(processor: usize) {
    // SAFETY: a zeroed set is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number is below the set's bound, and the set is ours.
    unsafe {
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}

/// Both ends that one side needs: what it sends on, and what it receives from.
fn ends(out: &str, back: &str, size: usize, barrier: &Barrier) -> (Out, Back) {
    let node = NodeBuilder::new().create::<ipc::Service>().expect("a node");
    let service = |name: &str| {
        node.service_builder(&name.try_into().expect("a name"))
            .publish_subscribe::<[u8]>()
            .max_publishers(1)
            .max_subscribers(1)
            .history_size(0)
            .subscriber_max_buffer_size(64)
            .open_or_create()
            .expect("a service")
    };
    let subscriber = service(back).subscriber_builder().create().expect("a subscriber");
    let publisher =
        service(out).publisher_builder().initial_max_slice_len(size).create().expect("a publisher");
    barrier.wait();
    (publisher, subscriber)
}

fn send(out: &Out, size: usize, byte: u8) {
    let sample = out.loan_slice_uninit(size).expect("room");
    sample.write_from_fn(|n| byte.wrapping_add(n as u8)).send().expect("sent");
}

fn wait(back: &Back) {
    while back.receive().expect("received").is_none() {}
}

fn one_way(size: usize) -> f64 {
    let id = std::process::id();
    let (there, back) = (format!("there-{id}-{size}"), format!("back-{id}-{size}"));
    let barrier = Arc::new(Barrier::new(2));
    let partner = std::thread::spawn({
        let (there, back, barrier) = (there.clone(), back.clone(), barrier.clone());
        move || {
            pin(1);
            let (out, back) = ends(&back, &there, size, &barrier);
            for trip in 0..=TRIPS {
                wait(&back);
                send(&out, size, trip as u8);
            }
            barrier.wait();
        }
    });
    pin(0);
    let (out, back) = ends(&there, &back, size, &barrier);
    let mut trip = |number: u32| {
        send(&out, size, number as u8);
        wait(&back);
    };
    trip(0);
    let begin = Instant::now();
    (1..=TRIPS).for_each(&mut trip);
    let each = begin.elapsed().as_nanos() as f64 / f64::from(TRIPS) / 2.0;
    barrier.wait();
    partner.join().expect("the partner ends");
    each
}

fn main() {
    set_log_level(LogLevel::Error);
    for size in std::env::args().skip(1) {
        println!("{:.2}", one_way(size.parse().expect("a size")));
    }
}
