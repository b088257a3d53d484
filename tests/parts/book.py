#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Checks the book: its links, its table of contents, and the names in the tour.

    tests/parts/book.py [--self-test]

* A relative link of a Markdown file leads to a file, and to a heading if it names one. It is
  written where it is used: the site leads those to the repository, and no others.
* A `docs/…` path that any file names exists. CHANGELOG.md is history and is left out.
* A name of the C library (`lnd_…`, `LND_…`) that a page uses is in a source.
* Every chapter is in the table of contents, docs/README.md, and every page in the site's,
  docs/SUMMARY.md; every picture is on a page, with words for it.
* A chapter with examples in Rust is one of those that `cargo test -p lnd-book` runs.
* Prose has the field's words and a subject: not the retired ones.
* In docs/tour.md a function is written `name()`; a file that the same paragraph or row links
  defines it.
"""

import pathlib
import posixpath
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import names  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONTENTS, SUMMARY, TOUR = "docs/README.md", "docs/SUMMARY.md", "docs/tour.md"
RUN = "tests/book/src/lib.rs"
CHAPTER = re.compile(r"docs/(?:evidence/)?[\w-]+\.md$")
PICTURE = re.compile(r"docs/pictures/.*\.svg$")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
APART = re.compile(r"^\[[^]\n]+\]: (?![a-z]+:)\S+", re.M)  # a relative link that is not in place
OUTSIDE = re.compile(r"^[a-z]+:|::")  # another site; an item that rustdoc resolves
NAMED = re.compile(r"(?<![\w./-])docs/[\w./-]+\.(?:md|svg|txt|dot|seq)\b")
API = re.compile(r"\b(?:lnd|LND)_\w+\b(?<!_)(?!\*)")
# LNet's callbacks, and names of what was decided against.
NOT_OURS = {"lnd_startup", "lnd_notify_peer_down", "lnd_get_timeout", "lnd_ctl", "lnd_spin_lock"}
RETIRED = re.compile(rf"\b(?:{'|'.join(names.PAGES)})\b", re.I)
SOURCE = re.compile(r"\.(?:rs|c|h|sh|toml|py)$|^[^.]+$|/[^./]+$")
FUNCTION = re.compile(r"`(\w+)\(\)`")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def tracked():
    """The text of every file that git knows or would add."""
    out = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout
    files = {}
    for path in filter(None, out.split("\0")):
        try:
            files[path] = (ROOT / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            files[path] = ""  # binary, or removed and not yet staged
    return {path: text for path, text in files.items() if (ROOT / path).exists()}


def anchors(text):
    """The names by which a rendered page's headings can be linked."""
    for title in HEADING.findall(FENCED.sub("", text)):
        title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()
        yield re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-")


def links(path, text):
    """Every relative link of a page: as written, the file it leads to, and the heading."""
    for found in LINK.finditer(CODE.sub("", FENCED.sub("", text))):
        link = found[1] or found[2]
        if OUTSIDE.search(link):
            continue
        to, _, heading = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), to)) if to else path
        yield link, target, heading


def bad_links(files):
    """Links that lead nowhere."""
    folders = {folder for path in files for folder in map(str, pathlib.PurePosixPath(path).parents)}
    for path, text in files.items():
        if not path.endswith(".md"):
            continue
        for link in APART.findall(FENCED.sub("", text)):
            yield f"{path}: {link} is not written where it is used"
        for link, target, heading in links(path, text):
            if target not in files and target not in folders:
                yield f"{path}: {link} leads nowhere"
            elif heading and target.endswith(".md") and heading not in anchors(files[target]):
                yield f"{path}: {link}: there is no such heading"


def bad_names(files):
    """Paths of the book that are named and do not exist."""
    for path, text in files.items():
        if path in ("CHANGELOG.md", "tests/parts/book.py"):
            continue
        for name in sorted(set(NAMED.findall(text))):
            if name not in files:
                yield f"{path}: names {name}, which does not exist"


def bad_api(files):
    """Names of the C library that no source has."""
    known = {
        name for path, text in files.items() if SOURCE.search(path) for name in API.findall(text)
    }
    for path, text in files.items():
        if path.endswith(".md") and path != "CHANGELOG.md":
            for name in sorted(set(API.findall(text)) - known - NOT_OURS):
                yield f"{path}: no source has {name}"


def bad_words(files):
    """Words that were retired from prose."""
    for path, text in files.items():
        if path.endswith(".md") and path != "CHANGELOG.md":
            for number, line in enumerate(text.splitlines(), 1):
                for word in RETIRED.findall(line):
                    yield f"{path}:{number}: '{word}' is retired"


