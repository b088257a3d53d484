// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What plans of all worlds have in common: they are TOML files, they are checked before anything
//! runs, and they can be made smaller. What is in them is each world's own.

use std::fmt;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::Serialize;

use super::shrink::Search;

/// A plan that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(pub String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.trim_end())
    }
}

impl std::error::Error for PlanError {}

impl From<String> for PlanError {
    fn from(what: String) -> Self {
        Self(what)
    }
}

impl From<&str> for PlanError {
    fn from(what: &str) -> Self {
        Self(what.into())
    }
}

/// Checks a number that plan or caller have given.
///
/// # Errors
/// It is out of range.
pub fn in_range(name: &str, value: u32, low: u32, high: u32) -> Result<(), PlanError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} = {value} is not in {low}..={high}").into())
    }
}

/// Checks that every `what` of a plan begins before the faults end: a later one has no effect.
///
/// # Errors
/// The first that does not.
pub fn in_time(
    what: &str,
    begins_ms: impl IntoIterator<Item = u32>,
    seconds: u64,
) -> Result<(), PlanError> {
    for (at, ms) in begins_ms.into_iter().enumerate() {
        if u64::from(ms) >= 1000 * seconds {
            let why = format!("begins at {ms} ms, and the faults end after {seconds} s");
            return Err(format!("{what} {}: {why}", at + 1).into());
        }
    }
    Ok(())
}

/// What an event lasts for, in milliseconds, unless the plan says otherwise.
pub const fn hundred() -> u32 {
    100
}

/// What is done to a world, and when.
pub trait FaultPlan: Clone + PartialEq + Default + Serialize + DeserializeOwned {
    /// Checks what can be checked without knowing who runs it.
    ///
    /// # Errors
    /// The first thing that cannot be.
    fn check_alone(&self) -> Result<(), PlanError>;

    /// The plan, with the name of the file that it was read from.
    #[must_use]
    fn named(self, name: String) -> Self;

    /// What goes without saying, as a table: what is the same in a plan is left out of its file.
    /// The first element of a list stands for all of them.
    fn usual() -> toml::Table;

    /// Every kind of step to a smaller plan, once.
    fn make_smaller(search: &mut Search<'_, Self>);

    /// Reads a plan.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    fn parse(text: &str) -> Result<Self, PlanError> {
        let plan: Self = toml::from_str(text).map_err(|error| PlanError(error.to_string()))?;
        plan.check_alone()?;
        Ok(plan)
    }

    /// Reads a plan's file.
    ///
    /// # Errors
    /// The file cannot be read, or what is wrong with it.
    fn read(path: &Path) -> Result<Self, PlanError> {
        let name = path.display().to_string();
        let wrong = |error: &dyn fmt::Display| PlanError(format!("{name}: {error}"));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let plan = Self::parse(&text).map_err(|error| wrong(&error))?;
        Ok(plan.named(name))
    }

    /// The plan as the text of a file, without what goes without saying.
    fn to_toml(&self) -> String {
        let mut table = table_of(self);
        leave_out(&mut table, &Self::usual());
        table.to_string()
    }
}

/// A value as a table; plans and their parts are tables.
pub fn table_of(value: &impl Serialize) -> toml::Table {
    toml::Table::try_from(value).unwrap_or_default()
}

/// Takes out what is as usual, and what is empty then.
fn leave_out(table: &mut toml::Table, usual: &toml::Table) {
    use toml::Value::{Array, Table};
    table.retain(|key, value| match (value, usual.get(key)) {
        (Array(list), usual) => {
            let usual = usual.and_then(|usual| usual.as_array()?.first()?.as_table());
            let elements = list.iter_mut().filter_map(toml::Value::as_table_mut);
            usual.into_iter().zip([elements]).for_each(|(usual, elements)| {
                elements.for_each(|element| leave_out(element, usual));
            });
            !list.is_empty()
        }
        (Table(inner), Some(Table(usual))) => {
            leave_out(inner, usual);
            !inner.is_empty()
        }
        (value, usual) => usual != Some(value),
    });
}
