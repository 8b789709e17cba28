#!/usr/bin/env python3
"""How long 64 live ranks of Debian's programs take on architectures of 64 nodes, beside `flow`.

    run_live.py FORETRACE [--rounds N] [--only WORD] [--without WORD]

LAMMPS and HPCC (packages lammps and hpcc) run unmodified, without computation's time, on the network
`flow` over a torus of 8 x 8 and a 4-ary 3-tree, and on architectures of as many processors: the same
networks; nodes of a processor and a NIC on them; switches that count flits. Networks take turns in each
round; the least wall seconds of N rounds count, from start to end. --only chooses a program, --without leaves
out networks. Run it on an idle machine.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/apps"))
import programs  # noqa: E402
import run_apps  # noqa: E402

SPEED = "latency=1us&bandwidth=1GB/s"
# 64 nodes that come with Foretrace.
MACHINE = """[architecture]
name = "nodes"
include = ["{node}"]
latency = "1us"
bandwidth = "1GB/s"
[[composite.machine.part]]
name = "node"
kind = "node"
template = "{shape}"
parameters = {{ {parameters} }}
"""


def networks(tool, folder):
    """Name: words of `simulate`, and whether the network before it that is `flow` is its measure."""
    found = {}
    for shape in ("torus:8x8", "fattree:4,3"):
        found[f"flow, {shape}"] = ["--network", "flow", "--topology", f"{shape}?{SPEED}"]
        plain = folder / f"{shape.partition(':')[0]}.arch.toml"
        subprocess.run([tool, "architecture", "convert", f"{shape}?{SPEED}", "-o", plain], check=True, capture_output=True)
        found[f"processors, {shape}"] = ["--network", f"arch:{plain}"]
        if shape.startswith("fattree"):
            (folder / "nodes.arch.toml").write_text(MACHINE.format(
                node="nic-node.arch.toml", shape=shape, parameters='injection = "1GB/s", latency = "300ns"'))
            found[f"nodes with a NIC, {shape}"] = ["--network", f"arch:{folder}/nodes.arch.toml"]
        else:
            (folder / "routers.arch.toml").write_text(MACHINE.format(
                node="node.arch.toml", shape=shape, parameters="vcs = 4"))
            found[f"switches that count flits, {shape}"] = ["--network", f"arch:{folder}/routers.arch.toml"]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("foretrace")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="")
    options = parser.parse_args()
    tool = str(pathlib.Path(options.foretrace).resolve())
    apps = [app for app in programs.all_apps() if app.name in ("LAMMPS melt", "HPCC") and options.only in app.name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        all_networks = {name: words for name, words in networks(tool, folder).items() if not options.without or options.without not in name}
        for app in apps:
            best, results = {}, {}
            for _ in range(options.rounds):
                for name, words in all_networks.items():
                    command = [tool, "simulate", "-n", 64, "--mpi", app.mpi, "--compute", "none", "--loggps", "o=1us,g=0s",
                               *words, "--", *app.command]
                    ended = run_apps.run(app, 64, command, 300)
                    if ended.status != 0:
                        sys.exit(f"{app.name}, {name}: status {ended.status}\n{ended.text[-2000:]}")
                    print(f"{app.name}, {name}: {ended.seconds:.2f} s", file=sys.stderr, flush=True)
                    best[name] = min(best.get(name, 1e9), ended.seconds)
                    results.setdefault(str(run_apps.results(app, ended.text)), []).append(name)
            print(f"{app.name}, 64 live ranks; " + ("all results are the same" if len(results) == 1 else f"RESULTS DIFFER: {results}"))
            for name, seconds in best.items():
                if name.startswith("flow"):
                    measure = seconds
                print(f"  {seconds:7.2f} s  {seconds / measure:5.2f} of flow  {name}", flush=True)


if __name__ == "__main__":
    main()
