// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Texts, each of which is written once.

use std::collections::HashMap;

/// The texts of a report; others go by their numbers.
#[derive(Debug, Default)]
pub struct Strings {
    all: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Strings {
    /// The number of a text.
    pub fn of(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// All texts, by their numbers.
    pub fn into_all(self) -> Vec<String> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number() {
        let mut strings = Strings::default();
        assert_eq!(["a", "b", "a"].map(|text| strings.of(text)), [0, 1, 0]);
        assert_eq!(strings.into_all(), ["a", "b"]);
    }
}
