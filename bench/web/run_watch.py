#!/usr/bin/env python3
"""What watching costs a program: wall time of one that sends much, recorded and watched in turns.

    run_watch.py BUILD [-n RANKS] [--rounds N] [--mpi openmpi|mpich] [PROGRAM ARGUMENTS...]

PROGRAM: one of the examples, by default `elastic`, whose 2 ranks make four million calls in some seconds.
While it is watched its page is asked for as a browser does, twice a second. Prints each pair, and
the median of the pairs' ratios. Wall times: run it on an idle machine.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request

PROGRAM = ["elastic", "--size", "64", "--iters", "30000"]


def ask_like_a_page(process, ended, answers):
    """As web/src/watch/main.ts does, until the run has ended."""
    for line in process.stderr:
        found = re.search(r"watch at (\S+)", line)
        if found:
            break
    else:
        return
    threading.Thread(target=process.stderr.read).start()
    while not ended.wait(0.5):
        try:
            answers.append(len(urllib.request.urlopen(found.group(1) + "state", timeout=10).read()))
        except OSError:
            return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--mpi", default="openmpi")
    options, words = parser.parse_known_args()
    program, *arguments = words or PROGRAM
    build = options.build.resolve()
    command = [str(build / "programs" / options.mpi / program), *arguments]
    with tempfile.TemporaryDirectory() as folder:
        def run(*words):
            answers, ended = [], threading.Event()
            began = time.monotonic()
            process = subprocess.Popen([str(build / "bin/foretrace"), *words, "-n", str(options.n), "-o", "x.ftr", "--", *command],
                                       cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            page = threading.Thread(target=ask_like_a_page, args=(process, ended, answers))
            page.start()
            status = process.wait()
            seconds = time.monotonic() - began
            ended.set()
            page.join()
            if status != 0:
                raise SystemExit(f"{words}: status {status}")
            return seconds, answers

        ratios = []
        for i in range(options.rounds):
            both, asked = {}, 0
            for name in ("record", "watch") if i % 2 == 0 else ("watch", "record"):
                both[name], answers = run(*([name] if name == "watch" else [name, "--clock", "wall"]))
                asked += len(answers)
            ratios.append(both["watch"] / both["record"])
            print(f"recorded {both['record']:.2f} s, watched {both['watch']:.2f} s, asked {asked} times, {ratios[-1]:.3f}", flush=True)
        print(f"{program} on {options.n} ranks, {options.mpi}: median of the {len(ratios)} ratios {statistics.median(ratios):.3f}, "
              f"{min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    main()
