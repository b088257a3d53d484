// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! YAML as a value: one document with the types that JSON has. Anchors, aliases and tags are
//! refused: a few bytes of them can stand for any number of values.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Deepest nesting.
const DEEPEST: usize = 32;

/// A list or a table that has begun.
enum Open {
    List(Vec<Value>),
    /// And the key whose value is to come.
    Table(Map<String, Value>, Option<String>),
}

/// Reads a document.
///
/// # Errors
/// What is wrong with it, with line and column.
pub fn read(text: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut whole = None;
    for event in Parser::new_from_str(text) {
        let (event, at) = event.map_err(|error| placed(error.marker(), error.info()))?;
        let wrong = |why: &str| placed(&at.start, why);
        let value = match event {
            Event::Alias(_) => return Err(wrong("an alias")),
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(anchor, _)
            | Event::MappingStart(anchor, _)
                if anchor > 0 =>
            {
                return Err(wrong("an anchor"));
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => return Err(wrong("a tag")),
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= DEEPEST => {
                return Err(wrong("nested too deep"));
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Table(Map::new(), None));
                continue;
            }
            Event::DocumentStart(_) if whole.is_some() => {
                return Err(wrong("a second document"));
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(list)) => list.into(),
                Some(Open::Table(table, _)) => table.into(),
                None => return Err(wrong("an end without a beginning")),
            },
            Event::Scalar(word, style, ..) => match open.last_mut() {
                // A key is its text, whatever it looks like.
                Some(Open::Table(table, key @ None)) => {
                    if table.contains_key(&*word) {
                        return Err(wrong(&format!("'{word}' is there twice")));
                    }
                    *key = Some(word.into_owned());
                    continue;
                }
                _ if style == ScalarStyle::Plain => plain(&word),
                _ => Value::from(&*word),
            },
            _ => continue,
        };
        match open.last_mut() {
            None => whole = Some(value),
            Some(Open::List(list)) => list.push(value),
            Some(Open::Table(table, key)) => {
                let key = key.take().ok_or_else(|| wrong("a key that is no text"))?;
                table.insert(key, value);
            }
        }
    }
    whole.ok_or_else(|| "it is empty".into())
}

fn placed(at: &Marker, why: &str) -> String {
    format!("line {}, column {}: {why}", at.line(), at.col() + 1)
}

/// A word without quotes, as YAML 1.2 has it.
fn plain(word: &str) -> Value {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => {
            let whole = word
                .parse::<u64>()
                .map(Value::from)
                .or_else(|_| word.parse::<i64>().map(Value::from));
            // "inf" and "nan" are words here.
            let looks = word.bytes().all(|it| it.is_ascii_digit() || b"+-.eE".contains(&it));
            let broken = || word.parse::<f64>().ok().filter(|it| looks && it.is_finite());
            whole.ok().or_else(|| broken().map(Value::from)).unwrap_or_else(|| word.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text;
    use super::read;
    use serde_json::json;

    #[test]
    fn what_is_written_reads_as_what_it_was() {
        let value = json!({
            "net": [{ "nid": "1@soft0", "links": [{ "link": 0, "up": true }] }, { "nid": "x" }],
            "none": [], "empty": {}, "deep": { "list": [1, -2, 2.5, null, [], "no", "12", "0x1f"] },
            "odd": ["", "a: b", "#", " x", "x ", "a\nb", "ä", "~", "-", "\u{1b}", "true", "1e3"],
            "controls": "\u{7f}\u{85}\u{9b}",
            "12": { "no": "yes", "": 1 },
        });
        assert_eq!(read(&text(&value)).as_ref(), Ok(&value));
        // JSON is YAML.
        assert_eq!(read(&format!("{value:#}")).as_ref(), Ok(&value));
        assert_eq!(read(&value.to_string()).as_ref(), Ok(&value));
    }

    #[test]
    fn what_is_no_plain_document_is_refused_with_its_place() {
        for (document, why) in [
            ("", "it is empty"),
            ("# nothing", "it is empty"),
            ("a: &x 1\nb: *x", "line 1, column 4: an anchor"),
            ("b: *x", "line 1, column 4: while parsing node, found unknown anchor"),
            ("a: !!int 1", "a tag"),
            ("--- 1\n--- 2", "line 2, column 1: a second document"),
            ("a: 1\na: 2", "line 2, column 1: 'a' is there twice"),
            ("[a]: 1", "a key that is no text"),
            ("a: [1", "line "),
            ("a:\n\tb: 1", "line "),
            ("a: 'x", "line "),
        ] {
            let told = read(document).expect_err(document);
            assert!(told.contains(why), "{document:?}: {told}");
        }
        for (many, why) in [(33, "nested too deep"), (100_000, "recursion limit")] {
            let told = read(&"[".repeat(many)).expect_err("it is deep");
            assert!(told.contains(why), "{told}");
        }
        assert!(read(&("[".repeat(32) + &"]".repeat(32))).is_ok());
        let told = read(&"- ".repeat(100_000)).expect_err("it is deep");
        assert!(told.contains("nested too deep"), "{told}");
    }

    /// Each byte of a document is taken out, doubled, and replaced by what means something.
    #[test]
    fn a_document_that_was_changed_anywhere_reads_or_is_refused() {
        let whole =
            "net:\n-   'a': {x: [1, \"b\\n\"], y: |\n      z\n    }\n    c: >-\n      d # e\n";
        let (mut good, mut bad) = (0, 0);
        for at in 0..whole.len() {
            for put in
                ["", "xx", "\t", "\n", ":", "- ", "{", "]", "'", "\"", "&a", "*a", "!", "%", "|"]
            {
                let changed = [&whole[..at], put, &whole[at + 1..]].concat();
                match read(&changed) {
                    Ok(_) => good += 1,
                    Err(why) => bad += u32::from(!why.is_empty()),
                }
            }
        }
        assert!(good > 50 && bad > 50, "{good} {bad}");
    }
}
