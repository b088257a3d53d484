// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A snapshot in the OpenMetrics text format.

use std::fmt::{self, Debug};

use lnd_core::observe::{
    Family, Gauge, Histogram, Measures, Metric, SizeClass, Unit as What, Wait, BUCKETS,
};
use lnd_core::transfer::{Cause, HealthClass, Place};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use super::Snapshot;

/// In front of every name.
const PREFIX: &str = "lnd";

/// Names of all series that [`render`] can write, from the table: what dashboards may use.
pub fn series() -> Vec<String> {
    let mut names = Vec::new();
    for metric in Metric::all() {
        let info = metric.info();
        names.push(match metric {
            Metric::Counter(_) => format!("{PREFIX}_{}_total", info.name),
            Metric::Gauge(it) if it.unit() == What::Nanoseconds => {
                format!("{PREFIX}_{}_seconds", info.name)
            }
            Metric::Gauge(_) => format!("{PREFIX}_{}", info.name),
        });
    }
    for family in Family::ALL {
        if family.unit() == What::Nanoseconds {
            let name = format!("{PREFIX}_{}_seconds", family.name());
            names.extend(["bucket", "sum", "count"].map(|part| format!("{name}_{part}")));
        } else {
            names.push(format!("{PREFIX}_{}_total", family.name()));
        }
    }
    names
}

/// A snapshot as OpenMetrics text.
pub fn render(snapshot: Snapshot) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(snapshot));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut text, &registry);
    text
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for metric in Metric::all() {
            self.metric(&mut encoder, metric)?;
        }
        for family in Family::ALL {
            family_of(&self.measures, &mut encoder, family)?;
        }
        Ok(())
    }
}

impl Snapshot {
    fn metric(&self, encoder: &mut DescriptorEncoder<'_>, metric: Metric) -> fmt::Result {
        let info = metric.info();
        match metric {
            Metric::Counter(it) => encoder
                .encode_descriptor(info.name, info.help, None, MetricType::Counter)?
                .encode_counter::<NoLabelSet, u64, f64>(&self.counters.value(it), None),
            Metric::Gauge(it @ Gauge::OldestPosted) => encoder
                .encode_descriptor(info.name, info.help, Some(&Unit::Seconds), MetricType::Gauge)?
                .encode_gauge(&seconds(self.gauges.value(it))),
            Metric::Gauge(it) => encoder
                .encode_descriptor(info.name, info.help, None, MetricType::Gauge)?
                .encode_gauge(&(self.gauges.value(it) as i64)),
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A label's value of a name as Rust writes it: `PeerDown` is `peer_down`.
fn label(value: impl Debug) -> String {
    let mut text = String::new();
    for char in format!("{value:?}").chars() {
        if char.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(char.to_ascii_lowercase());
    }
    text
}

/// The values of labels, in the order of [`Family::labels`].
type Labels<'l> = &'l [(&'static str, String)];

fn counter(encoder: &mut MetricEncoder<'_>, labels: Labels<'_>, value: u64) -> fmt::Result {
    let labels = labels.to_vec();
    encoder.encode_family(&labels)?.encode_counter::<NoLabelSet, u64, f64>(&value, None)
}

fn histogram(encoder: &mut MetricEncoder<'_>, labels: Labels<'_>, it: &Histogram) -> fmt::Result {
    let bound = |at| match Histogram::bound(at) {
        u64::MAX => f64::INFINITY,
        ns => seconds(ns),
    };
    let buckets: Vec<_> = (0..BUCKETS).map(|at| (bound(at), u64::from(it.bucket(at)))).collect();
    let labels = labels.to_vec();
    encoder.encode_family(&labels)?.encode_histogram::<NoLabelSet>(
        seconds(it.sum()),
        it.count(),
        &buckets,
        None,
    )
}

/// Every family has a line here, or this does not compile.
fn family_of(it: &Measures, encoder: &mut DescriptorEncoder<'_>, family: Family) -> fmt::Result {
    let (unit, kind) = match family.unit() {
        What::Nanoseconds => (Some(&Unit::Seconds), MetricType::Histogram),
        _ => (None, MetricType::Counter),
    };
    let mut encoder = encoder.encode_descriptor(family.name(), family.help(), unit, kind)?;
    let encoder = &mut encoder;
    let size = |size: SizeClass| ("size", size.name().to_owned());
    let wait = |wait: Wait| ("wait", wait.name().to_owned());
    match family {
        Family::Wait => {
            for w in Wait::ALL {
                for s in SizeClass::ALL {
                    // Most combinations never occur; their series would only fill disks.
                    if let Some(times) = it.waited(w, s).filter(|times| times.count() > 0) {
                        histogram(encoder, &[wait(w), size(s)], times)?;
                    }
                }
            }
        }
        Family::Transfer => {
            for s in SizeClass::ALL {
                if let Some(times) = it.whole(s).filter(|times| times.count() > 0) {
                    histogram(encoder, &[size(s)], times)?;
                }
            }
        }
        Family::Late => histogram(encoder, &[], it.late())?,
        Family::LateGood => counter(encoder, &[], it.late_good())?,
        Family::Ended => {
            for class in HealthClass::ALL {
                for w in Wait::ALL {
                    let value = it.ended(class, w);
                    if value > 0 {
                        counter(encoder, &[("class", label(class)), wait(w)], value)?;
                    }
                }
            }
        }
        Family::Lost => {
            for cause in Cause::ALL {
                for place in Place::ALL {
                    let value = it.lost(cause, place);
                    if value > 0 {
                        counter(
                            encoder,
                            &[("cause", label(cause)), ("place", label(place))],
                            value,
                        )?;
                    }
                }
            }
        }
        Family::Short => {
            for s in SizeClass::ALL {
                counter(encoder, &[size(s)], it.short(s).count)?;
            }
        }
        Family::ShortFailed => counter(encoder, &[], it.short_failed())?,
        Family::Payload => counter(encoder, &[], it.bytes())?,
    }
    Ok(())
}
