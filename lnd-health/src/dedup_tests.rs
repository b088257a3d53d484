// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Numbers and the windows that check them, against naive models.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

fn number(count: u32) -> Number {
    Number::new(1, count).unwrap()
}

/// The receiver's upper layer's state of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    Coming,
    Received,
}

/// Several rails reorder, lose and repeat; payloads fail. Each number is delivered at most once.
/// Between a correct sender and receiver none is refused as too old before it has ended.
#[test]
fn each_number_is_taken_once() {
    let rounds = if cfg!(miri) { 600 } else { 200_000 };
    for start in [0, u32::MAX - 700] {
        let mut window = DedupWindow::new();
        let mut numbers = Numbers { next: start, ..Numbers::new(1) };
        let mut open: Vec<Number> = Vec::new();
        let mut book: BTreeMap<Number, Has> = BTreeMap::new();
        let (mut x, mut refusals) = (0x9e37_79b9_7f4a_7c15_u64, 0);
        for _ in 0..rounds {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let pick = |n: usize| (x >> 16) as usize % n.max(1);
            match x % 6 {
                0 | 1 => match numbers.give() {
                    Some(number) => open.push(number),
                    None => refusals += 1,
                },
                2 | 3 if !open.is_empty() => {
                    let number = open[pick(open.len())];
                    let age = numbers.next.wrapping_sub(number.count());
                    assert!((1..=WIDTH).contains(&age));
                    let expected = match book.get(&number) {
                        None => WindowCheck::First,
                        Some(Has::Coming) => WindowCheck::Coming,
                        Some(Has::Received) => WindowCheck::Second,
                    };
                    // A number may repeat after 2^32 others, not here.
                    assert_eq!(window.arrive(number), expected, "{number:?}");
                    book.entry(number).or_insert(Has::Coming);
                }
                4 if !open.is_empty() => {
                    let number = open[pick(open.len())];
                    let coming = book.get(&number) == Some(&Has::Coming);
                    if x >> 60 & 1 == 0 {
                        assert_eq!(window.received(number), coming);
                        if coming {
                            book.insert(number, Has::Received);
                        }
                    } else {
                        assert_eq!(window.not_received(number), coming);
                        if coming {
                            book.remove(&number);
                        }
                    }
                }
                _ if open.len() > 300 => numbers.end(open.swap_remove(pick(open.len()))),
                _ => {}
            }
        }
        // The oldest sometimes stays open for long: the sender must have had to wait.
        assert!(cfg!(miri) || refusals > 0);
    }
}

#[test]
fn what_is_outside_of_the_window_is_refused() {
    let mut window = DedupWindow::new();
    let mut arrive = |count| {
        let check = window.arrive(number(count));
        assert_eq!(window.received(number(count)), check == WindowCheck::First);
        check
    };
    assert_eq!(arrive(0), WindowCheck::First);
    assert_eq!(arrive(WIDTH - 1), WindowCheck::First);
    assert_eq!(arrive(0), WindowCheck::Second, "still in the window");
    assert_eq!(arrive(WIDTH), WindowCheck::First);
    assert_eq!(arrive(0), WindowCheck::Outside);
    assert_eq!(arrive(1), WindowCheck::First);
    assert_eq!(arrive(1), WindowCheck::Second);
    // A long series was lost: the window follows.
    assert_eq!(arrive(100 * WIDTH), WindowCheck::First);
    assert_eq!(arrive(99 * WIDTH), WindowCheck::Outside);
    assert_eq!(arrive(99 * WIDTH + 1), WindowCheck::First);
    // Half the range away, where ahead and behind meet.
    assert_eq!(arrive(100 * WIDTH + 1 + (1 << 31)), WindowCheck::Outside);
    assert_eq!(arrive(100 * WIDTH + (1 << 31)), WindowCheck::First);
}

/// A receiver that restarts sees numbers that continue, wherever they are. It refuses none of them,
/// not even those that arrive after a later one.
#[test]
fn a_new_window_opens_at_any_number() {
    for first in [0, 1, WIDTH, 1 << 31, (1 << 31) + 1, u32::MAX] {
        let mut window = DedupWindow::new();
        let before = first.wrapping_sub(WIDTH - 1);
        assert_eq!(window.arrive(number(first)), WindowCheck::First, "{first}");
        assert_eq!(window.arrive(number(before)), WindowCheck::First, "{first}");
        assert_eq!(window.arrive(number(before.wrapping_sub(1))), WindowCheck::Outside, "{first}");
        assert_eq!(window.arrive(number(first.wrapping_add(1))), WindowCheck::First, "{first}");
        assert_eq!(window.arrive(number(first)), WindowCheck::Coming, "{first}");
    }
}

