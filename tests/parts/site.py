#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Checks the built site: every link, picture and anchor is there, and nothing is fetched.

    tests/parts/site.py FOLDER          the built site
    tests/parts/site.py --self-test
"""

import html.parser
import pathlib
import posixpath
import sys
import tempfile
import urllib.parse

LINKS = {"a": "href", "link": "href", "script": "src", "img": "src", "source": "srcset"}
# Pages that other sites serve: a reader may follow them. Anything else would be fetched.
MAY_LEAVE = {"a"}


class Page(html.parser.HTMLParser):
    """A page's links and the names by which it can be linked."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.update(filter(None, (attrs.get("id"), attrs.get("name"))))
        link = attrs.get(LINKS.get(tag, ""))
        if link:
            self.links.append((tag, link))

    handle_startendtag = handle_starttag


def faults(folder):
    """What is wrong with a site, one line each."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[str(path.relative_to(folder))] = Page(path.read_text(encoding="utf-8"))
    if "index.html" not in pages:
        yield "index.html: missing"
    for name, page in pages.items():
        if name == "404.html":
            continue  # its links are those of the root of a server
        for tag, link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme in ("http", "https"):
                if tag not in MAY_LEAVE:
                    yield f"{name}: fetches {link}"
                continue
            if parts.scheme:
                continue
            path = urllib.parse.unquote(parts.path)
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            target = name if not path else target
            if (folder / target).is_dir():
                target = posixpath.join(target, "index.html")
            if not (folder / target).is_file():
                yield f"{name}: {link} leads nowhere"
            elif parts.fragment and target in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                    yield f"{name}: {link}: there is no such heading"


def self_test():
    """Every seeded fault is found, and nothing else."""
    good = {
        "index.html": '<h1 id="top">x</h1><a href="a/b.html#c">b</a><a href="#top">t</a>'
                      '<img src="p.svg"><a href="https://x.org">o</a><script src="s.js"></script>',
        "a/b.html": '<p id="c"><a href="../index.html">i</a></p>',
        "p.svg": "<svg/>",
        "s.js": "",
    }

    def found(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(faults(pathlib.Path(folder)))

    assert not found(good), found(good)
    for name, old, new in [
        ("index.html", "a/b.html", "a/c.html"),
        ("index.html", "#c", "#d"),
        ("index.html", "#top", "#bottom"),
        ("index.html", "p.svg", "q.svg"),
        ("index.html", '"s.js"', '"https://x.org/s.js"'),
        ("a/b.html", "../index", "index"),
    ]:
        seeded = {**good, name: good[name].replace(old, new)}
        assert seeded[name] != good[name], old
        assert len(found(seeded)) == 1, (old, new, found(seeded))
    print("tests/parts/site.py: seeded faults are found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(wrong + [f"{len(wrong)} faults"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
