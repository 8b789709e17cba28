#!/usr/bin/env python3
"""What threads that wait for each other cost under record, predict and live, beside the bare program.

    run_waits.py BUILD_DIR [--launches N]

Starts bench_waits on one rank in each way in turn, N times; prints the median over launches of nanoseconds for one
region of OpenMP, barrier, signal that nobody waits for, turn by a condition, semaphore, lock or critical part that
is taken at once, and thread (ten times as much). Run it on an idle machine with two cores.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

import programs

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(command):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_hwloc_base_binding_policy="none")
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stderr}")
    pairs = (line.split() for line in result.stdout.splitlines())
    return {words[0]: float(words[1]) for words in pairs if len(words) == 2}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--launches", type=int, default=5)
    arguments = parser.parse_args()
    tool, model = arguments.build / "bin" / "foretrace", ROOT / "machines" / "cray-t3d.toml"
    with tempfile.TemporaryDirectory() as scratch:
        trace = pathlib.Path(scratch) / "trace.ftr"
        for mpi, program in programs.find(arguments.build, "bench_waits").items():
            ways = {"bare": [f"mpirun.{mpi}", "-n", "1", program],
                    "record": [tool, "record", "-n", "1", "-o", trace, "--", program],
                    "predict": [tool, "predict", "-n", "1", "--machine", model, "-o", trace, "--", program],
                    "live": [tool, "simulate", "-n", "1", "--machine", model, "-o", trace, "--", program]}
            samples = {way: [] for way in ways}
            for _ in range(arguments.launches):
                for way, command in ways.items():
                    trace.unlink(missing_ok=True)
                    samples[way].append(run(command))
            print(f"{mpi}: ns for one (beyond the bare program)")
            for name in samples["bare"][0]:
                median = {way: statistics.median(sample[name] for sample in samples[way]) for way in ways}
                print(f"  {name:10} bare {median['bare']:8.1f}   " + "   ".join(
                    f"{way} {median[way]:8.1f} ({median[way] - median['bare']:+8.1f})" for way in ways if way != "bare"))


if __name__ == "__main__":
    main()
