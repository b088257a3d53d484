// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-core`: the pure functions, on any argument.

use lnd_core::config::{Config, ConfigError};
use lnd_core::fragment::{total, Fragment, FragmentError};
use lnd_core::id::Tag;
use lnd_core::link::{link_step, LinkEffect, LinkEvent, LinkState};
use lnd_core::peer::{hello_step, HelloEffect, HelloEvent, HelloState};
use lnd_core::transfer::{step, Event, Policy, Status, Step, Word};

#[no_mangle]
pub fn lnd_bare_step(bits: u32, event: Event) -> Step {
    step(Word::from_bits(bits), event)
}

#[no_mangle]
pub fn lnd_bare_status(policy: Policy, bits: u32) -> Option<Status> {
    Status::of_word(policy, Word::from_bits(bits))
}

#[no_mangle]
pub fn lnd_bare_hello_step(bits: u32, event: HelloEvent) -> (HelloState, HelloEffect) {
    hello_step(HelloState::from_bits(bits), event)
}

#[no_mangle]
pub fn lnd_bare_link_step(state: LinkState, event: LinkEvent) -> (LinkState, LinkEffect) {
    link_step(state, event)
}

#[no_mangle]
pub fn lnd_bare_total(fragments: &[Fragment]) -> Result<u32, FragmentError> {
    total(fragments)
}

#[no_mangle]
pub fn lnd_bare_tag(cookie: u64) -> Tag {
    Tag::from_cookie(cookie)
}

#[no_mangle]
pub fn lnd_bare_config(config: &Config) -> (Result<(), ConfigError>, usize) {
    (config.check(), config.bytes_needed())
}
