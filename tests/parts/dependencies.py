#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Checks that no declared dependency is idle.

    tests/parts/dependencies.py [--self-test]

A shipped crate uses each of its dependencies in its own code, tests left out, and each dependency
of its tests somewhere. A crate of the test bench uses each anywhere. A dependency for loom is used
in code for loom. What a workspace declares for its members is used by one of them.
"""

import fnmatch
import pathlib
import re
import sys
import tomllib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cycles  # noqa: E402
import tree  # noqa: E402

BENCH = ("tests/*", "benches", "benches/*")


def is_named(name, text):
    """Whether code names a crate: by a path, a macro or a `use`."""
    name = re.escape(name.replace("-", "_"))
    return re.search(rf"(?<![\w:]){name}(?:::|!|;| as )|\buse {name}\b", text) is not None


def bare(text):
    """The text without comments and strings, tests left in."""
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"/\*.*?\*/", "", re.sub(r'"(?:[^"\\]|\\.)*"', '""', text), flags=re.S)


def declared(manifest):
    """What a package declares: (name, whether for tests, whether for loom)."""
    for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
        for name in manifest.get(kind, {}):
            yield name, kind != "dependencies", False
        for target, tables in manifest.get("target", {}).items():
            for name in tables.get(kind, {}):
                yield name, kind != "dependencies", "loom" in target


def package_faults(folder, manifest, sources):
    """What is idle in one package; `sources` are its files, by path within it."""
    for name, for_tests, for_loom in declared(manifest):
        bench = any(fnmatch.fnmatch(folder, pattern) for pattern in BENCH)
        if bench or for_tests:
            texts = map(bare, sources.values())
        else:
            shipped = {
                p: t
                for p, t in sources.items()
                if not p.startswith("tests/") and not p.endswith("tests.rs")
            }
            texts = map(bare if for_loom else cycles.code, shipped.values())
        if not any(is_named(name, text) for text in texts):
            yield f"{folder}: declares {name} and does not use it"


def workspace_faults(folder, manifest, members):
    """What a workspace declares that no member takes."""
    taken = {name for member in members for name, _, _ in declared(member)}
    for name in manifest.get("workspace", {}).get("dependencies", {}):
        if name not in taken:
            yield f"{folder}: declares {name} for its members, and none takes it"


def faults(manifests, sources):
    """What is wrong in a tree: {folder: manifest}, {path: text}."""
    spaces = [folder for folder, manifest in manifests.items() if "workspace" in manifest]
    for folder, manifest in sorted(manifests.items()):
        prefix = "" if folder == "." else folder + "/"
        inner = [
            f"{other}/"
            for other in manifests
            if other != "." and other != folder and other.startswith(prefix)
        ]
        own = {path[len(prefix):]: text for path, text in sources.items()
               if path.startswith(prefix) and not path.startswith(tuple(inner))}
        yield from package_faults(folder, manifest, own)
        if "workspace" in manifest:
            # A package belongs to the innermost workspace above it.
            def space(member):
                above = [s for s in spaces if s == "." or member == s or member.startswith(s + "/")]
                return max(above, key=lambda s: 0 if s == "." else len(s), default=None)
            yield from workspace_faults(
                folder, manifest, [m for member, m in manifests.items() if space(member) == folder]
            )


def self_test():
    """Every idle dependency is found, and nothing else."""
    def run(manifest, sources, folder="c", outer=None):
        manifests = {folder: tomllib.loads(manifest)}
        if outer:
            manifests["."] = tomllib.loads(outer)
        return list(faults(manifests, {f"{folder}/{path}": text for path, text in sources.items()}))

    one = "[dependencies]\nspare-lock = '1'\n"
    for sources, expected in [
        ({"src/lib.rs": "use spare_lock::Mutex;"}, 0),
        ({"src/lib.rs": "spare_lock::lock!{}"}, 0),
        ({"src/lib.rs": "use spare_lock as other;"}, 0),
        ({"src/lib.rs": "fn f() {}"}, 1),
        ({"src/lib.rs": "// use spare_lock::Mutex;"}, 1),
        ({"src/lib.rs": "const S: &str = \"spare_lock::\";"}, 1),
        ({"src/lib.rs": "use crate::spare_lock::X;"}, 1),
        ({"src/lib.rs": "#[cfg(test)]\nmod tests {\n    use spare_lock::Mutex;\n}"}, 1),
        ({"src/lib.rs": "", "tests/it.rs": "use spare_lock::Mutex;"}, 1),
        ({"src/lib.rs": "", "src/x_tests.rs": "use spare_lock::Mutex;"}, 1),
    ]:
        assert len(run(one, sources)) == expected, sources
    tests = "[dev-dependencies]\nspare-lock = '1'\n"
    assert not run(tests, {"src/lib.rs": "", "tests/it.rs": "use spare_lock::Mutex;"})
    assert run(tests, {"src/lib.rs": "fn f() {}"})
    assert not run(one, {"tests/it.rs": "use spare_lock::Mutex;"}, "tests/x")
    assert run(one, {"tests/it.rs": "fn f() {}"}, "tests/x")
    loom = "[target.'cfg(loom)'.dependencies]\nloom = '1'\n"
    assert not run(loom, {"src/lib.rs": "#[cfg(loom)]\nuse loom::cell;"})
    assert run(loom, {"src/lib.rs": "#[cfg(loom)]\nfn f() {}"})
    outer = "[workspace.dependencies]\nspare-lock = '1'\n"
    used = {"src/lib.rs": "use spare_lock::Mutex;"}
    assert not run(one, used, outer=outer)
    assert run("", used, outer=outer) == [
        ".: declares spare-lock for its members, and none takes it"
    ]
    assert len(run("[workspace]\n" + one, used, outer=outer)) == 1
    print("tests/parts/dependencies.py: idle dependencies are found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    paths = [pathlib.PurePosixPath(path) for path in tree.tracked()]
    def text(path):
        return (cycles.ROOT / path).read_text(encoding="utf-8")
    manifests = {
        str(path.parent): tomllib.loads(text(path)) for path in paths if path.name == "Cargo.toml"
    }
    sources = {str(path): text(path) for path in paths if path.suffix == ".rs"}
    wrong = list(faults(manifests, sources))
    count = sum(len(list(declared(manifest))) for manifest in manifests.values())
    summary = f"{count} declared dependencies of {len(manifests)} manifests, {len(wrong)} idle"
    print("\n".join([*wrong, summary]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
