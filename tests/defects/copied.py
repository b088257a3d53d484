# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The copy of the tree in which every defect can be put to work (README.md beside this)."""

import hashlib
import json
import os
import subprocess
import sys

import hunks

ROOT = hunks.ROOT
WRITTEN = ".written"  # {path: digest} of what was copied
MOVE = """A defect of logic sits in the patch list, not in the source (tests/defects/README.md):
    tests/defects/tree           copies the tree to target/defects-tree, with these calls in it
    then take the calls out of the sources named above, so that they read as if there were no defect
    tests/defects/tree --write   writes the difference into tests/defects/patches
A fence that a defect takes away is `fenced("name", …)`,
a weakened ordering is `ordered("name", …)`."""


def tracked():
    """Every file that git knows or would add."""
    out = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout
    return sorted(p for p in out.split("\0") if p and (ROOT / p).is_file())


def problems(files, found):
    """What is wrong with the list and the sources: {path: text}, {path: [hunk…]}."""
    wrong = []
    for path, text in files.items():
        calls = [n for n, line in enumerate(text.splitlines(), 1) if hunks.CALLED.search(line)]
        if calls and path != hunks.HOME:
            wrong.append(f"{path}:{calls[0]}: calls seeded(), in {len(calls)} lines")
    if wrong:
        wrong.append(MOVE)
    for path, its in found.items():
        if path not in files:
            wrong.append(f"{its[0].place}: there is no {path}")
        else:
            wrong += hunks.apply(path, files[path], its)[1]
    return wrong


def rust(paths):
    """The sources among some files, {path: text}."""
    return {p: (ROOT / p).read_text(encoding="utf-8") for p in paths if p.endswith(".rs")}


def check():
    """What is wrong, as one text; empty if nothing is."""
    try:
        found = hunks.read()
    except ValueError as error:
        return str(error)
    return "\n".join(problems(rust(tracked()), found))


def digest(data):
    """Names a content."""
    return hashlib.sha256(data).hexdigest()


def make(folder, force=False):
    """Makes or renews the copy."""
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / WRITTEN
    written = json.loads(record.read_text()) if record.exists() else {}
    try:
        found = hunks.read()
    except ValueError as error:
        sys.exit(str(error))
    wanted = {path: (ROOT / path).read_bytes() for path in tracked()}
    wrong = []
    for path, its in found.items():
        if path not in wanted:
            wrong.append(f"{its[0].place}: there is no {path}")
            continue
        text, bad = hunks.apply(path, wanted[path].decode(), its)
        wanted[path] = text.encode()
        wrong += bad
    if wrong:
        sys.exit("\n".join(wrong))
    have = {
        p: (folder / p).read_bytes() for p in set(wanted) | set(written) if (folder / p).is_file()
    }
    changed = [p for p, data in have.items()
               if p in written and digest(data) != written[p] and data != wanted.get(p)]
    if changed and not force:
        sys.exit(f"{folder} was changed: {', '.join(sorted(changed))}\n"
                 "tests/defects/tree --write keeps that, tests/defects/tree --force does not")
    for path in set(have) - set(wanted):
        (folder / path).unlink()
    for path, data in wanted.items():
        if have.get(path) != data:
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            fresh = place.with_name(f"{place.name}.{os.getpid()}")
            fresh.write_bytes(data)
            fresh.chmod((ROOT / path).stat().st_mode & 0o777)
            fresh.replace(place)
    record.write_text(json.dumps({p: digest(data) for p, data in wanted.items()}, indent=0))


def write(folder):
    """Derives the patch list from the copy."""
    found = {}
    try:
        for path, text in rust(tracked()).items():
            copy = folder / path
            if path != hunks.HOME and copy.exists():
                found[path] = hunks.derive(path, text, copy.read_text(encoding="utf-8"))
    except ValueError as error:
        sys.exit(
            f"{error}\nIf the source was changed after the copy was made: make the copy anew first."
        )
    hunks.write(found)
    make(folder, force=True)
    print(f"{sum(map(len, found.values()))} hunks in {sum(map(bool, found.values()))} sources")


def self_test():
    """Every kind of fault is found, and what was changed in a copy comes back as it was."""
    path = "lnd-core/src/tx/a.rs"
    clean = "fn a(b: u32) -> bool {\n    b > 1\n}\n\nfn c(b: u32) {\n    send(b);\n}\n"
    text = (
        f"# x\n\n== {path}\n\n@@ one\n-    b > 1\n+    b > 1 || seeded(\"one\")\n"
        "\n@@ two\n fn c(b: u32) {\n+    if seeded(\"two\") {\n+        return;\n+    }\n"
        "     send(b);\n"
    )
    its = hunks.parse("x", text)
    broken, wrong = hunks.apply(path, clean, its)
    assert not wrong and broken.endswith(f"{hunks.import_of(path)}\n"), (broken, wrong)
    assert [str(hunk) for hunk in hunks.derive(path, clean, broken)] == [str(hunk) for hunk in its]
    assert hunks.area(path) == "lnd-core-tx" and hunks.area("ffi/src/ni.rs") == "ffi"
    assert not problems({path: clean}, {path: its})
    fits_twice = clean.replace("send(b);", "b > 1")
    for files, words in (
        ({path: clean.replace("b > 1", "b > 2")}, "fits no place"),
        ({path: fits_twice}, "fits 2 places"),
        ({}, "there is no"),
        ({path: clean, "lnd-dma/src/b.rs": 'if seeded("three") {'}, "calls seeded()"),
    ):
        found = "\n".join(problems(files, {path: its}))
        assert words in found, (words, found)
    assert "     2      b > 2" in problems({path: clean.replace("b > 1", "b > 2")}, {path: its})[0]
    assert "same lines" in problems({path: clean}, {path: [*its, its[0]]})[0]
    for bad in (
        text.replace("@@ one", "@@ other"), text.replace("@@ one", "@@"), text.replace("== ", "= "),
        text.replace("-    b", "?    b"),
    ):
        try:
            hunks.parse("x", bad)
        except ValueError:
            continue
        raise AssertionError(f"accepted: {bad}")
    try:
        hunks.derive(path, clean, clean.replace("send(b)", "send(2)"))
    except ValueError:
        return
    raise AssertionError("a change without a name was accepted")
