#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Draws the book's pictures: NAME.svg of NAME.seq (a sequence) or NAME.boxes (boxes on a grid).

    docs/pictures/draw.py               fails if a picture is out of date
    docs/pictures/draw.py --write       draws what is out of date
    docs/pictures/draw.py --show light|dark FILE   one picture in one scheme, to look at
    docs/pictures/draw.py --self-test   shows that stale pictures, overlaps and mistakes are found

README.md beside this file has the language of both. A picture has its own background and follows
the reader's colour scheme. Labels that would overlap are an error, by a width that is estimated
generously.
"""

import html
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True  # no folder of Python's among the pictures

from boxes import Boxes  # noqa: E402
from sequence import Sequence  # noqa: E402
from svg import Mistake, num, rect, style  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def picture(source, kind, scheme=""):
    """The SVG of an input."""
    it = (Sequence if kind == ".seq" else Boxes)(source)
    parts, wide, high = it.draw()
    title, about = (
        html.escape(words.replace("`", ""), quote=False) for words in (it.title, it.about)
    )
    return "\n".join([
        "<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->",
        "<!-- Drawn by docs/pictures/draw.py; change the input beside it. -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{num(wide)}" height="{num(high)}" '
        f'viewBox="0 0 {num(wide)} {num(high)}" role="img" aria-labelledby="title about">',
        f'<title id="title">{title}</title>',
        f'<desc id="about">{about}</desc>',
        f"<style>{style(scheme)}</style>",
        rect(0.5, 0.5, wide - 1, high - 1, "ground", 10),
        *parts,
        "</svg>",
        "",
    ])


def inputs(folder):
    return sorted(path for path in folder.iterdir() if path.suffix in (".seq", ".boxes"))


def stale(folder):
    """Each picture that is not what its input says, and what it should be; None: has no input."""
    for path in inputs(folder):
        try:
            drawn = picture(path.read_text(encoding="utf-8"), path.suffix)
        except Mistake as why:
            raise Mistake(f"{path.name}: {why}") from why
        out = path.with_suffix(".svg")
        if not out.exists() or out.read_text(encoding="utf-8") != drawn:
            yield out, drawn
    names = {path.stem for path in inputs(folder)}
    for path in sorted(folder.glob("*.svg")):
        if path.stem not in names:
            yield path, None


def self_test():
    """A stale picture, one without input, an overlap and mistakes are found."""
    good = ("title: T\nabout: A.\nlane: a | A | x\nlane: b | B | y\na -> b: `go()`\nbegin a lent\n"
            "state a: one\nstate a: two\n& state b: three\nend a lent\n")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "x.seq").write_text(good, encoding="utf-8")
        (out, drawn), = stale(folder)
        out.write_text(drawn, encoding="utf-8")
        assert not list(stale(folder))
        (folder / "x.seq").write_text(good.replace("three", "four"), encoding="utf-8")
        assert [path.name for path, _ in stale(folder)] == ["x.svg"]
        (folder / "x.seq").write_text(good, encoding="utf-8")
        (folder / "y.svg").write_text(drawn, encoding="utf-8")
        assert [(path.name, what) for path, what in stale(folder)] == [("y.svg", None)]
    for old, new in [
        ("three", "three " * 20), ("state a: two", "state c: two"), ("begin a lent", ""),
        ("->", "<-"), ("about: A.", ""),
    ]:
        assert old in good
        try:
            picture(good.replace(old, new), ".seq")
        except Mistake:
            continue
        sys.exit(f"self-test: took {new!r} for {old!r}")
    print("docs/pictures/draw.py: stale pictures, overlaps and mistakes are found")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    try:
        if arguments[:1] == ["--show"]:
            path = pathlib.Path(arguments[2])
            print(picture(path.read_text(encoding="utf-8"), path.suffix, arguments[1]), end="")
            return 0
        wrong = list(stale(HERE))
    except Mistake as why:
        sys.exit(f"docs/pictures: {why}")
    for out, drawn in wrong:
        if arguments == ["--write"] and drawn is not None:
            out.write_text(drawn, encoding="utf-8")
        else:
            what = "has no input" if drawn is None else "is out of date"
            print(f"docs/pictures/{out.name} {what}")
    if wrong and arguments != ["--write"]:
        sys.exit("docs/pictures/draw.py --write")
    print(f"{len(inputs(HERE))} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
