// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files of text that people write: plans, descriptions.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most bytes of such a file.
const MOST: u64 = 1 << 20;

/// Longest line of an error about a file: such errors show the line that they are about.
const LONGEST: usize = 160;

/// An error about a file in words, without the rest of lines that no terminal shows.
pub fn brief(error: &dyn std::fmt::Display) -> String {
    let cut = |line: &str| match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{} […]", line[..at].trim_end()),
        None => line.to_owned(),
    };
    error.to_string().trim_end().lines().map(cut).collect::<Vec<_>>().join("\n")
}

/// The text of a file, which may also be a device or a pipe without an end.
///
/// # Errors
/// It cannot be read, is no text, or has more than 1 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::new(ErrorKind::InvalidData, "it has more than 1 MiB"));
    }
    // As all of it is there, an error is about its characters.
    bytes.as_slice().read_to_string(&mut text)?;
    Ok(text)
}

/// Whether two paths lead to one file, there already or to be made. Devices and pipes are none.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| std::fs::metadata(path).ok();
    if let (Some(one), Some(other)) = (found(one), found(other)) {
        return one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    let place = |path: &Path| Some(directory_of(path).ok()?.join(path.file_name()?));
    place(one).is_some_and(|it| Some(it) == place(other))
}

/// The directory in which a path is, whether anything is there or not.
///
/// # Errors
/// There is no such directory.
pub fn directory_of(path: &Path) -> io::Result<PathBuf> {
    // A relative path of one part has an empty parent: the working directory.
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    above.unwrap_or(Path::new(".")).canonicalize()
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn an_error_about_a_long_line_is_short() {
        let long = format!("line 1\n{}\nwhat is wrong\n", "ä".repeat(5000));
        let told = brief(&long);
        assert_eq!(told, format!("line 1\n{} […]\nwhat is wrong", "ä".repeat(160)));
        assert_eq!(brief(&"a\nb"), "a\nb");
    }
}