/// R45: coming, received, not received.
#[test]
fn a_copy_is_second_only_once_the_first_was_received() {
    let mut window = DedupWindow::new();
    let it = number(7);
    assert!(!window.received(it) && !window.not_received(it), "it has not arrived");
    assert_eq!(window.arrive(it), WindowCheck::First);
    assert_eq!(window.arrive(it), WindowCheck::Coming);
    assert!(window.not_received(it) && !window.not_received(it));
    assert_eq!(window.arrive(it), WindowCheck::First, "the payload did not come: not a copy");
    assert!(window.received(it) && !window.received(it));
    assert!(!window.not_received(it), "what was received stays received");
    assert_eq!(window.arrive(it), WindowCheck::Second);
    // The end of a number that the window has left has no effect on its successor in the ring.
    assert_eq!(window.arrive(number(8)), WindowCheck::First);
    assert_eq!(window.arrive(number(8 + WIDTH)), WindowCheck::First);
    assert!(!window.received(number(8)) && !window.not_received(number(8)));
    assert_eq!(window.arrive(number(8 + WIDTH)), WindowCheck::Coming);
}

#[test]
fn a_later_epoch_has_a_window_of_its_own() {
    let mut window = DedupWindow::new();
    let of = |epoch, count| Number::new(epoch, count).unwrap();
    assert_eq!(window.arrive(of(3, 500)), WindowCheck::First);
    assert!(window.received(of(3, 500)));
    assert_eq!(window.arrive(of(4, 0)), WindowCheck::First, "the sender counts anew");
    assert_eq!(window.arrive(of(4, 500)), WindowCheck::First);
    assert_eq!(window.arrive(of(3, 500)), WindowCheck::Outside, "a late copy");
    assert_eq!(window.arrive(of(3, 501)), WindowCheck::Outside);
    assert!(!window.not_received(of(3, 500)) && !window.received(of(3, 0)));
    assert_eq!(window.arrive(of(4, 0)), WindowCheck::Coming);
}

#[test]
fn no_number_is_zero() {
    assert_eq!((Number::new(0, 5), Number::from_raw(0)), (None, None));
    assert_eq!(Number::from_raw(u64::from(u32::MAX)), None, "no epoch");
    let raws: BTreeSet<u64> = [(1, 0), (1, u32::MAX), (u32::MAX, 0), (u32::MAX, u32::MAX)]
        .map(|(epoch, count)| {
            let number = Number::new(epoch, count).unwrap();
            assert_eq!((number.epoch(), number.count()), (epoch, count));
            assert_eq!(Number::from_raw(number.raw()), Some(number));
            number.raw()
        })
        .into();
    assert_eq!((raws.len(), raws.contains(&0)), (4, false));
    assert_eq!(Numbers::new(0).give(), None, "epoch 0 gives none");
}

#[test]
fn a_stamp_is_three_little_endian_words() {
    let incarnation = |raw| Incarnation::from_raw(raw);
    for to in [None, incarnation(u64::MAX)] {
        let stamp =
            Stamp { from: incarnation(0x0102_0304_0506_0708).unwrap(), to, number: number(9) };
        let bytes = stamp.to_bytes();
        assert_eq!(bytes[..8], [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(bytes[8..16], [if to.is_some() { 0xff } else { 0 }; 8]);
        assert_eq!(bytes[16..], [9, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(Stamp::from_bytes(&bytes), Some(stamp));
        let mut without = bytes;
        without[..8].fill(0);
        assert_eq!(Stamp::from_bytes(&without), None, "of no incarnation");
        let mut without = bytes;
        without[16..].fill(0);
        assert_eq!(Stamp::from_bytes(&without), None, "without a number");
    }
}

#[test]
fn ends_of_unknown_numbers_change_nothing() {
    let mut numbers = Numbers::new(1);
    assert_eq!(numbers.give(), Some(number(0)));
    numbers.end(number(77));
    numbers.end(number(u32::MAX));
    numbers.end(Number::new(2, 0).unwrap());
    for n in 1..WIDTH {
        assert_eq!(numbers.give(), Some(number(n)));
    }
    assert_eq!(numbers.give(), None, "number 0 has not ended");
    numbers.end(number(0));
    assert_eq!(numbers.give(), Some(number(WIDTH)));
    // Another number has its place now.
    numbers.end(number(0));
    (1..WIDTH).for_each(|n| numbers.end(number(n)));
    for n in 1..WIDTH {
        assert_eq!(numbers.give(), Some(number(WIDTH + n)));
    }
    assert_eq!(numbers.give(), None, "number {WIDTH} has not ended");
}
