// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the tool knows about itself: completions for shells, manual pages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap_complete::Shell;
use clap_mangen::Man;
use lnd_app::process::Broken;

use super::{grammar, Done};

#[derive(Debug, clap::Args)]
pub struct CompletionArgs {
    /// The shell.
    shell: Shell,
}

impl CompletionArgs {
    pub fn run(self) -> Done {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut grammar(), "lnd", &mut text);
        Ok(io::stdout().write_all(&text)?)
    }
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Write every page into this directory, made if there is none; without it, the page of `lnd`
    /// itself goes to standard output.
    #[arg(long)]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub fn run(self) -> Done {
        let mut command = grammar().disable_help_subcommand(true);
        command.build();
        match self.dir {
            Some(dir) => {
                fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
                write_pages(&command, "lnd", &dir)?;
            }
            None => io::stdout().write_all(&page(&command, "lnd")?)?,
        }
        Ok(())
    }
}

/// The page of a command and those of all below it.
fn write_pages(command: &clap::Command, name: &str, dir: &Path) -> Result<(), Broken> {
    let path = dir.join(format!("{name}.1"));
    fs::write(&path, page(command, name)?)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    for below in command.get_subcommands() {
        write_pages(below, &format!("{name}-{}", below.get_name()), dir)?;
    }
    Ok(())
}

fn page(command: &clap::Command, name: &str) -> io::Result<Vec<u8>> {
    // Pages of two builds on two days are the same.
    let page = Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("lnd ", env!("CARGO_PKG_VERSION")))
        .manual("LND tool")
        .date("");
    let mut text = br#".\" SPDX-License-Identifier: MIT OR GPL-2.0-only
.\" Generated: lnd man --dir DIR
"#
    .to_vec();
    page.render(&mut text)?;
    Ok(text)
}
