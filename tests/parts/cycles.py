#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Checks that no files of a shipped crate, or of a host in C, depend on each other in a cycle.

    tests/parts/cycles.py [--self-test | --edges CRATE_OR_FOLDER]

A file depends on another one if its code, tests left out, names something that the other one
defines: by `use` or by a path, through `crate`, `self`, `super` or a module's name. A re-export
leads to where the thing is defined; it makes a dependency only if its own file uses the name, and
`mod` makes none. Where the methods of one type are spread over several files, a call of one on
`self` is a dependency too.

A file in C depends on another one if it names what that one defines for others. What a file's own
header declares and another file defines is a hook of its own, and makes none; nor does what a
header of its own folder declares and another folder defines.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CRATES = (
    "lnd-core", "lnd-dma", "lnd-shortmsg", "lnd-health", "ffi", "ffi/soft", "ffi/firmware/common",
    "ffi/firmware/riscv", "ffi/firmware/aarch64", "ffi/firmware/sizes",
)
HOSTS_IN_C = ("ffi/kernel", "ffi/lnet", "ffi/verbs", "ffi/firmware/cortex-m")
DEFINES = re.compile(r"^[ \t]*(?:pub(?:\([\w: ]+\))? )?(?:(?:const|unsafe|async|extern \"C\") )*"
                     r"(?:fn|struct|enum|union|trait|type|const|static|macro_rules!) +(\w+)", re.M)
USE = re.compile(r"^[ \t]*(pub(?:\([\w: ]+\))? )?use ([^;]+);", re.M)
IMPL = re.compile(
    r"^impl\b(?:<[^{;]*?>)? *(\w+)(?:<[^{;]*?>)? *(?:where[^{]*)?\{\n(.*?)^\}", re.M | re.S
)
METHOD = re.compile(r"^    (?:pub(?:\([\w: ]+\))? )?(?:(?:const|unsafe) )*fn (\w+)", re.M)
CALL = re.compile(r"\b(?:self|driver)\s*\.\s*(\w+)(?:::<[^>]*>)?\(")
PATH = re.compile(r"(?<![\w:])((?:crate|self|super|\w+)(?:::\w+)+)")


def code(text):
    """The text without comments, strings and tests."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    while found := re.search(
        r"#\[cfg\((?:all\(|any\()?(?:test|loom)\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*", text
    ):
        start, at, depth = found.start(), found.end(), 0
        while at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
            if depth == 0 and text[at - 1] in ";}":
                break
        text = text[:start] + text[at:]
    return text


def leaves(tree):
    """Each path of a `use`, as (segments, name under which it is known)."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, name = tree.partition(" as ")
        segments = [s.strip() for s in path.split("::") if s.strip()]
        if segments:
            yield segments, name.strip() or segments[-1]
        return
    prefix = [s.strip() for s in head.split("::") if s.strip()]
    depth, part, parts = 0, "", []
    for char in rest[:rest.rindex("}")]:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    for part in filter(str.strip, parts + [part]):
        for segments, name in leaves(part):
            inner = segments[:-1] if segments[-1] == "self" else segments
            yield prefix + inner, prefix[-1] if name == "self" else name


