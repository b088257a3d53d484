#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Compares the sides of branches that no test takes with the reviewed list of them.

    tests/parts/branches.py LIST REPORT.json…      checks LIST, and that an altered one is refused
    tests/parts/branches.py --print REPORT.json…   prints what no test takes, as entries of a list
    tests/parts/branches.py --self-test

LIST is tests/exceptions/branches, which says how it is to be read.

REPORT.json is llvm-cov's export of one test program. A side is one outcome of a condition or of a
pattern (`if`, `while`, `let … else`, a guard, each operand of && and ||), an arm of a `match`,
or the way out of a function by `?`. The compiler counts conditions and patterns as branches; arms
and `?` it counts as regions of code, which are looked up in the source. A side counts as taken if
any instance of a generic function takes it. What is compiled for tests only is left out.
"""

import bisect
import collections
import json
import re
import sys

CRATES = ["lnd-core", "lnd-dma", "lnd-shortmsg"]


class Source:
    """A source file: its text by position, where its tests begin, and which function is where."""

    def __init__(self, text):
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        # Comments and literals blanked, so that brackets and arrows are the code's.
        literal = r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'"
        self.code = re.sub(literal, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
        tests = re.search(r"^#\[cfg\((?:all\()?test\b.*\]\s*mod \w+ \{", text, re.M)
        self.end = tests.start() if tests else len(text)
        self.shipped_lines = text.count("\n", 0, self.end) + (not tests)
        self.functions = [(m.start(), m.group(1)) for m in re.finditer(r"\bfn (\w+)", self.code)]

    def at(self, line, column):
        """The position of a line and a column, which count from 1, the latter in bytes."""
        before = self.lines[line - 1].encode()[: column - 1]
        return self.starts[line - 1] + len(before.decode())

    def function(self, position):
        index = bisect.bisect(self.functions, (position, "~")) - 1
        return self.functions[index][1] if index >= 0 else "-"

    def reach(self, position, stops):
        """Where one of the stops comes next, or the end of the bracket around the position."""
        depth = 0
        for here in range(position, len(self.code)):
            if depth == 0 and self.code.startswith(stops, here):
                return here
            depth += (self.code[here] in "([{") - (self.code[here] in ")]}")
            if depth < 0:
                return here
        return len(self.code)

    def condition(self, start, end):
        """A condition; a pattern with its `let` and with what it is matched against."""
        if self.text[:start].endswith("let "):
            start -= len("let ")
            end = self.reach(end, (" {", " else {", " && "))
        return " ".join(self.text[start:end].split())

    def line_up_to(self, position):
        return " ".join(self.text[self.text.rfind("\n", 0, position) + 1 : position].split())

    def arms(self):
        """Each arm of a match: where its arrow ends, where its body does, and its pattern."""
        for arrow in re.finditer("=>", self.code):
            body = re.compile(r"\s*").match(self.code, arrow.end()).end()
            block = self.code.startswith("{", body)
            end = self.reach(body + 1, ()) if block else self.reach(body, (",", "=>"))
            yield arrow.end(), end, self.line_up_to(arrow.end())


class Sources(dict):
    """The shipped sources by their paths, each read once."""

    def __init__(self, read=lambda path: open(path, encoding="utf-8").read()):
        super().__init__()
        self.read = read

    def __call__(self, path):
        if path not in self:
            self[path] = Source(self.read(path))
        return self[path]


def measured(functions, sources):
    """How often each side was taken: {(path, position, what): count}."""
    taken = collections.Counter()
    regions = collections.defaultdict(collections.Counter)
    for function in functions:
        files = [shipped(name) for name in function["filenames"]]
        for line, column, line2, column2, yes, no, number, *_ in function["branches"]:
            if path := files[number]:
                source = sources(path)
                start = source.at(line, column)
                text = source.condition(start, source.at(line2, column2))
                taken[path, start, f"never true: {text}"] += yes
                taken[path, start, f"never false: {text}"] += no
        for line, column, line2, column2, count, number, _, kind in function["regions"]:
            if kind == 0 and (path := files[number]):
                source = sources(path)
                span = source.at(line, column), source.at(line2, column2)
                regions[path][span] += count
    for path, of_file in regions.items():
        source, spans = sources(path), sorted(of_file)
        for start, end in spans:
            if source.text[start:end] == "?":
                taken[path, start, f"never leaves: {source.line_up_to(end)}"] = of_file[start, end]
        for start, end, pattern in source.arms():
            first = bisect.bisect_left(spans, (start, 0))
            if first < len(spans) and spans[first][0] <= end:
                taken[path, start, f"never: {pattern}"] = of_file[spans[first]]
    return {side: count for side, count in taken.items() if side[1] < sources(side[0]).end}


def shipped(name, crates=tuple(CRATES)):
    """The path of a shipped source of one of the crates in its repository, otherwise None."""
    for crate in crates:
        if f"/{crate}/src/" in name and not name.endswith(("/tests.rs", "_tests.rs")):
            return f"{crate}/src/" + name.split(f"/{crate}/src/", 1)[1]
    return None


def entries(taken, sources):
    """{entry: whether taken}: without line numbers; the second alike in a function gets a #2."""
    seen, out = collections.Counter(), {}
    for path, position, what in sorted(taken):
        entry = f"{path}: {sources(path).function(position)}: {what}"
        seen[entry] += 1
        out[entry + (f" #{seen[entry]}" if seen[entry] > 1 else "")] = (
            taken[path, position, what] > 0
        )
    return out


