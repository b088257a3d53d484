// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd` without a command: the demonstration.

use std::path::PathBuf;
use std::time::Duration;

use lnd_app::{demo, output, say};

use super::{Done, Failed};

#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Send every regular file below this directory (build output, version control
    /// and fabrics left out).
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Size of the generated set beside it, in MiB; 0: none.
    #[arg(long, default_value_t = 512, value_name = "MIB",
        value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    generated: u64,
    /// Below which directory the generated set lies while the run lasts; it has to be there. If not
    /// given: target/, or the directory for temporary files.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// No link fails and no node dies.
    #[arg(long)]
    calm: bool,
    /// Draw no progress bars.
    #[arg(long)]
    quiet: bool,
    /// Everything must have ended after so many seconds.
    #[arg(long, default_value_t = 55, value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    bound: u64,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

impl DemoArgs {
    pub fn run(&self) -> Done {
        let options = demo::Options {
            dir: self.dir.clone(),
            generated: self.generated << 20,
            scratch: self.scratch.clone(),
            failures: !self.calm,
            bound: Duration::from_secs(self.bound),
            progress: !self.quiet,
        };
        if self.json {
            output::use_stderr();
        }
        let outcome = demo::run(&options)?;
        if self.json {
            output::document(&outcome.json());
        } else {
            say!("{outcome}");
        }
        if outcome.violations().is_empty() {
            Ok(())
        } else {
            Err(Failed::Said)
        }
    }
}