def missing_chapters(files):
    """Chapters that the table of contents leaves out."""
    there = {target for _, target, _ in links(CONTENTS, files.get(CONTENTS, ""))}
    for path in files:
        if CHAPTER.match(path) and path not in (CONTENTS, SUMMARY) and path not in there:
            yield f"{CONTENTS}: {path} is not in it"
    there = {target for _, target, _ in links(SUMMARY, files.get(SUMMARY, ""))}
    for path in files:
        if path.startswith("docs/") and path.endswith(".md") and path not in there | {SUMMARY}:
            yield f"{SUMMARY}: {path} is not in it"


def idle_examples(files):
    """Examples in Rust that no test runs."""
    for path, text in files.items():
        if path.startswith("docs/") and re.search(r"^```rust\b", text, re.M):
            if f'"../../../{path}"' not in files.get(RUN, ""):
                yield f"{RUN}: {path} is not in it"


def bad_pictures(files):
    """Pictures that no page shows, or shows without words."""
    shown = {
        target
        for path, text in files.items()
        if path.endswith(".md")
        for _, target, _ in links(path, text)
    }
    for path, text in files.items():
        if PICTURE.match(path) and path not in shown:
            yield f"{path}: no page shows it"
        if path.endswith(".md") and "![](" in CODE.sub("", FENCED.sub("", text)):
            yield f"{path}: a picture without words for it"


def defines(path, text, name):
    """Whether a source defines a function."""
    if path.endswith(".rs"):
        return re.search(rf"\bfn {name}\b", text)
    return re.search(rf"^\w[\w \t*]*\b\*?{name}\(", text, re.M)


def bad_functions(files):
    """Functions of the tour that no file beside them defines."""
    text = FENCED.sub("", files.get(TOUR, ""))
    for block in re.split(r"\n\s*\n|\n(?=\|)|\n(?=\d+\. )|\n(?=- )", text):
        sources = [target for _, target, _ in links(TOUR, block) if target in files]
        for name in FUNCTION.findall(block):
            if not any(defines(source, files[source], name) for source in sources):
                beside = ", ".join(sources) or "no file is linked beside it"
                yield f"{TOUR}: {name}() is in none of: {beside}"


def faults(files):
    """What is wrong, one line each."""
    for check in (
        bad_links, bad_names, bad_api, bad_words, missing_chapters, idle_examples,
        bad_pictures, bad_functions,
    ):
        yield from check(files)


def self_test():
    """Every seeded fault is found, and nothing else."""
    good = {
        CONTENTS: "# Book\n[a](a.md) [t](tour.md) [here](#book)\n"
                  "```\n[x](gone.md)\n```\n`[y](gone.md)`\n",
        "docs/a.md": "# A page: `code`\n"
                     "[b](README.md#book) [c](https://x.org/y) [d](../src) [e](select::f)\n"
                     '<img src="../src/f.c">\n',
        "docs/pictures/p.svg": "<svg/>\n",
        SUMMARY: "[b](README.md) [a](a.md) [e](e/e.md) [t](tour.md)\n",
        "docs/e/e.md": "```rust\nlet a = 1;\n```\n",
        RUN: '#[doc = include_str!("../../../docs/e/e.md")]\n',
        TOUR: "[a](a.md#a-page-code) ![p](pictures/p.svg)\n\n"
              "- [r](../src/r.rs): `run()`\n- [f](../src/f.c): `lnd_run()` is LND_OK, lnd_r*\n",
        "src/r.rs": "//! docs/a.md says why; lnd_run.\npub fn run() {}\n",
        "src/f.c": "static int lnd_run(int a)\n{\n\treturn LND_OK;\n}\n",
    }
    assert not list(faults(good)), list(faults(good))
    for path, old, new in [
        ("docs/a.md", "README.md#book", "README.md#books"),
        ("docs/a.md", "../src)", "../sources)"),
        ("docs/a.md", "../src/f.c", "../src/g.c"),
        ("docs/a.md", "# A page", "[f]: ../src/f.c\n# A page"),
        ("docs/a.md", "# A page", "Nobody\n# A page"),
        ("src/r.rs", "docs/a.md", "docs/b.md"),
        ("src/r.rs", "fn run()", "fn run_some()"),
        ("src/f.c", "lnd_run(int a)", "lnd_walk(int a)"),
        ("src/f.c", "LND_OK", "LND_GOOD"),
        (TOUR, "- [f](../src/f.c)", "- f"),
        (CONTENTS, "[t](tour.md)", ""),
        (TOUR, "![p](pictures/p.svg)", ""),
        (TOUR, "![p]", "![]"),
        (SUMMARY, "[e](e/e.md)", ""),
        (RUN, "e/e.md", "e/f.rs"),
    ]:
        seeded = {**good, path: good[path].replace(old, new)}
        assert seeded[path] != good[path], old
        assert len(list(faults(seeded))) == 1, (old, new, list(faults(seeded)))
    print("tests/parts/book.py: seeded faults are found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    files = tracked()
    wrong = list(faults(files))
    pages = sum(path.endswith(".md") for path in files)
    print("\n".join(wrong + [f"{pages} pages, {len(wrong)} faults"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
