// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Bars for what takes long: on standard error, on terminals, and gone when it has ended.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Between two pictures of what has no length.
const TICK: Duration = Duration::from_millis(100);

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    // A template of this file is one that can be read.
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Of so many pieces; `template` is indicatif's.
pub fn pieces(count: u64, template: &str, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    styled(ProgressBar::new(count), template)
}

/// Of bytes, the number of which is not known yet.
pub fn bytes(what: &str, quiet: bool) -> ProgressBar {
    let template = "{msg} {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
    pieces(0, template, quiet).with_message(what.to_owned())
}

/// Of what has no length: it shows that the program works, and for how long.
pub fn spinner(what: &str, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = styled(ProgressBar::new_spinner(), "{spinner} {msg}, {elapsed}");
    bar.enable_steady_tick(TICK);
    bar.with_message(what.to_owned())
}
