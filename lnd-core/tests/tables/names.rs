// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What operators read: words, counters, errno values.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use lnd_core::counters::Counter;
use lnd_core::driver::Why;
use lnd_core::fragment::FragmentError;
use lnd_core::transfer::{step, Cause, Debts, Event, HealthClass, Phase, Word};

/// Room for so many bytes.
struct Room(usize);

impl Write for Room {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}

#[test]
fn a_word_says_what_it_holds() {
    let debts = Debts(Debts::HW.0 | Debts::MSG.0);
    let after = |word, event| step(word, event).word;
    let word = after(after(Word::live(3, debts), Event::PayCpu), Event::Cancel(Cause::Deadline));
    assert_eq!(word.to_string(), "Live[HW·MSG] invalidating Deadline");
    let lost = after(word, Event::Stopped);
    assert_eq!((lost.phase(), lost.lost()), (Phase::Done, true));
    let (whole, place) = (lost.to_string(), lost.place().unwrap());
    assert!(whole.ends_with(&format!(" lost@{place:?}")), "{whole}");
    // A place counts only of a word that has lost something: such a word is none of ours.
    let forged = Word::from_bits(word.bits() | (lost.bits() & (7 << 11)));
    assert_eq!((forged.place(), forged.lost()), (Some(place), false));
    assert_eq!(forged.to_string(), word.to_string());
    // Where the text does not fit its writer says so.
    for word in [word, lost] {
        let length = word.to_string().len();
        for room in 0..length {
            assert!(write!(Room(room), "{word}").is_err(), "{room} of {length}");
        }
        assert!(write!(Room(length), "{word}").is_ok());
    }
}

#[test]
fn every_counter_has_a_name_of_its_own() {
    let names: BTreeSet<_> = Counter::ALL.iter().map(|counter| counter.name()).collect();
    assert_eq!(names.len(), Counter::ALL.len());
    let fits = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    assert!(names.iter().all(|name| fits(name)), "{names:?}");
}

/// Numbers of Linux, and classes of LNet's health: a refusal keeps its meaning on the way to the
/// upper layer. Nothing was sent, so none of the classes is of the network.
#[test]
fn every_refusal_has_its_errno_and_its_class() {
    for (why, errno, class) in [
        (Why::Fragments(FragmentError::Empty), 22, HealthClass::LocalError),
        (Why::BadAddress, 14, HealthClass::LocalError),
        (Why::HeaderTooLong, 22, HealthClass::LocalError),
        (Why::TooLong, 90, HealthClass::LocalError),
        (Why::DeadlinePassed, 110, HealthClass::LocalTimeout),
        (Why::BadLink, 22, HealthClass::LocalError),
        (Why::NoRoute, 113, HealthClass::LocalNoRoute),
        (Why::PeerDown, 112, HealthClass::RemoteDropped),
        (Why::PeersFull, 105, HealthClass::LocalDropped),
        (Why::NoSlots, 11, HealthClass::LocalDropped),
        (Why::NoLists, 11, HealthClass::LocalDropped),
        (Why::WrongKind, 22, HealthClass::LocalError),
        (Why::ShuttingDown, 108, HealthClass::LocalAborted),
        (Why::StalePeer, 116, HealthClass::LocalDropped),
    ] {
        assert_eq!((why.errno(), why.health()), (-errno, class), "{why:?}");
    }
}
