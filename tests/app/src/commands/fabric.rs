// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd fabric`: its options.

use std::path::PathBuf;

use clap::Subcommand;
use lnd_app::process::{self, fabric, parse_nid};
use lnd_core::id::{Incarnation, Nid};
use lnd_sim::fabric::Shape;

use super::{Done, Failed};

#[derive(Debug, Subcommand)]
pub enum FabricCommand {
    /// Make a fabric file; its size is a power of two, as virtual machines want it.
    Format {
        /// The file; must not exist.
        file: PathBuf,
        /// Nodes.
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
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
    },
    /// Show a fabric's numbers, and where its nodes and links stand.
    Show {
        /// The file.
        file: PathBuf,
    },
    /// Declare a node dead, whose machine is gone: nothing of it touches the fabric any more.
    ///
    /// A process that runs cannot be declared dead: stop it.
    Dead {
        /// The file.
        file: PathBuf,
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// Only if this is its incarnation, as `show` prints it.
        #[arg(long, value_parser = fabric::parse_incarnation)]
        incarnation: Option<Incarnation>,
    },
    /// Pull a link's cable, or put it back.
    Link {
        /// The file.
        file: PathBuf,
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// The link's number, from 0.
        #[arg(value_parser = clap::value_parser!(u32).range(0..8))]
        link: u32,
        /// Pulled or put back.
        #[arg(value_parser = ["up", "down"])]
        to: String,
    },
}

impl FabricCommand {
    pub fn run(self) -> Done {
        let done = match self {
            Self::Format { window, .. } if process::check_window(window << 20).is_err() => {
                return Err(Failed::window(&["fabric", "format"], window));
            }
            Self::Format { file, nodes, links, descriptors, window } => {
                fabric::format(&file, Shape::new(nodes, links, descriptors, window << 20))
            }
            Self::Show { file } => fabric::show(&file),
            Self::Dead { file, nid, incarnation } => fabric::dead(&file, nid, incarnation),
            Self::Link { file, nid, link, to } => {
                fabric::link(&file, nid, link as usize, to == "up")
            }
        };
        Ok(done?)
    }
}