class Crate:
    """The modules of one crate: by path, a tuple of names."""

    def __init__(self, files):
        self.files, self.text = {}, {}
        for path, text in files.items():
            parts = list(pathlib.PurePosixPath(path).with_suffix("").parts)
            if parts[-1].endswith("tests"):
                continue
            if parts[-1] in ("mod", "lib", "main"):
                parts.pop()
            self.files[tuple(parts)] = path
            self.text[tuple(parts)] = code(text)
        self.defined = {m: set(DEFINES.findall(t)) for m, t in self.text.items()}
        self.exports = {
            m: [(visible, *leaf) for visible, tree in USE.findall(t) for leaf in leaves(tree)]
            for m, t in self.text.items()
        }

    def start(self, module, segments):
        """The module that a path begins at, and what is left of it; `None` for another crate's."""
        segments = list(segments)
        if segments[0] in ("crate", "self", "super"):
            here = () if segments[0] == "crate" else module
            while segments and segments[0] in ("crate", "self", "super"):
                here = here[:-1] if segments.pop(0) == "super" else here
            return here, segments
        if module + (segments[0],) in self.files:
            return module, segments
        for _, path, name in self.exports[module]:
            # A name that was brought in: of a module of ours, or of something else.
            if name == segments[0] and path != segments[:len(path)]:
                begun = self.start(module, path)
                return begun and (begun[0], begun[1] + segments[1:])
        return None

    def home(self, module, segments, seen=()):
        """The module that defines what a path names, or that it names."""
        for at, name in enumerate(segments):
            if module + (name,) in self.files:
                module += (name,)
                continue
            if name in self.defined.get(module, ()) or (module, name) in seen:
                return module
            for visible, path, known in self.exports.get(module, ()):
                begun = known in (name, "*") and self.start(module, path)
                if not begun:
                    continue
                if known == "*":
                    glob = self.home(begun[0], [s for s in begun[1] if s != "*"], seen)
                    if name in self.defined.get(glob, ()):
                        return glob
                    continue
                return self.home(
                    begun[0], begun[1] + list(segments[at + 1:]), (*seen, (module, name))
                )
            return module
        return module

    def methods(self):
        """The one file that defines each method of the types that have methods in several files."""
        files, found = {}, {}
        for module, text in self.text.items():
            for name, body in IMPL.findall(text):
                files.setdefault(name, {}).setdefault(module, set()).update(METHOD.findall(body))
        for spread in files.values():
            for module, names in spread.items() if len(spread) > 1 else ():
                for name in names:
                    found.setdefault(name, []).append(module)
        return {name: modules[0] for name, modules in found.items() if len(modules) == 1}

    def edges(self):
        """Which files each file depends on."""
        edges, methods = {}, self.methods()
        for module, text in self.text.items():
            to = set()
            body = USE.sub("", text)
            paths = [leaf for visible, leaf, name in self.exports[module]
                     if not visible or re.search(rf"\b{re.escape(name)}\b", body)]
            paths += [path.split("::") for path in PATH.findall(body)]
            for path in paths:
                begun = self.start(module, [s for s in path if s != "*"])
                if begun and begun[0] in self.files:
                    to.add(self.home(*begun))
            # Its own method of that name, or another type's, is no dependency.
            called = set(CALL.findall(body)) - set(METHOD.findall(text))
            to |= {methods[name] for name in called if name in methods}
            file = self.files[module]
            edges[file] = {self.files[m] for m in to if m in self.files} - {file}
        return edges


# A function's definition, or that of a variable, at the beginning of a line.
C_DEFINES = re.compile(r"^(?!static\b|extern\b|typedef\b|return\b)[A-Za-z_][^\n;={}()#]*?\b(\w+)"
                       r"(?:\([^;{}]*\)[^;{}=]*\{|\s*(?:\[[^\]\n]*\])*\s*[=;])", re.M)
C_DECLARES = re.compile(r"\b(\w+)(?:\((?=[^()]*\)\s*;)|(?:\[\])?;)")


