#!/usr/bin/env python3
"""live_test.py FORETRACE MPICC PROGRAM.c: an unmodified program runs live on an architecture.

It takes as long as on the network that the architecture is equal to; a node with a slow NIC takes longer,
and at its coarse level as long as without one. What is watched of it names its lines.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

TOOL, MPICC, SOURCE = sys.argv[1:4]

NODES = """[architecture]
name = "four nodes on a switch"
include = ["nic-node.arch.toml"]
latency = "1us"
bandwidth = "1GB/s"
[[composite.machine.part]]
name = "star"
template = "crossbar:4"
kind = "node"
parameters = { injection = "INJECTION" }
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr}")
    return done.stdout


def seconds(*network):
    out = run(TOOL, "simulate", "-n", "4", "--compute", "none", "--loggps", "o=100ns,S=16384", *network, "--json", "--", program)
    return json.loads(out)["time"]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    program = str(folder / "exchange")
    run(MPICC, "-g", SOURCE, "-o", program)
    run(TOOL, "architecture", "convert", "torus:2x2?latency=1us&bandwidth=1GB/s", "-o", str(folder / "torus.arch.toml"))
    same = seconds("--network", f"arch:{folder}/torus.arch.toml")
    packet = seconds("--network", "packet", "--topology", "torus:2x2?latency=1us&bandwidth=1GB/s")
    assert same == packet, (same, packet)
    files = {}
    for rate in ["1000TB/s", "100MB/s"]:
        path = folder / (rate.replace("/", "") + ".arch.toml")
        path.write_text(NODES.replace("INJECTION", rate))
        files[rate] = seconds("--network", f"arch:{path}")
        coarse = seconds("--network", f"arch:{path}", "--level", "star[*=coarse")
        star = seconds("--network", "packet", "--topology", "crossbar:4?latency=1us&bandwidth=1GB/s")
        assert coarse == star, (coarse, star)
    # Ten times slower than the links: the largest messages, 100,000 bytes, need 1 ms instead of 0.1.
    assert files["100MB/s"] > files["1000TB/s"] + 0.0009, files
    # A NIC that takes next to no time is exact at the coarse level, but for a byte's time at a rate of 1000 TB/s.
    assert abs(files["1000TB/s"] - star) < 1e-9, (files, star)
    # What is watched says where in the program each rank stands.
    seconds("--network", f"arch:{path}", "--watch", str(folder / "run.json"))
    watched = json.loads((folder / "run.json").read_text())
    lines = pathlib.Path(SOURCE).read_text().splitlines()
    for rank, _, _, call, place in watched["calls"]:
        file, _, line = watched["places"][place].partition(":")
        assert file == pathlib.Path(SOURCE).name, (rank, watched["places"][place])
        assert watched["names"][call] in lines[int(line) - 1], (watched["names"][call], lines[int(line) - 1])
    assert {call[0] for call in watched["calls"]} == {0, 1, 2, 3}
    print("ok", same, files, star)
