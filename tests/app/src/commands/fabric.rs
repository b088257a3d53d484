// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd fabric`: its options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Subcommand;
use lnd_app::process::{self, fabric, parse_nid};
use lnd_core::id::{Incarnation, Nid};
use lnd_sim::fabric::Shape;
use lnd_soft::shape::MAX_NODES;

use super::{Done, Failed};

/// Which fabric, and how to print the answer.
#[derive(Debug, clap::Args)]
pub struct FileArgs {
    /// The fabric's file.
    #[arg(long, value_name = "FILE", default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
pub enum FabricCommand {
    /// Make a fabric file, which must not exist; its size is a power of two, as virtual machines
    /// want it.
    Format {
        /// Nodes.
        #[arg(long, default_value_t = 4,
            value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_NODES)))]
        nodes: u32,
        /// Links of each node; processes use 2.
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
        links: u32,
        /// Descriptors of each link; processes use 256.
        #[arg(long, default_value_t = 256,
            value_parser = clap::value_parser!(u32).range(1..=65_536))]
        descriptors: u32,
        /// MiB of each node's payload window.
        #[arg(long, value_name = "MIB", default_value_t = 128,
            value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
        window: u64,
        #[command(flatten)]
        of: FileArgs,
    },
    /// Show a fabric's numbers, and where its nodes and links stand.
    Show {
        #[command(flatten)]
        of: FileArgs,
    },
    /// Declare a node dead, whose machine is gone: nothing of it touches the fabric any more.
    ///
    /// A process that runs cannot be declared dead: stop it.
    Dead {
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// Only if this is its incarnation, as `show` prints it.
        #[arg(long, value_parser = fabric::parse_incarnation)]
        incarnation: Option<Incarnation>,
        #[command(flatten)]
        of: FileArgs,
    },
    /// Pull a link's cable, or put it back.
    Link {
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// The link's number, from 0.
        #[arg(value_parser = clap::value_parser!(u32).range(0..8))]
        link: u32,
        /// Pulled or put back.
        #[arg(value_parser = ["up", "down"])]
        to: String,
        #[command(flatten)]
        of: FileArgs,
    },
}

impl FabricCommand {
    pub fn run(self) -> Done {
        let done = match self {
            Self::Format { window, .. } if process::check_window(window << 20).is_err() => {
                return Err(Failed::window(&["fabric", "format"], window));
            }
            Self::Format { nodes, links, descriptors, window, of } => {
                let shape = Shape::new(nodes, links, descriptors, window << 20);
                fabric::format(&of.fabric, shape, of.json)
            }
            Self::Show { of } => fabric::show(&of.fabric, of.json),
            Self::Dead { nid, incarnation, of } => {
                fabric::dead(&of.fabric, nid, incarnation, of.json)
            }
            Self::Link { nid, link, to, of } => {
                fabric::link(&of.fabric, nid, link as usize, to == "up", of.json)
            }
        };
        Ok(done?)
    }
}

/// The command line with `--fabric` where the file stands as the first argument of a command of
/// `lnd fabric`, as it had to once.
pub fn with_file_named(mut line: Vec<OsString>) -> Vec<OsString> {
    let word = |at: usize| line.get(at).and_then(|it| it.to_str());
    let command = word(2).filter(|_| word(1) == Some("fabric")).unwrap_or_default();
    let has_nid = ["dead", "link"].contains(&command);
    if !has_nid && !["format", "show"].contains(&command) {
        return line;
    }
    let mut at = 3;
    while let Some(argument) = line.get(at) {
        match argument.to_str() {
            // Each of their options has a value, apart from these.
            Some("--json" | "-h" | "--help") => at += 1,
            Some("--") => return line,
            Some("--fabric") => return line,
            Some(option) if option.starts_with("--fabric=") => return line,
            Some(option) if option.starts_with('-') && option.contains('=') => at += 1,
            Some(option) if option.starts_with('-') => at += 2,
            Some(nid) if has_nid && parse_nid(nid).is_ok() => return line,
            _ => {
                line.insert(at, "--fabric".into());
                return line;
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::with_file_named;
    use std::ffi::OsString;

    #[test]
    fn a_file_that_stands_alone_is_named() {
        for (given, wanted) in [
            ("lnd fabric show f", "lnd fabric show --fabric f"),
            ("lnd fabric show", "lnd fabric show"),
            ("lnd fabric show --json f", "lnd fabric show --json --fabric f"),
            ("lnd fabric show --fabric f", "lnd fabric show --fabric f"),
            ("lnd fabric show --fabric=f", "lnd fabric show --fabric=f"),
            ("lnd fabric format --nodes 3 f", "lnd fabric format --nodes 3 --fabric f"),
            ("lnd fabric format --nodes=3 f", "lnd fabric format --nodes=3 --fabric f"),
            ("lnd fabric dead f 1@soft", "lnd fabric dead --fabric f 1@soft"),
            ("lnd fabric dead 1@soft", "lnd fabric dead 1@soft"),
            ("lnd fabric link 1@soft 0 up", "lnd fabric link 1@soft 0 up"),
            ("lnd fabric link f 1@soft 0 up", "lnd fabric link --fabric f 1@soft 0 up"),
            ("lnd fabric help show", "lnd fabric help show"),
            ("lnd fabric", "lnd fabric"),
            ("lnd put show f", "lnd put show f"),
            ("lnd", "lnd"),
        ] {
            let line = given.split(' ').map(OsString::from).collect();
            let wanted: Vec<OsString> = wanted.split(' ').map(OsString::from).collect();
            assert_eq!(with_file_named(line), wanted, "{given}");
        }
    }
}