def c_code(text):
    """The text without comments, strings and lines of the preprocessor."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return re.sub(
        r"^[ \t]*#(?:\\\n|[^\n])*", "", re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text), flags=re.M
    )


def c_edges(files):
    """Which files in C each one depends on; `files` are sources and headers by name."""
    sources = {name: c_code(text) for name, text in files.items() if name.endswith(".c")}
    hooks = {
        name: set(C_DECLARES.findall(c_code(files.get(name[:-1] + "h", "")))) for name in sources
    }
    # Of layers that take each other's place each has the same functions: a file's own come first.
    own = {name: set(C_DEFINES.findall(text)) for name, text in sources.items()}
    home = {defined: name for name in sources for defined in own[name]}
    for header, text in files.items():
        if header.endswith(".h"):
            folder = pathlib.PurePath(header).parent
            above = {word for word in C_DECLARES.findall(c_code(text))
                     if word in home and pathlib.PurePath(home[word]).parent != folder}
            for name in sources:
                if pathlib.PurePath(name).parent == folder:
                    hooks[name] |= above
    return {
        name: {
            home[word]
            for word in set(re.findall(r"\w+", text)) - hooks[name] - own[name]
            if word in home
        }
        for name, text in sources.items()
    }


def cycles(edges):
    """The files that can be reached from themselves, with one that leads back."""
    def reached(start):
        found, open_ = set(), [start]
        while open_:
            for file in edges.get(open_.pop(), ()):
                if file not in found:
                    found.add(file)
                    open_.append(file)
        return found
    all_reached = {file: reached(file) for file in edges}
    return {file: sorted(other for other in edges[file] if file in all_reached[other])
            for file in edges if file in all_reached[file]}


def crate_files(crate):
    source = ROOT / crate / "src"
    return {
        str(p.relative_to(source)): p.read_text(encoding="utf-8")
        for p in sorted(source.rglob("*.rs"))
    }


def c_files(folder):
    return {str(p.relative_to(ROOT / folder)): p.read_text(encoding="utf-8")
            for p in sorted((ROOT / folder).rglob("*.[ch]")) if not p.name.endswith(".mod.c")}


def faults(found):
    """What is wrong: `found` are the files in cycles, each with the others of its cycle."""
    for file, others in sorted(found.items()):
        yield f"{file}: in a cycle with {', '.join(others)}"


def self_test():
    """Every way to name a file makes an edge; what is no edge makes none."""
    base = {
        "lib.rs": "mod a;\nmod b;\npub mod c;\npub use a::A;\n",
        "a.rs": "pub struct A;\npub fn f() {}\n",
        "b.rs": "pub struct B;\n",
        "c/mod.rs": "mod d;\nmod e;\npub use d::D;\npub struct C;\nconst X: u32 = d::Y;\n",
        "c/d.rs": "pub struct D;\npub const Y: u32 = 0;\n",
        "c/e.rs": "use super::D;\npub(super) struct E;\n",
    }
    assert cycles(Crate(base).edges()) == {}, Crate(base).edges()
    for file, line, expected in [
        ("a.rs", "use crate::b::B;", []),
        ("a.rs", "// use crate::a::A;\n#[cfg(test)]\nmod tests {\n    use crate::b::g;\n}", []),
        ("c/d.rs", "use super::C;", ["c/d.rs", "c/mod.rs"]),
        ("c/d.rs", "use crate::c::{self as it, C};", ["c/d.rs", "c/mod.rs"]),
        ("c/d.rs", "fn g() { super::e::h(); }", ["c/d.rs", "c/e.rs"]),
        ("c/d.rs", "use super::{\n    e::{E},\n};", ["c/d.rs", "c/e.rs"]),
        ("c/d.rs", "use super::e::*;", ["c/d.rs", "c/e.rs"]),
        ("c/d.rs", 'const S: &str = "super::C::x";', []),
        ("a.rs", "use crate::A as It;", []),
    ]:
        files = dict(base)
        files[file] += line + "\n"
        got = sorted(cycles(Crate(files).edges()))
        assert got == expected, (file, line, got, expected)
    for line, expected in [("", []), ("pub struct F(E);\n", ["c/e.rs", "c/mod.rs"])]:
        files = dict(base)
        files["c/mod.rs"] += "pub use e::E;\n" + line
        files["c/e.rs"] += "use super::C;\n"
        got = sorted(cycles(Crate(files).edges()))
        assert got == expected, (line, got, expected)
    both = dict(base)
    both["a.rs"] += "use super::b::B;\n"
    both["b.rs"] += "use crate::A;\n"  # defined in a.rs
    found = cycles(Crate(both).edges())
    assert found == {"a.rs": ["b.rs"], "b.rs": ["a.rs"]}, found
    assert list(faults(found)) == ["a.rs: in a cycle with b.rs", "b.rs: in a cycle with a.rs"]
    below = (
        "int count;\nint low(int a)\n{\n\treturn a;\n}\nstatic int same(void)\n{\n\treturn 1;\n}\n"
    )
    above = "static int same(void)\n{\n\treturn low(2);\n}\n\nvoid high(void)\n{\n\tsame();\n}\n"
    for more, header, expected in [
        ("", "", []),
        ("/* high() */ // high()\nconst char *s = \"high\";\n", "", []),
        ("void f(void)\n{\n\thigh();\n}\n", "", ["above.c", "below.c"]),
        ("void (*f)(void) = high;\n", "", ["above.c", "below.c"]),
        ("void f(void)\n{\n\thigh();\n}\n", "/* The hook. */\nvoid high(void);\n", []),
    ]:
        files = {
            "below.c": below + more, "below.h": header, "above.c": above,
            "above.h": "void high(void);\n",
        }
        got = sorted(cycles(c_edges(files)))
        assert got == expected, (more, header, got)
    twins = {"a.c": "int top(void)\n{\n}\nint use(void)\n{\n\ttop();\n}\n",
             "b.c": "int top(void)\n{\n\tuse();\n}\n"}
    assert cycles(c_edges(twins)) == {}, c_edges(twins)
    layers = {"low/a.c": "void low(void)\n{\n\tname[0] = top();\n}\n", "high/b.c":
              "char name[] = \"\";\nint top(void)\n{\n\tlow();\n}\n"}
    hook = "extern char name[];\nint top(void);\n"
    both = ["high/b.c", "low/a.c"]
    assert sorted(cycles(c_edges(layers))) == both, "a lower folder that calls a higher one"
    assert cycles(c_edges({**layers, "low/top.h": hook})) == {}, "by its own hook"
    assert cycles(c_edges({**layers, "high/top.h": hook})) != {}, "by the higher one's header"
    uses = "int f(void)\n{\n\treturn count;\n}\n"
    assert c_edges({"below.c": below, "uses.c": uses})["uses.c"] == {"below.c"}
    spread = dict(base)
    spread["a.rs"] += (
        "impl<'m, P: Q> A<'m, P> {\n    pub(crate) fn f(&self) {\n        self.g();\n    }\n}\n"
    )
    spread["b.rs"] += "impl<P: Q> A<'_, P> {\n    fn g(&self) {\n        self.h(0)\n    }\n}\n"
    assert cycles(Crate(spread).edges()) == {}, "methods in one direction"
    spread["b.rs"] += "impl A {\n    fn i(&self) {\n        self\n            .f();\n    }\n}\n"
    assert sorted(cycles(Crate(spread).edges())) == ["a.rs", "b.rs"], "methods in a circle"
    print("tests/parts/cycles.py: seeded cycles are found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:2] == ["--edges"]:
        of_c = sys.argv[2] in HOSTS_IN_C
        edges = c_edges(c_files(sys.argv[2])) if of_c else Crate(crate_files(sys.argv[2])).edges()
        for file, others in sorted(edges.items()):
            print(f"{file}: {' '.join(sorted(others))}")
        return 0
    found, count = {}, 0
    for crate in CRATES:
        edges = Crate(crate_files(crate)).edges()
        count += len(edges)
        name = f"{crate}/src/{{}}".format
        found |= {
            name(file): [name(other) for other in others] for file, others in cycles(edges).items()
        }
    for folder in HOSTS_IN_C:
        edges = c_edges(c_files(folder))
        count += len(edges)
        name = f"{folder}/{{}}".format
        found |= {
            name(file): [name(other) for other in others] for file, others in cycles(edges).items()
        }
    wrong = list(faults(found))
    summary = f"{count} files of {len(CRATES)} crates and {len(HOSTS_IN_C)} hosts in C"
    print("\n".join([*wrong, summary]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
