// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd schema`: what the file of a plan or of a cluster may hold, as a JSON schema, for editors
//! and checkers.

use clap::ValueEnum;
use lnd_app::cluster::Cluster;
use lnd_app::output;
use lnd_sim::{rails, world};
use serde_json::{json, Value};

use super::Done;

#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// Of what.
    #[arg(value_enum)]
    of: Of,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Of {
    /// A fault plan of nodes with one interface.
    World,
    /// A plan that names networks: nodes with several interfaces.
    Rails,
    /// A description of nodes for `lnd cluster`.
    Cluster,
}

impl SchemaArgs {
    pub fn run(self) -> Done {
        let mut schema = match self.of {
            Of::World => schemars::schema_for!(world::Plan).to_value(),
            Of::Rails => schemars::schema_for!(rails::Plan).to_value(),
            Of::Cluster => schemars::schema_for!(Cluster).to_value(),
        };
        schema["title"] = match self.of {
            Of::World => "A fault plan of lnd sim".into(),
            Of::Rails => "A plan of lnd sim for nodes with several interfaces".into(),
            Of::Cluster => "Nodes for lnd cluster".into(),
        };
        bound(&mut schema, self.of);
        output::document(&schema);
        Ok(())
    }
}

/// The ranges that the plans themselves check, beyond those of their numbers' types.
fn bound(schema: &mut Value, of: Of) {
    if !matches!(of, Of::World) {
        return;
    }
    for (name, least, most) in
        [("nodes", 2, world::MAX_NODES), ("links", 1, 8), ("seconds", 1, 3600)]
    {
        schema["properties"][name]["minimum"] = least.into();
        schema["properties"][name]["maximum"] = most.into();
    }
    for table in ["MessageFaults", "EngineFaults"] {
        let fields = schema["$defs"][table]["properties"].as_object_mut();
        for (name, field) in fields.into_iter().flatten() {
            if !name.ends_with("_us") {
                // Per million.
                field["maximum"] = json!(1_000_000);
            }
        }
    }
}
