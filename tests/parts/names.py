#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Checks names: one word for one thing, and no two public types of one name in the shipped crates.

    tests/parts/names.py [--self-test]

An identifier is taken apart at its underscores and capitals. A part that is a retired word, or its
plural or a form of its verb, is reported with the word that took its place. Comments and strings,
and all of a script, are read for the words of `PROSE` alone.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Retired words, and what says it now.
RETIRED = {
    "life": "incarnation", "lives": "incarnations", "birth": "start", "births": "starts",
    "rebirth": "restart", "reborn": "restarted", "greet": "handshake, connect",
    "greets": "handshake, connect", "greeted": "connected", "greeting": "handshake",
    "greetings": "handshakes", "ticket": "rx_request", "tickets": "rx_requests",
    "verdict": "decision, or what is found: check, result", "verdicts": "decisions, results",
    "decider": "irq_handle", "yank": "reclaim", "yanks": "reclaims", "yanked": "reclaimed",
    "vouch": "assert", "vouched": "asserted", "journey": "attempts", "journeys": "attempts",
    "demerit": "decrement", "rota": "poll_turn", "recall": "invalidate", "recalls": "invalidates",
    "recalled": "invalidated", "recalling": "invalidating", "fate": "injected fault",
    "fates": "injected faults", "story": "script", "stories": "scripts", "bury": "mark_dead",
    "hall": "arena", "desk": "health_view", "happening": "event", "lore": "captured",
    "court": "probe", "news": "event", "hindrance": "blocked_by", "wish": "preference",
    "rotor": "next_link", "seat": "engine_ref, slot", "seats": "engine_refs",
    "doomed": "must_cancel",
}
# Pairs and triples of parts.
RETIRED_TOGETHER = {
    ("tell", "peer"): "notify_peer", ("tell", "link"): "notify_link",
    ("want", "back"): "invalidate", ("wanted", "back"): "invalidated", ("by", "hand"): "asserted",
    ("hand", "out"): "post", ("handed", "out"): "posted", ("turn", "away"): "nak",
    ("turned", "away"): "refused", ("last", "word"): "final_message", ("set", "right"): "resync",
    ("in", "vain"): "link_closed", ("settle", "role"): "choose_role",
}
# Words of prose that name no thing, verbs of persons, and retired nouns.
PROSE = {
    "nobody": "no peer, no node, no thread", "somebody": "the subject", "someone": "the subject",
    "whoever": "the subject", "whomever": "the subject", "anybody": "any node, any thread",
    "anyone": "any node, any thread", "everybody": "every node", "everyone": "every node",
    "believe": "take, trust", "believes": "takes, trusts", "believed": "taken, trusted",
    "wish": "ask, prefer", "wishes": "asks, prefers", "wished": "asked, preferred",
    "journey": "attempts", "journeys": "attempts", "yank": "reclaim", "yanks": "reclaims",
    "yanked": "reclaimed", "vouch": "assert", "vouched": "asserted",
    "greet": "connect", "greets": "connects", "greeted": "connected",
    "greeting": "HELLO, handshake", "greetings": "hellos", "reborn": "restarted",
    "rebirth": "restart", "happening": "event", "demerit": "decrement", "recall": "invalidate",
}
# The retired nouns that the prose of the book does not need in another sense.
PAGES = ("nobody", "somebody", "whoever", "anybody", "everybody", "verdict", "verdicts", "journey",
         "journeys", "yank", "yanks", "yanked", "rebirth", "reborn")
SHIPPED = (
    "lnd-core/src", "lnd-dma/src", "lnd-shortmsg/src", "lnd-health/src", "ffi/src", "ffi/soft/src",
)
# One type for two ends: the C headers declare it once each.
SAME_ON_PURPOSE = {"lnd_error": "each library's header declares the errors that it returns"}

