#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Builds the book as a site: docs/ through mdBook, and the sources that its pages lead to.

    docs/site/build.py MDBOOK OUT [DOCS]

OUT/html gets the site. DOCS is another copy of docs/, for tests. Graphviz draws the state machines.
"""

import html
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/parts"))
import book  # noqa: E402

# Where a page of the repository lies in the site, if not at its place below docs/.
PROJECT = "project"
SOURCES = "source"
DRAWN = re.compile(r"^\[([\w-]+)\.dot\]\(\1\.dot\)\n\n```mermaid\n.*?^```\n", re.M | re.S)
ITEM = re.compile(r"\[([^][]+)\]\((?:\w+::)+\w+\)")  # a link that rustdoc resolves
NOT_PROSE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


def place(path):
    """Where mdBook finds a page: below docs/ as it is, others in a folder; README is the index."""
    if path.startswith("docs/"):
        folder, name = posixpath.split(path[len("docs/"):])
        return posixpath.join(folder, "index.md" if name == "README.md" else name)
    if path == "README.md":
        return f"{PROJECT}/about.md"
    return f"{PROJECT}/{path.lower().replace('/readme.md', '.md')}"


def source_place(path):
    """Where the copy of a source lies. mdBook changes links that have .md in them."""
    return f"{SOURCES}/{path.removesuffix('.md')}.html"


class Site:
    """The pages, and the sources that they lead to."""

    def __init__(self, files):
        self.files = files
        order = files["docs/SUMMARY.md"]
        self.pages = [
            target for _, target, _ in book.links("docs/SUMMARY.md", order)
        ] + ["docs/SUMMARY.md"]
        self.sources = set()
        for page in self.pages:
            if page not in files:
                raise SystemExit(f"docs/SUMMARY.md: {page} does not exist")

    def link(self, page, link):
        """The link of a page as it is in the site."""
        if book.OUTSIDE.search(link) or link.startswith("#"):
            return link
        to, mark, heading = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), to))
        start = posixpath.dirname(place(page))
        if target not in self.pages and posixpath.join(target, "README.md") in self.pages:
            target = posixpath.join(target, "README.md")
        if target in self.pages:
            return posixpath.relpath(place(target), start or ".") + mark + heading
        if target in self.files and target.endswith(".svg"):
            return posixpath.relpath(target.removeprefix("docs/"), start or ".")
        if target not in self.files and not any(f.startswith(target + "/") for f in self.files):
            raise SystemExit(f"{page}: {link} leads nowhere")
        self.sources.add(target)
        return posixpath.relpath(source_place(target), start or ".")

    def text(self, page):
        """A page's text with the site's links and drawings."""
        folder = posixpath.dirname(page)
        text = DRAWN.sub(
            lambda m: drawing(self.files[posixpath.join(folder, f"{m[1]}.dot")]), self.files[page]
        )
        text = ITEM.sub(r"\1", text)
        out, at = [], 0
        for part in NOT_PROSE.finditer(text):
            out += [self.prose(page, text[at:part.start()]), part[0]]
            at = part.end()
        return "".join(out + [self.prose(page, text[at:])])

    def prose(self, page, text):
        def changed(found):
            link = found[1] or found[2]
            return found[0].replace(link, self.link(page, link))

        return book.LINK.sub(changed, text)


def drawing(dot):
    """A state machine's drawing, as mdBook takes it: one HTML block."""
    # The page has the title already.
    drawn = subprocess.run(
        ["dot", "-Tsvg", "-Glabel="], input=dot, check=True, capture_output=True, text=True
    )
    svg = drawn.stdout
    svg = re.sub(r"<!--.*?-->\n?", "", svg[svg.index("<svg"):], flags=re.S)
    return '<div class="machine">' + svg.replace("\n", " ") + "</div>\n"


def source_page(files, path, existing):
    """A page that shows a file, or lists a folder."""
    depth = "../" * (path.count("/") + 1)
    if path in files:
        lines = "".join(
            f'<span class="line" id="L{number}">{html.escape(line)}</span>\n'
            for number, line in enumerate(files[path].splitlines(), 1)
        )
        body = f'<pre class="source">{lines}</pre>'
    else:
        rows = []
        for name in sorted(name for name in files if name.startswith(path + "/")):
            shown = html.escape(name)
            if name in existing:
                shown = f'<a href="{depth}{source_place(name)}">{shown}</a>'
            rows.append(f"<li>{shown}</li>")
        body = f"<ul>{''.join(rows)}</ul>"
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(path)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{(HERE / 'source.css').read_text(encoding='utf-8')}</style></head>"
        f'<body><header><a href="{depth}index.html">The book</a> / {html.escape(path)}</header>'
        f"<main>{body}</main></body></html>\n"
    )


def build(mdbook, out, docs):
    """The whole site; returns how many pages and sources it has."""
    files = book.tracked()
    if docs:
        files = {path: text for path, text in files.items() if not path.startswith("docs/")}
        for path in sorted(docs.rglob("*")):
            if path.is_file():
                files[f"docs/{path.relative_to(docs)}"] = path.read_text(encoding="utf-8")
    shutil.rmtree(out, ignore_errors=True)
    source = out / "src"
    source.mkdir(parents=True)
    for name in ("book.toml", "site.css"):
        shutil.copy(HERE / name, out / name)
    site = Site(files)
    for page in site.pages:
        path = source / place(page)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(site.text(page), encoding="utf-8")
    for path, text in files.items():
        if path.startswith("docs/") and path.endswith(".svg"):
            picture = source / path[len("docs/"):]
            picture.parent.mkdir(parents=True, exist_ok=True)
            picture.write_text(text, encoding="utf-8")
    subprocess.run([mdbook, "build", str(out)], check=True)
    for path in site.sources:
        page = out / "html" / source_place(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(source_page(files, path, site.sources), encoding="utf-8")
    return len(site.pages) - 1, len(site.sources)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    mdbook, out = sys.argv[1:3]
    docs = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    pages, sources = build(mdbook, pathlib.Path(out).resolve(), docs)
    print(f"{pages} pages, {sources} sources")


if __name__ == "__main__":
    main()
