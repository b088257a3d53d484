#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Checks what lnd publishes for other programs: the schema of plans, YAML.

    tests/parts/tool.py LND

Every plan of the tree fits its schema; what lnd refuses for its form does not fit it either.
What lnd prints as YAML reads as what it prints as JSON.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Plans that neither lnd nor the schema takes.
WRONG = {
    "world": [
        "drip = 1",
        "nodes = 65",
        "links = 0",
        "nodes = 'two'",
        "[messages]\ndrop = 2_000_000",
        "[messages]\ndrip = 1",
        "[engine]\nlose = -1",
        "[[event]]\nat_ms = 1\ndo = 'dance'\nnode = 0",
        "[[event]]\ndo = 'death'\nnode = 0",
        "[[window]]\nfrom_ms = 1",
        "[byzantine]\nnode = 'x'",
    ],
    "rails": [
        "network = [{ name = 'a' }]",
        "network = [{ name = 'a', kind = 'pigeon' }]",
        "network = [{ name = 'a', kind = 'verbs' }]\nprofile = 'other'",
        "network = [{ name = 'a', kind = 'verbs' }]\n[[rule]]\nto = 'everywhere'",
        "network = [{ name = 'a', kind = 'verbs' }]\n[[event]]\nat_ms = 1\nhost = 0\ndo = 'x'",
    ],
    "cluster": [
        "",
        "nodes = 1\nnode = []",
        "[[node]]\nnid = '1@tcp'\ndir = 'd'",
        "[[node]]\nnid = '1@soft'",
        "[[node]]\nnid = '1@soft'\ndirr = 'd'",
    ],
}
# What reads a file of each kind.
READS = {"world": ["sim", "--plan"], "rails": ["sim", "--plan"], "cluster": ["cluster", "check"]}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def printed(*command):
    done = run(*command)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def main():
    lnd = sys.argv[1]
    faults = []
    schemas = {of: json.loads(printed(lnd, "schema", of)) for of in WRONG}
    checkers = {}
    for of, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        checkers[of] = jsonschema.Draft202012Validator(schema)
    plans = sorted((ROOT / "tests/sim/plans").glob("*.toml"))
    for plan in plans:
        text = tomllib.loads(plan.read_text())
        of = "rails" if "network" in text else "world"
        faults += [f"{plan.name}: {it.message}" for it in checkers[of].iter_errors(text)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "wrong.toml"
        for of, texts in WRONG.items():
            for text in texts:
                path.write_text(text)
                if checkers[of].is_valid(tomllib.loads(text)):
                    faults.append(f"the schema of {of} takes: {text!r}")
                if run(lnd, *READS[of], str(path)).returncode != 2:
                    faults.append(f"lnd takes: {text!r}")
    for command in (["info"], ["info", "wire"], ["info", "config"]):
        as_yaml = yaml.safe_load(printed(lnd, *command))
        if as_yaml != json.loads(printed(lnd, *command, "--json")):
            faults.append(f"lnd {' '.join(command)}: the YAML is not the JSON")
    for fault in faults:
        print(fault, file=sys.stderr)
    if len(plans) < 10 or faults:
        sys.exit(f"{len(plans)} plans, {len(faults)} faults")
    print(f"{len(plans)} plans fit their schemas")


main()
