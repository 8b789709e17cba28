#!/usr/bin/env python3
"""study_test.py FORETRACE MPICC PROGRAM.c: studies over levels and parameters of an architecture.

Every point has the time that `simulate` gives alone; a point is run again when a file that the
architecture includes has changed, and only then; a program runs live on it, too.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL, MPICC, SOURCE = sys.argv[1:4]

NODE = """[architecture]
name = "a node"

[composite.node]
ports = { net = "nic.net" }
[composite.node.parameters]
injection = { type = "rate", default = "1GB/s" }
[composite.node.levels.coarse]
kind = "processor"
[[composite.node.part]]
name = "cpu"
kind = "processor"
[[composite.node.part]]
name = "nic"
kind = "nic"
parameters = { injection = "$injection" }
[[composite.node.link]]
from = "cpu.net"
to = "nic.host"
"""
MACHINE = """[architecture]
name = "nodes"
include = ["node.arch.toml"]
latency = "1us"
bandwidth = "1GB/s"
[[composite.machine.part]]
name = "node"
kind = "node"
template = "SHAPE"
"""
RING = """num_ranks 4
rank all {
  send 100000b to (me+1)%size
  recv 100000b from (me+size-1)%size
  wait
}
"""
STUDY = """
[study]
quiet_seconds = 0
[parameters]
machine_file = ["crossbar", "star"]
level = ["inside", "coarse"]
injection = ["250MB/s", "2GB/s"]
[programs.exchange]
command = "PROGRAM"
ranks = 4
[ways.text]
file = "ring.goal"
options = "--loggps o=1us,g=0s --network arch:{machine_file}.arch.toml --level node[*]={level} --parameter node[*].injection={injection}"
[ways.live]
options = "--compute none --loggps o=1us,g=0s --network arch:{machine_file}.arch.toml --level node[0..1]={level}"
"""


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder,
                          env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))
    if done.returncode != status:
        sys.exit(f"{command}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def rows(where):
    return json.loads(run(TOOL, "results", "r.db", "--where", where, "--json").stdout)


def main():
    run(MPICC, SOURCE, "-o", "exchange")
    (folder / "node.arch.toml").write_text(NODE)
    for name, shape in (("crossbar", "crossbar:4"), ("star", "star:5")):
        (folder / f"{name}.arch.toml").write_text(MACHINE.replace("SHAPE", shape))
    (folder / "ring.goal").write_text(RING)
    (folder / "s.toml").write_text(STUDY.replace("PROGRAM", "./exchange"))
    told = run(TOOL, "study", "s.toml", "-o", "r.db").stderr
    assert "12 launches now, 0 points known before" in told, told
    found = {(row["machine_file"], row["level"], row["injection"]): row["time"] for row in rows("way = 'text'")}
    for file, level, injection in itertools.product(("crossbar", "star"), ("inside", "coarse"), ("250MB/s", "2GB/s")):
        alone = run(TOOL, "simulate", "ring.goal", "--loggps", "o=1us,g=0s", "--network", f"arch:{file}.arch.toml", "--level",
                    f"node[*]={level}", "--parameter", f"node[*].injection={injection}", "--json").stdout
        assert found[file, level, injection] == json.loads(alone)["time"], (file, level, injection)
    # 100,000 bytes pass a NIC of 250 MB/s in 400 us, where the links need 100.
    assert found["crossbar", "inside", "250MB/s"] - found["crossbar", "coarse", "250MB/s"] > 290e-6, found
    assert found["crossbar", "coarse", "250MB/s"] == found["crossbar", "coarse", "2GB/s"], found
    live = {(row["machine_file"], row["level"]): row["time"] for row in rows("way = 'live'")}
    assert len(live) == 4 and len(set(live.values())) > 1, live
    # The same study: nothing to do. What an architecture includes has changed: all of it.
    assert "0 launches now, 12 points known before" in run(TOOL, "study", "s.toml", "-o", "r.db").stderr
    (folder / "node.arch.toml").write_text(NODE.replace("1GB/s", "100MB/s"))
    told = run(TOOL, "study", "s.toml", "-o", "r.db").stderr
    assert "12 launches now, 0 points known before" in told, told
    # One machine alone: the other's points are known.
    (folder / "star.arch.toml").write_text(MACHINE.replace("SHAPE", "star:5").replace("1us", "2us"))
    told = run(TOOL, "study", "s.toml", "-o", "r.db").stderr
    assert "6 launches now, 6 points known before" in told, told
    # A description with a fault is told before anything runs, with its line.
    (folder / "node.arch.toml").write_text(NODE.replace('kind = "nic"', 'knd = "nic"'))
    told = run(TOOL, "study", "s.toml", "-o", "x.db", status=1).stderr
    assert "node.arch.toml:" in told and "knd" in told and not (folder / "x.db").exists(), told
    print("ok", found)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    main()
