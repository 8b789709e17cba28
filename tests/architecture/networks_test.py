#!/usr/bin/env python3
"""networks_test.py FORETRACE [COUNT [SEED]]: an architecture that is equal to a network gives its times.

Random programs run on a network, and on the architecture that the topology converts into; every time
of every rank must be the same to the picosecond.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]


def program(rng, ranks):
    """Rounds of computation, permuted sendrecvs, posted sends to one, collectives, as a GOAL program."""
    lines = [f"num_ranks {ranks}"]
    bodies = [[] for _ in range(ranks)]
    last = [None] * ranks
    tag = 0

    def put(rank, text, after=None):
        name = f"l{len(bodies[rank])}"
        bodies[rank].append(f"{name}: {text}")
        for before in ([last[rank]] if after is None else after):
            if before:
                bodies[rank].append(f"{name} requires {before}")
        return name

    for _ in range(rng.randint(2, 6)):
        for r in range(ranks):
            if rng.random() < 0.6:
                last[r] = put(r, f"calc {rng.choice([0, 10, 500, rng.randint(1, 4000)])}")
        senders = rng.sample(range(ranks), rng.randint(1, ranks))
        ends = [[] for _ in range(ranks)]
        for s in senders:
            for _ in range(rng.randint(1, 3)):
                to = rng.randrange(ranks)
                if to == s:
                    continue
                tag += 1
                size = rng.choice([1, 1, 8, 100, 2048, 2049, 6000, rng.randint(1, 20000)])
                ends[s].append(put(s, f"send {size}b to {to} tag {tag}"))
                ends[to].append(put(to, f"recv {size}b from {s} tag {tag}"))
        for r in range(ranks):
            if ends[r]:
                last[r] = put(r, "calc 0", ends[r])
    for r in range(ranks):
        lines.append(f"rank {r} {{")
        lines += bodies[r] or ["l0: calc 0"]
        lines.append("}")
    return "\n".join(lines) + "\n"


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{arguments}: status {done.returncode}: {done.stderr}")
    return done.stdout


def times(folder, goal, *network):
    out = str(folder / "p.ftr")
    run("simulate", goal, "-o", out, *network)
    text = str(folder / "p.txt")
    run("convert", out, text)
    return [line for line in pathlib.Path(text).read_text().splitlines() if "network=" not in line and "program" not in line]


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    differences = 0
    for seed in ([int(sys.argv[3])] if len(sys.argv) > 3 else range(1, count + 1)):
        rng = random.Random(seed)
        shape = rng.choice(["torus:3x3", "mesh:2x4", "fattree:2,3", "hypercube:3", "ring:6", "omega:8",
                            "dragonfly:2,1,2", "crossbar:6", "tree:2,3", "star:5", "bus:6"])
        latency = rng.choice(["1us", "0ps", "333333ps", "17ns"])
        bandwidth = rng.choice(["1GB/s", "3GB/s", "123456789B/s"])
        topology = f"{shape}?latency={latency}&bandwidth={bandwidth}"
        loggps = rng.choice(["L=1us,o=0,g=0,G=0", "o=100ns,g=50ns,S=4096", "o=1us,S=1", "o=7ns,g=0,S=3000"])
        kind = rng.choice(["packet", "packet", "hops"]) if not shape.startswith("bus") else "bus"
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            ranks = 5 if shape.startswith("star") else 6
            (folder / "x.goal").write_text(program(rng, ranks))
            run("architecture", "convert", topology, "-o", str(folder / "x.arch.toml"))
            common = ["--loggps", loggps]
            if kind == "packet":
                common += ["--packet-size", rng.choice(["512", "2048"]), "--buffer", rng.choice(["2", "16"])]
            level = {"packet": [], "hops": ["--level", "*=hops"], "bus": ["--level", "node.switch*=message"]}[kind]
            goal = str(folder / "x.goal")
            ours = times(folder, goal, "--network", f"arch:{folder}/x.arch.toml", *level, *common)
            theirs = times(folder, goal, "--network", kind, "--topology", topology, *common)
            if ours != theirs:
                differences += 1
                where = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), -1)
                print(f"seed {seed} ({kind} {topology} {loggps}): line {where}\n  {ours[where]}\n  {theirs[where]}")
    print(f"{count} programs, {differences} with other times")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
