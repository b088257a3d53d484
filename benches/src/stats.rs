// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Medians, and tables of them.

use super::Options;

/// What was measured under one name: one value a round.
#[derive(Clone, Debug, Default)]
pub struct Column {
    values: Vec<f64>,
}

impl Column {
    /// Adds a round's value.
    pub fn push(&mut self, value: f64) {
        self.values.push(value);
    }

    /// Values so far.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value below which a share `q` of the rounds lies; not a number if there is none.
    pub fn quantile(&self, q: f64) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = (q * last as f64).round() as usize;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }

    /// The median; the lower of the two in the middle if their number is even.
    pub fn median(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
    }

    /// This column divided by another, round by round: the only comparison that survives a machine
    /// whose speed changes.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        let pairs = self.values.iter().zip(&other.values);
        Self { values: pairs.map(|(a, b)| a / b).collect() }
    }
}

/// Lines of a name and some medians, printed as a table and as JSON.
#[derive(Debug)]
pub struct Table {
    bench: &'static str,
    json: bool,
}

impl Table {
    /// Begins a table with a headline.
    pub fn begin(bench: &'static str, options: &Options, headline: &str) -> Self {
        println!("\n{headline}");
        Self { bench, json: options.json }
    }

    /// One figure: its median, quartiles, number of rounds; and its median ratio to a base.
    pub fn line(&self, name: &str, unit: &str, figure: &Column, ratio: Option<(&Column, &str)>) {
        let (median, n) = (figure.median(), figure.len());
        let (low, high) = (figure.quantile(0.25), figure.quantile(0.75));
        print!("  {name:<44} {median:>10.2} {unit:<5} [{low:.2} … {high:.2}] n={n}");
        if let Some((ratio, base)) = ratio {
            print!("   x{:.3} {base}", ratio.median());
        }
        println!();
        if self.json {
            let bench = self.bench;
            let ratio = match ratio {
                Some((ratio, base)) => {
                    format!(",\"ratio\":{:.4},\"base\":\"{base}\"", ratio.median())
                }
                None => String::new(),
            };
            println!(
                "{{\"bench\":\"{bench}\",\"name\":\"{name}\",\"unit\":\"{unit}\",\
                 \"median\":{median:.4},\"q1\":{low:.4},\"q3\":{high:.4},\"n\":{n}{ratio}}}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> Column {
        Column { values: values.to_vec() }
    }

    #[test]
    fn medians_and_quartiles_are_values_that_were_measured() {
        let odd = column(&[5.0, 1.0, 3.0]);
        assert_eq!((odd.median(), odd.quantile(0.0), odd.quantile(1.0)), (3.0, 1.0, 5.0));
        assert_eq!(column(&[4.0, 1.0, 2.0, 3.0]).median(), 2.0);
        assert!(Column::default().median().is_nan());
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        // The machine is ten times slower in the second round, and the ratio does not notice.
        let ratio = column(&[2.0, 20.0, 2.0]).over(&column(&[1.0, 10.0, 1.0]));
        assert_eq!((ratio.median(), ratio.quantile(1.0)), (2.0, 2.0));
    }
}