OTHER = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)
WORD = re.compile(r"[A-Za-z_]\w*")
# Not a part of a name: a seeded defect's has hyphens.
PLAIN = re.compile(r"(?<![\w-])[A-Za-z]+(?![\w-])")
# Endings of plurals and of verbs, and what a word ends with without them.
ENDINGS = (("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""),
           ("ing", "e"))
SOURCE = (".rs", ".c", ".h")
# Lists of words, and texts that are not ours or are to stay as they are.
OTHERS = re.compile(
    r"(?:^|/)LICENSE|^deny\.toml$|^tests/parts/(?:names|book)\.py$|^tests/fuzz/corpus/"
    r"|\.(?:md|lock|svg|tar)$")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
TYPE = re.compile(r"^ *pub (?:struct|enum|trait|type|union) (\w+)", re.M)


def parts(word):
    """The parts of an identifier, in small letters."""
    return [part.lower() for part in PART.findall(word)]


def said_now(word, words):
    """What says a retired word now, or one of which it is the plural or a form; or None."""
    if word in words:
        return words[word]
    for ending, instead in ENDINGS:
        if word.endswith(ending) and word[:-len(ending)] + instead in words:
            return words[word[:-len(ending)] + instead]
    return None


def retired(word):
    """The retired word in an identifier and what says it now, or None."""
    own = parts(word)
    for part in own:
        if now := said_now(part, RETIRED):
            return part, now
    for pair in zip(own, own[1:]):
        if pair in RETIRED_TOGETHER:
            return "_".join(pair), RETIRED_TOGETHER[pair]
    return None


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def unnamed(name, text):
    """The words of prose that name no thing, in a source's comments and strings or in a script."""
    pieces = OTHER.finditer(text) if name.endswith(SOURCE) else re.finditer(r".+", text)
    for piece in pieces:
        for use in PLAIN.finditer(piece.group(0)):
            word = use.group(0).lower()
            if now := said_now(word, PROSE):
                at = line_of(text, piece.start() + use.start())
                yield f"{name}:{at}: '{word}' is no word for it: {now}"


def check(files):
    """What is wrong with the files: (name, text) pairs."""
    wrong, types = [], {}
    for name, text in files:
        wrong += unnamed(name, text)
        if not name.endswith(SOURCE):
            continue
        code = OTHER.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
        seen = set()
        for m in WORD.finditer(code):
            found = retired(m.group(0))
            if found and m.group(0) not in seen:
                seen.add(m.group(0))
                at = line_of(code, m.start())
                wrong.append(f"{name}:{at}: {m.group(0)}: '{found[0]}' is retired: {found[1]}")
        if name.startswith(SHIPPED) and name.endswith(".rs"):
            for m in TYPE.finditer(code):
                types.setdefault(m.group(1), []).append(f"{name}:{line_of(code, m.start())}")
    for name, places in sorted(types.items()):
        if len(places) > 1 and name not in SAME_ON_PURPOSE:
            wrong.append(f"{name} is the name of {len(places)} public types: {', '.join(places)}")
    return wrong


def self_test():
    """Each rule finds its seeded defect, and lets through what is right."""
    cases = [
        ("lnd-core/src/a.rs", "let ticket = 1;", "ticket"),
        ("tests/a.rs", "fn lu1_a_pull_of_a_former_life() {}", "life"),
        ("ffi/kernel/a.c", "enum { LND_YANKED };", "yanked"),
        ("lnd-dma/src/a.rs", "struct EngineSeat;", "seat"),
        ("lnd-core/src/a.rs", "fn tell_peer() {}", "tell_peer"),
        ("ffi/src/a.rs", "/// Whoever calls it.\nfn call() {}", "whoever"),
        ("ffi/src/a.rs", 'const TEXT: &str = "nobody listens";', "nobody"),
        ("lnd-core/tests/a.rs", "/// What a peer\n/// wishes.\nfn call() {}", "wishes"),
        ("tests/abi/a.c", "/* Until nobody waits. */", "nobody"),
        ("tests/parts/a", "# Nobody reads it.\nexit 0", "nobody"),
        ("tests/a.rs", 'assert!(proven, "yanked without proof");', "yanked"),
        ("tests/a.rs", "fn last_happenings() {}", "happenings"),
        ("ffi/lnet/a.c", "/* It is demerited. */", "demerited"),
        ("tests/sim/plans/a.toml", "# Recalls are overlooked.", "recalls"),
        ("lnd-dma/src/a.rs", "fn buried() {}", "buried"),
    ]
    for name, text, word in cases:
        found = check([(name, text)])
        if len(found) != 1 or f"'{word}'" not in found[0]:
            sys.exit(f"names: a seeded '{word}' in {name} was not found: {found}")
    twice = [
        ("lnd-core/src/a.rs", "pub struct Window;"),
        ("lnd-health/src/b.rs", "pub enum Window {}"),
    ]
    if len(check(twice)) != 1:
        sys.exit("names: two public types of one name were not found")
    right = [
        (
            "lnd-core/src/a.rs",
            "// A verdict of old.\nlet lifetime = relive(\"life\"); fn recv() {}",
        ),
        ("tests/a.rs", 'pub struct Window;\nseeded("credits-of-nobody");'),
        ("tests/a", "believe-it-not"), ("lnd-dma/src/a.rs", "pub struct Window;"),
    ]
    if check(right):
        sys.exit(f"names: what is right was reported: {check(right)}")
    print(f"names: {len(cases) + 1} seeded defects found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split() if not OTHERS.search(name)]
    if len(names) < 100:
        sys.exit(f"names: only {len(names)} files")
    wrong = check((name, (ROOT / name).read_text(errors="replace")) for name in names
                  if (ROOT / name).is_file())
    for line in wrong:
        print(line)
    if wrong:
        sys.exit(f"names: {len(wrong)} wrong")
    print(f"names: {len(names)} files use one word for one thing")


if __name__ == "__main__":
    main()