def judge(found, text):
    """What is wrong with a list, and how many sides of each crate it accepts."""
    wrong, accepted, reason = [], set(), ""
    for line in map(str.strip, text.splitlines()):
        if line[:2] in ("= ", "~ "):
            reason = line[0]
        if not line or line.startswith(("#", "= ", "~ ")):
            continue
        # A star stands for any text, unless it is the code's.
        pattern = re.compile(".*".join(map(re.escape, line.split("*"))))
        sides = [line] if line in found else [e for e in found if pattern.fullmatch(e)]
        if not reason:
            wrong.append(f"no reason: {line}")
        if not sides:
            wrong.append(f"there is no such side any more: {line}")
        if reason == "=":
            wrong += [f"not needed, a test takes it: {e} ({line})" for e in sides if found[e]]
        wrong += [f"listed twice: {e}" for e in sides if e in accepted]
        accepted.update(sides)
    rest = [e for e in found if not found[e] and e not in accepted]
    wrong += [f"no test takes it, and it is not listed: {e}" for e in rest]
    return wrong, collections.Counter(e.split("/", 1)[0] for e in accepted)


def bites(found, text):
    """Whether the list is refused without its last entry, and with one that should not be there."""
    lines = text.rstrip().splitlines()
    covered = next(entry for entry in found if found[entry])
    altered = [
        lines[:-1], lines + ["lnd-core/src/lib.rs: nothing: never true: x"], lines + [covered],
    ]
    return all(judge(found, "\n".join(other))[0] for other in altered)


def summary(found, accepted):
    of = lambda sides: collections.Counter(entry.split("/", 1)[0] for entry in sides)
    every, taken = of(found), of(entry for entry in found if found[entry])
    return ", ".join(
        f"{crate} {100 * taken[crate] / max(every[crate], 1):.1f} % of {every[crate]} sides"
        f" ({accepted[crate]} listed)"
        for crate in CRATES
    )


def self_test():
    """Each kind of side is found, taken or not, and named; tests do not count."""
    text = """fn act(x: Option<u8>) -> Option<u8> {
    let Some(y) = x else { return None };
    if y > 3 { z(y)?; }
    match y { 0 => None, _ => x }
}
#[cfg(test)]
mod tests { fn no() { if true {} } }
"""
    branches = [[2, 9, 2, 16, 5, 0], [3, 8, 3, 13, 0, 5], [7, 27, 7, 31, 1, 0]]
    regions = [[3, 20, 3, 21, 0], [4, 20, 4, 24, 5], [4, 31, 4, 32, 0]]
    function = {
        "filenames": ["/x/lnd-dma/src/a.rs"],
        "branches": [branch + [0, 0, 4] for branch in branches],
        "regions": [region + [0, 0, 0] for region in regions],
    }
    sources = Sources(lambda _: text)
    found = entries(measured([function], sources), sources)
    at = "lnd-dma/src/a.rs: act: never"
    expected = {
        f"{at} false: let Some(y) = x": False,
        f"{at} true: let Some(y) = x": True,
        f"{at} false: y > 3": True,
        f"{at} true: y > 3": False,
        f"{at} leaves: if y > 3 {{ z(y)?": False,
        f"{at}: match y {{ 0 =>": True,
        f"{at}: match y {{ 0 => None, _ =>": False,
    }
    assert found == expected, found
    gone = [entry for entry in found if not found[entry]]
    listed = "= why\n" + "\n".join(gone)
    assert judge(found, listed) == ([], collections.Counter({"lnd-dma": 4}))
    assert bites(found, listed)
    assert judge(found, "= why\n*: never *")[0] and judge(found, "\n".join(gone))[0]
    assert not judge(found, f"~ timing\n{at} true: let *\n{listed}")[0]
    print("branches.py: self-test passed")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    functions = []
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            functions += json.load(file)["data"][0]["functions"]
    sources = Sources()
    found = entries(measured(functions, sources), sources)
    if sys.argv[1] == "--print":
        print("\n".join(entry for entry in found if not found[entry]))
        return 0
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    wrong, accepted = judge(found, text)
    if not wrong and not bites(found, text):
        wrong = ["an altered list is accepted"]
    print("\n".join(wrong + [summary(found, accepted)]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
