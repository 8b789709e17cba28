#!/usr/bin/env python3
"""What `foretrace explain` takes for a large run, and what the naive way would.

    run_explain.py BUILD [--ranks 256] [--rounds 650] [--single 5]
    run_explain.py BUILD --ranks 1024 --rounds 19500 --memory 4

The run: every rank exchanges messages with two neighbours and computes, unevenly, in each round; one
allreduce at the end. It is explained in full on networks datasheet and loggps, then asked for its run time at
20 latencies. The naive way to find what each wait brings is one simulation for each: its time is that
of one simulation (the least of several), times the waits.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

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


class Limit:
    """A control group (version 1, as root) that holds so much memory, the pages of files included."""

    def __init__(self, gib):
        self.folder = pathlib.Path(f"/sys/fs/cgroup/memory/foretrace-explain-{os.getpid()}")
        self.folder.mkdir()
        (self.folder / "memory.limit_in_bytes").write_text(str(int(gib * 2**30)))

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def end(self):
        """The most that was held, in bytes."""
        most = int((self.folder / "memory.max_usage_in_bytes").read_text())
        (self.folder / "memory.force_empty").write_text("0")
        self.folder.rmdir()
        return most


def run_limited(words, folder, gib):
    """Explains the run once, and tells what it took."""
    limit = Limit(gib)
    begin = time.monotonic()
    with (pathlib.Path(folder) / "explained.json").open("w+") as out:
        process = subprocess.Popen(words, cwd=folder, stdout=out, preexec_fn=limit.enter)
        _, status, used = os.wait4(process.pid, 0)
        wall, most = time.monotonic() - begin, limit.end()
        if status != 0:
            sys.exit(f"explain ended with status {os.waitstatus_to_exitcode(status)}")
        out.seek(0)
        explained = json.load(out)
    print(f"{explained['calls']} calls on {explained['ranks']} ranks within {gib} GiB: {wall:.0f} s, "
          f"{used.ru_utime + used.ru_stime:.0f} s of CPU time, {used.ru_maxrss / 2**20:.2f} GiB resident at most, "
          f"{most / 2**30:.2f} GiB with the pages of files")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--ranks", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=650)
    parser.add_argument("--single", type=int, default=5, help="simulations to take the least of")
    parser.add_argument("--memory", type=float, help="explain once on the data sheet, within so many GiB (root)")
    options = parser.parse_args()
    foretrace = str(pathlib.Path(options.build).resolve() / "bin" / "foretrace")
    with tempfile.TemporaryDirectory() as folder:
        program = PROGRAM.format(ranks=options.ranks, rounds=options.rounds)
        (pathlib.Path(folder) / "run.goal").write_text(program)
        if options.memory:
            return run_limited([foretrace, "explain", "run.goal", *NETWORKS["datasheet"], "--json"], folder,
                               options.memory)
        for network, words in NETWORKS.items():
            full, text = run([foretrace, "explain", "run.goal", *words, "--json"], folder)
            explained = json.loads(text)
            # A wait may have a part that is contention, too.
            waits = sum(group["count"] for group in explained["waits"] if group["kind"] != "contention")
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
