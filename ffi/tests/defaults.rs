// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables of `lnd_config_init`'s values in the header and in the manual; the bits of FEATURES.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::mem::MaybeUninit;

use lnd_core::ports::Features;
use lnd_ffi::abi::*;
use lnd_ffi::config::lnd_config_init;
use lnd_ffi::version::LND_ABI_VERSION;

type Table = BTreeMap<String, String>;

fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The header's table: a field, at least two blanks, a value.
fn header() -> Table {
    let text = between(include_str!("../include/lnd.h"), "The other fields become:", "Add a flag");
    let rows = text.lines().filter_map(|line| line.strip_prefix(" *   ")?.split_once("  "));
    rows.map(|(field, value)| (field.into(), value.trim().replace('@', ""))).collect()
}

/// The manual's table.
fn manual() -> Table {
    let text = include_str!("../../docs/c-abi.md");
    let text = between(text, "## What a configuration begins with", "Flags are added");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let value = |it: &str| it.trim_end_matches(" |").replace('`', "");
    rows.map(|(field, it)| (field.into(), value(it))).collect()
}

/// A written value, for so many slots.
fn value(written: &str, slots: u64) -> u64 {
    match written {
        "slots / 4, at least 1" => (slots / 4).max(1),
        "slots, at most 1,024" => slots.min(1024),
        "LND_POLICY_SEED" => lnd_policy::LND_POLICY_SEED as u64,
        "LND_CHECKSUM" => LND_CHECKSUM.into(),
        _ => {
            let (number, unit) = written.split_once(' ').unwrap_or((written, ""));
            let number: u64 = number.replace(',', "").parse().unwrap();
            let times = ["s", "ms"].iter().position(|it| *it == unit);
            assert!(times.is_some() || ["", "bytes"].contains(&unit), "{written}");
            number * times.map_or(1, |at| [1_000_000_000, 1_000_000][at])
        }
    }
}

#[test]
fn the_tables_say_what_lnd_config_init_writes() {
    let table = header();
    assert_eq!(table, manual());
    for slots in [2, 3, 64, 1024, 5000, 1 << 20] {
        let mut config = MaybeUninit::<lnd_config>::uninit();
        let place = config.as_mut_ptr();
        // SAFETY: the memory of a configuration.
        let error = unsafe { lnd_config_init(place, LND_ABI_VERSION, slots, 7, 2) };
        assert_eq!(error, lnd_error::LND_OK);
        // SAFETY: every byte was written.
        let it = unsafe { config.assume_init() };
        assert_eq!((it.nid, it.incarnation, it.slots, it.peers, it.links), (0, 0, slots, 7, 2));
        assert!(it.rings.iter().all(|ring| ring.base.is_null() && ring.len == 0));
        let written = [
            ("passive_slots", u64::from(it.passive_slots)),
            ("lists", it.lists.into()),
            ("immediate_max", it.immediate_max.into()),
            ("depth", it.depth.into()),
            ("pulls", it.pulls.into()),
            ("hello_tries", it.hello_tries.into()),
            ("batch", it.batch.into()),
            ("connections", it.connections.into()),
            ("policy", it.policy.into()),
            ("flags", it.flags.into()),
            ("drain_bound", it.drain_bound),
            ("hello_timeout", it.hello_timeout),
            ("credit_stall", it.credit_stall),
            ("link_poll", it.link_poll),
            ("decision_bound", it.decision_bound),
        ];
        let found = table.iter().map(|(field, it)| (field.as_str(), value(it, slots.into())));
        assert_eq!(BTreeMap::from(written), found.collect(), "{slots} slots");
    }
}

#[test]
fn the_bits_of_features_are_the_cores() {
    let bits = [
        (LND_FEATURE_REMOTE_COMPLETION, Features::REMOTE_COMPLETION),
        (LND_FEATURE_KNOWS_UNTOUCHED, Features::KNOWS_UNTOUCHED),
        (LND_FEATURE_ILLEGAL_READ, Features::ILLEGAL_READ),
        (LND_FEATURE_ZERO_READ, Features::ZERO_READ),
        (LND_FEATURE_PUBLISHED_READ, Features::PUBLISHED_READ),
        (LND_FEATURE_CONNECTIONS, Features::CONNECTIONS),
        (LND_FEATURE_PUSHES, Features::PUSHES),
    ];
    assert!(bits.iter().all(|(named, bit)| *named == bit.bits()));
    // Of the named ones only CANCEL is no engine's.
    let all = bits.iter().fold(Features::CANCEL, |all, (_, bit)| all | *bit);
    assert_eq!(Features::all().iter_names().map(|(_, bit)| bit).collect::<Features>(), all);
}
