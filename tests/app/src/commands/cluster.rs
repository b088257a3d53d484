// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd cluster`: its options.

use std::path::PathBuf;

use clap::Subcommand;
use lnd_app::cluster::Cluster;
use lnd_app::{output, say};
use serde_json::json;

use super::{Done, Failed};

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Check a description and start nothing.
    Check {
        /// The description (TOML); `lnd schema cluster` says what may be in it.
        file: PathBuf,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run every node, until SIGINT or SIGTERM, or until one of them ends.
    Run {
        /// The description.
        file: PathBuf,
        /// Begin each line with the time, in UTC; those of the nodes too.
        #[arg(long)]
        times: bool,
    },
    /// Say how every node is.
    Show {
        /// The description.
        file: PathBuf,
        /// As JSON; YAML if not given.
        #[arg(long)]
        json: bool,
    },
}

impl ClusterCommand {
    pub fn run(self) -> Done {
        let (Self::Check { file, .. } | Self::Run { file, .. } | Self::Show { file, .. }) = &self;
        let cluster = Cluster::read(file).map_err(Failed::Plan)?;
        match self {
            Self::Check { file, json: true } => {
                let nids: Vec<&str> = cluster.node.iter().map(|it| it.nid.as_str()).collect();
                output::document(&json!({ "file": file.display().to_string(), "nodes": nids }));
                Ok(())
            }
            Self::Check { file, json: false } => {
                say!("{}: {} nodes", file.display(), cluster.node.len());
                Ok(())
            }
            Self::Run { times, .. } => {
                output::use_times(times);
                Ok(cluster.run()?)
            }
            Self::Show { json, .. } => {
                super::print(&cluster.show(), json);
                Ok(())
            }
        }
    }
}
