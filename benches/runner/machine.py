# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How programs are run here: at the highest share, with their times; and what the machine is."""

import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
PEERS = TARGET / "peers"
TICKS = os.sysconf("SC_CLK_TCK")


class Broken(Exception):
    """A program failed, or said something else than it should."""


def _session():
    """In a child: a scheduling session of its own, with the highest share of the fair scheduler.

    A real-time class would start two threads that poll on one processor, and hang.
    """
    os.setsid()
    try:
        pathlib.Path("/proc/self/autogroup").write_text("-20", encoding="ascii")
        os.nice(-20)
    except OSError:
        pass  # Not root: the share is what it is.


def begin(command, env=None, **options):
    """Starts a program in a session of its own."""
    return subprocess.Popen(
        [str(word) for word in command], env={**os.environ, **(env or {})}, cwd=ROOT, text=True,
        preexec_fn=_session, **options,
    )


def end(process):
    """Ends a program that may have ended by itself, and what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(command, seconds, env=None):
    """Runs a program to its end. Returns what it printed."""
    process = begin(command, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        end(process)
        raise Broken(f"{command[0]}: did not end in {seconds} s") from None
    if process.returncode:
        last = (errors.strip() or out.strip()).splitlines()[-1:]
        raise Broken(f"{command[0]}: exit {process.returncode}: {' '.join(last)}")
    return out


def free_port():
    """A port that no program has: below those that the system gives away by itself."""
    for port in random.sample(range(20_000, 30_000), 200):
        with socket.socket() as place:
            try:
                place.bind(("", port))
            except OSError:
                continue
            return port
    raise Broken("no port is free")


def listens(port):
    """Whether a program of this machine listens on a port. It is not connected to: a server that
    takes one client would take this one for it."""
    for name in ("tcp", "tcp6"):
        table = pathlib.Path("/proc/net") / name
        lines = table.read_text(encoding="ascii").splitlines()[1:] if table.exists() else ()
        for line in lines:
            words = line.split()
            if words[1].endswith(f":{port:04X}") and words[3] == "0A":
                return True
    return False


def await_server(process, port, seconds=120):
    """Waits until a server that was started listens. A busy machine takes long to start it."""
    end_of_patience = time.monotonic() + seconds
    while not listens(port):
        if process.poll() is not None:
            raise Broken(f"{process.args[0]}: the server has ended: exit {process.returncode}")
        if time.monotonic() > end_of_patience:
            raise Broken(f"{process.args[0]}: the server does not listen after {seconds} s")
        time.sleep(0.02)


def quietly(command, cwd=ROOT, env=None):
    """Runs what builds or installs. Its output is shown if it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env={**os.environ, **(env or {})},
        capture_output=True, text=True, check=False,
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise Broken(f"{' '.join(map(str, command))}: exit {done.returncode}\n{tail}")
    return done.stdout


def busy():
    """Seconds of processor time that all programs have used since the start of the machine."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.readline().split()[1:9]]
    user, nice, system, _idle, _wait, irq, soft, steal = fields
    return (user + nice + system + irq + soft + steal) / TICKS


def spent():
    """Seconds of processor time that this program and what it has started have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def describe():
    """The machine in words, and the number of processors."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = {
        name: match.group(1)
        for name in ("model name", "cpu family", "model", "cache size")
        if (match := re.search(rf"^{name}\s*: (.*)$", cpu, re.M))
    }
    uname = os.uname()
    return {
        "processor": found.get("model name", uname.machine),
        "family": found.get("cpu family", ""),
        "model": found.get("model", ""),
        "processors": len(os.sched_getaffinity(0)),
        "system": f"{uname.sysname} {uname.release.split('-')[0]}",
    }
