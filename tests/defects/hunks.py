# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The patch list: how the defects of logic get into a copy of the tree (README.md beside this).

A file of `patches/` has the changes of the sources of one folder:

    == lnd-core/src/tx/pull.rs

    @@ pulls-without-bound
    -        let room = peer.pulls < self.config.pulls;
    +        let room = peer.pulls < self.config.pulls || seeded("pulls-without-bound");

The lines with `-` and those that begin with a space stand in the source, once; those with `+` take
the place of those with `-`. What is behind `@@` are the names that the lines with `+` use, in that
order.
"""

import difflib
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = "tests/defects/patches"
# Where `seeded` is defined; nothing else of the tree calls it.
HOME = "lnd-core/src/base/defect.rs"
CALLED = re.compile(r"\bseeded\(\s*\"([a-z0-9-]+)\"")
NEAR = 6  # lines between two changes that are shown as one
AREA = re.compile(r"^tests/sim/src/|/src\b")


class Hunk:
    """One change: lines, each with its mark."""

    def __init__(self, path, names, lines, place):
        self.path, self.names, self.lines, self.place = path, names, lines, place
        self.old = [line[1:] for line in lines if not line.startswith("+")]
        # Where the first changed line is, and what takes the place of what.
        marks = [line[:1] for line in lines]
        changed = [i for i, mark in enumerate(marks) if mark in "+-" and mark]
        first, last = (changed[0], changed[-1]) if changed else (0, -1)
        part = lines[first:last + 1]
        self.skip = first
        self.taken = sum(not line.startswith("+") for line in part)
        self.new = [line[1:] for line in part if not line.startswith("-")]

    def __str__(self):
        return "\n".join([f"@@ {' '.join(self.names)}", *self.lines])


def used(lines):
    """The names that lines of Rust use, in their order."""
    return list(dict.fromkeys(CALLED.findall("\n".join(lines))))


def parse(name, text):
    """The hunks of one file of the list; raises ValueError."""
    hunks, path, head, body = [], None, None, []

    def close(number):
        while body and not body[-1]:
            body.pop()
        if head is None:
            if body:
                raise ValueError(f"{name}:{number}: lines before the first @@")
            return
        lines = [line or " " for line in body]
        if path is None or not lines or any(line[0] not in " +-" for line in lines):
            raise ValueError(f"{name}:{head[0]}: not a hunk: @@ {' '.join(head[1])}")
        hunk = Hunk(path, head[1], lines, f"{name}:{head[0]}")
        if not head[1] or used([line for line in lines if line[0] == "+"]) != head[1]:
            raise ValueError(f"{hunk.place}: its lines with + use other names than its head has")
        hunks.append(hunk)

    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if line.startswith(("== ", "@@")):
            close(number)
            body = []
            if line.startswith("== "):
                path, head = line[3:].strip(), None
            else:
                head = (number, line[2:].split())
        else:
            body.append(line)
    close("end")
    return hunks


def read(root=ROOT):
    """All hunks, {path of the source: [hunk…]}; raises ValueError."""
    found = {}
    for file in sorted((root / FOLDER).iterdir()):
        for hunk in parse(f"{FOLDER}/{file.name}", file.read_text(encoding="utf-8")):
            found.setdefault(hunk.path, []).append(hunk)
    return found


def places(lines, old):
    """Where some lines stand in a text."""
    return [i for i in range(len(lines) - len(old) + 1) if lines[i:i + len(old)] == old]


def nearest(lines, old):
    """What stands where the lines of a hunk may have stood."""
    wanted = {line.strip() for line in old if line.strip(" {}()")}
    def score(at):
        return sum(line.strip() in wanted for line in lines[at:at + len(old)])
    def alike(at):
        part = "\n".join(lines[at:at + len(old)])
        return difflib.SequenceMatcher(None, part, "\n".join(old), autojunk=False).quick_ratio()
    spots = range(max(1, len(lines) - len(old) + 1))
    best = max(map(score, spots), default=0)
    at = max((s for s in spots if score(s) == best), key=alike)
    first = max(0, at - 2)
    shown = lines[first:at + len(old) + 2]
    return "\n".join(f"{first + 1 + i:6}  {line}" for i, line in enumerate(shown))


def import_of(path):
    """The line that lets a source use `seeded`."""
    crate = "crate::base" if path.startswith("lnd-core/") else "lnd_core"
    return f"use {crate}::defect::seeded;"


def without_import(line):
    """A line that imports `seeded` and others imports the others."""
    return re.sub(r"defect::\{(?:(\w+)|(.+)), seeded\};$",
                  lambda it: f"defect::{it[1]};" if it[1] else f"defect::{{{it[2]}}};", line)


def apply(path, text, hunks):
    """(the source with its defects, what is wrong)."""
    lines = text.splitlines()
    found, wrong = [], []
    for hunk in hunks:
        there = places(lines, hunk.old)
        if len(there) == 1:
            found.append((there[0] + hunk.skip, hunk))
            continue
        how = f"fits {len(there)} places in" if there else "fits no place any more in"
        mend = "Give it more lines around" if there else "Write what stands there now into"
        wrong.append(
            f"{hunk.place}: a hunk {how} {path}. {mend} the hunk:\n{hunk}\n"
            + ("" if there else f"Nearest to it, {path} has now:\n{nearest(lines, hunk.old)}\n")
        )
    found.sort(key=lambda it: it[0])
    for (at, hunk), (after, other) in zip(found, found[1:]):
        if at + hunk.taken > after:
            wrong.append(
                f"{hunk.place} and {other.place}: they change the same lines; make them one hunk\n"
            )
    for at, hunk in reversed(found):
        lines[at:at + hunk.taken] = hunk.new
    return "\n".join([*lines, import_of(path), ""]), wrong


def derive(path, clean, broken):
    """The hunks that make `broken` of `clean`; raises ValueError if a change has no name."""
    old = clean.splitlines()
    new = [line for line in map(without_import, broken.splitlines()) if line != import_of(path)]
    blocks = []
    for kind, i, j, k, l in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            blocks.append((i, j, k, l))
    blocks = joined(old, new, blocks)
    hunks = []
    for i, j, k, l in blocks:
        names = used(new[k:l])
        if not names:
            raise ValueError(f"{path}:{i + 1}: changed, and no seeded(\"…\") in what is new:\n"
                             + "\n".join(new[k:l]))
        before, after = context(old, i, j)
        lines = [" " + line for line in old[i - before:i]]
        lines += marked(old[i:j], new[k:l])
        lines += [" " + line for line in old[j:j + after]]
        hunks.append(Hunk(path, names, lines, path))
    return hunks


def joined(old, new, blocks):
    """Changes that are near each other, or of which one has no name, as one."""
    out = []
    for block in blocks:
        if out:
            i, _, k, l = out[-1]
            gap = block[0] - out[-1][1]
            nameless = not used(new[k:l]) or not used(new[block[2]:block[3]])
            if gap <= 1 or nameless and gap <= NEAR:
                out[-1] = (i, block[1], k, block[3])
                continue
        out.append(block)
    return out


def marked(old, new):
    """The lines of a change with their marks; what both have is shown once."""
    lines = []
    for kind, i, j, k, l in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [" " + line for line in old[i:j]]
        else:
            lines += ["-" + line for line in old[i:j]] + ["+" + line for line in new[k:l]]
    return lines


def context(lines, i, j):
    """How many lines before and after a change make its place unmistakable."""
    before = after = 1 if i == j else 0
    while True:
        while before < i and before and not lines[i - before].strip():
            before += 1
        while j + after < len(lines) and after and not lines[j + after - 1].strip():
            after += 1
        old = lines[i - before:j + after]
        if len(old) and len(places(lines, old)) == 1:
            return before, after
        if before <= after and before < i or j + after >= len(lines):
            before += 1
        else:
            after += 1


def area(path):
    """The file of the list in which a source's hunks are."""
    folder = str(pathlib.PurePosixPath(path).parent)
    return re.sub(r"[-/]*src\b/?", "/", folder).strip("/").replace("/", "-")


def write(found, root=ROOT):
    """Writes the list: {path: [hunk…]}."""
    files = {}
    for path in sorted(found):
        if found[path]:
            files.setdefault(area(path), []).append(path)
    for file in (root / FOLDER).iterdir():
        if file.name not in files:
            file.unlink()
    for name, paths in files.items():
        text = "# SPDX-License-Identifier: MIT OR GPL-2.0-only\n"
        for path in paths:
            text += f"\n== {path}\n"
            for hunk in found[path]:
                text += f"\n{hunk}\n"
        text = "".join(line.rstrip() + "\n" for line in text.splitlines())
        (root / FOLDER / name).write_text(text, encoding="utf-8")
