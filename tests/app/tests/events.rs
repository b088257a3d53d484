// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a subscriber of the crate `tracing` sees of a driver's trace.
#![cfg(feature = "tracing")]
#![allow(clippy::unwrap_used)]

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use lnd_app::events::Events;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::LinkState;
use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::Trace;
use lnd_core::transfer::{Cause, Place, Policy, Status};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps each event as a line: its level, and its fields by name.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.0, " {}={value}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "lnd" && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Counts what it is given.
#[derive(Default)]
struct Count(usize);

impl Tracer for Count {
    fn record(&mut self, _: Instant, _: Trace) {
        self.0 += 1;
    }
}

#[test]
fn a_subscriber_sees_events_with_their_fields_and_the_next_tracer_all_records() {
    let (tag, peer) = (Tag { index: 3, generation: 0x2a }, Nid::from_raw(7).unwrap());
    let link = LinkId::new(1).unwrap();
    let lost = Status::of(Policy::Seed, Cause::PeerDown, Place::Queue);
    let records = [
        Trace::Accepted { tag, peer, length: 4096 },
        Trace::Posted { tag, link },
        Trace::Stale { tag },
        Trace::Finalized { tag, status: lost },
        Trace::Finalized { tag, status: Status::OK },
        Trace::Link { link, state: LinkState::Failed },
        Trace::Ended { peer, sequence: 9, length: 56, status: Status::OK },
    ];
    let lines = Lines::default();
    let mut events = Events(Count::default());
    tracing::subscriber::with_default(lines.clone(), || {
        for (at, record) in records.into_iter().enumerate() {
            events.record(Instant::from_nanos(100 + at as u64), record);
        }
    });
    // Without a subscriber: only the next tracer.
    events.record(Instant::ORIGIN, records[0]);
    assert_eq!(events.0 .0, records.len() + 1);
    let seen = lines.0.lock().unwrap().clone();
    assert_eq!(seen.len(), 6, "what is stale is finer than DEBUG: {seen:?}");
    let expected: [(&str, &[&str]); 6] = [
        ("DEBUG", &["message=accepted", "at=100", "transfer=3/42", "length=4096", "peer="]),
        ("DEBUG", &["message=posted", "at=101", "transfer=3/42", "link=1"]),
        ("WARN", &["message=failed", "at=103", "transfer=3/42", "errno=-", "PeerDown", "Queue"]),
        ("INFO", &["message=finalized", "at=104", "transfer=3/42"]),
        ("WARN", &["message=link", "at=105", "link=1", "state=Failed"]),
        ("INFO", &["message=ended", "at=106", "sequence=9", "length=56"]),
    ];
    for (line, (level, parts)) in seen.iter().zip(expected) {
        assert!(line.starts_with(level), "{line}");
        for part in parts {
            assert!(line.contains(part), "no {part} in {line}");
        }
    }
}
