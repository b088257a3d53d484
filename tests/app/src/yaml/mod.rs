// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Values as YAML, in the block style in which lnetctl prints them. What is printed here reads as
//! the same value in every YAML reader.

mod read;

pub use read::read;

use serde_json::{Map, Value};

use crate::output::escaped;

/// The value as a YAML document.
pub fn text(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => object(&mut text, map, 0, false),
        Value::Array(list) if !list.is_empty() => array(&mut text, list, 0),
        other => {
            text.push_str(&scalar(other));
            text.push('\n');
        }
    }
    text
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("    ", depth));
}

/// `begun`: the place of the first key is already written, behind the dash of a list.
fn object(text: &mut String, map: &Map<String, Value>, depth: usize, mut begun: bool) {
    for (key, value) in map {
        if !std::mem::take(&mut begun) {
            indent(text, depth);
        }
        text.push_str(&quoted(key));
        text.push(':');
        under(text, value, depth + 1);
    }
}

fn array(text: &mut String, list: &[Value], depth: usize) {
    for value in list {
        indent(text, depth);
        match value {
            // A dash and a key begin a line together, with the other keys below that key.
            Value::Object(map) if !map.is_empty() => {
                text.push_str("-   ");
                object(text, map, depth + 1, true);
            }
            _ => {
                text.push('-');
                under(text, value, depth + 1);
            }
        }
    }
}

/// A value behind its key or its dash.
fn under(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            text.push('\n');
            object(text, map, depth, false);
        }
        Value::Array(list) if !list.is_empty() => {
            text.push('\n');
            array(text, list, depth);
        }
        other => {
            text.push(' ');
            text.push_str(&scalar(other));
            text.push('\n');
        }
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(word) => quoted(word),
        // `null`, `true`, numbers, `{}` and `[]` are the same in both languages.
        other => other.to_string(),
    }
}

/// A text, in quotes where a reader would take it for something else. JSON's quotes are YAML's.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./@ (),;".contains(c);
    // A NID begins with a digit and is no number.
    let is_nid = word.contains('@') && word.starts_with(|c: char| c.is_ascii_digit());
    let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic()) || is_nid;
    let ends_plainly = !word.ends_with(' ');
    // What YAML 1.1 takes for truth values or for nothing.
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let means_more = reserved.iter().any(|it| word.eq_ignore_ascii_case(it));
    if is_word && ends_plainly && !means_more && word.chars().all(plain) {
        word.to_owned()
    } else {
        escaped(format_args!("{}", Value::from(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use serde_json::json;

    #[test]
    fn nesting_is_in_blocks_of_four_columns() {
        let value = json!({
            "net": [{ "nid": "1@soft0", "links": [{ "link": 0, "up": true }] }, { "nid": "x" }],
            "none": [], "empty": {}, "deep": { "list": [1, 2.5, null] },
        });
        let expected = "\
net:
    -   nid: 1@soft0
        links:
            -   link: 0
                up: true
    -   nid: x
none: []
empty: {}
deep:
    list:
        - 1
        - 2.5
        - null
";
        assert_eq!(text(&value), expected);
    }

    #[test]
    fn texts_that_look_like_something_else_are_in_quotes() {
        for word in ["", "no", "Yes", "null", "12", "-", "a: b", "#", " x", "x ", "a\nb", "ä", "~"]
        {
            assert_eq!(text(&json!(word)), format!("{}\n", json!(word)), "{word}");
        }
        assert_eq!(text(&json!("finalized_ok")), "finalized_ok\n");
    }
}
