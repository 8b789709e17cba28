#!/usr/bin/env python3
"""What `foretrace explain` takes for a large run, and what the naive way would.

    run_explain.py BUILD [--ranks 256] [--rounds 650] [--single 5]

The run: every rank exchanges messages with two neighbours and computes, unevenly, in each round; one
allreduce at the end. It is explained in full on networks datasheet and loggps, then asked for its run time at
20 latencies. The naive way to find what each wait brings is one simulation for each: its time is that
of one simulation (the least of several), times the waits.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import tempfile

PROGRAM = """num_ranks {ranks}
rank all {{
  repeat {rounds} as i {{
    send 8KiB to (me+1)%size; send 8KiB to (me-1)%size
    recv 8KiB from (me+1)%size; recv 8KiB from (me-1)%size
    wait
    calc 60000+((me*7919+i*104729)%89)*1000
  }}
  allreduce 8b
}}
"""
NETWORKS = {"datasheet": ["--machine", "cray-t3d"],
            "loggps": ["--network", "loggps", "--loggps", "L=2us,o=1us,g=1us,G=0.1ns"]}


def run(words, folder):
    """CPU seconds and what was printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--ranks", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=650)
    parser.add_argument("--single", type=int, default=5, help="simulations to take the least of")
    options = parser.parse_args()
    foretrace = str(pathlib.Path(options.build).resolve() / "bin" / "foretrace")
    with tempfile.TemporaryDirectory() as folder:
        program = PROGRAM.format(ranks=options.ranks, rounds=options.rounds)
        (pathlib.Path(folder) / "run.goal").write_text(program)
        for network, words in NETWORKS.items():
            full, text = run([foretrace, "explain", "run.goal", *words, "--json"], folder)
            explained = json.loads(text)
            waits = sum(group["count"] for group in explained["waits"])
            single = min(run([foretrace, "simulate", "run.goal", *words], folder)[0]
                         for _ in range(options.single))
            print(f"{network}: {explained['calls']} calls on {explained['ranks']} ranks, {waits} waits: "
                  f"explained in {full:.1f} s of CPU time; a simulation takes {single:.2f} s, one for each "
                  f"wait {single * waits / 3600:.1f} hours")
        curve, _ = run([foretrace, "explain", "run.goal", *NETWORKS["loggps"], "--latencies", "1us..100us"],
                       folder)
        print(f"run time at 20 latencies: {curve:.2f} s of CPU time in all")


if __name__ == "__main__":
    main()
