#!/usr/bin/env python3
"""What a call costs under profile, record and predict, beside the bare program.

    run_calls.py BUILD_DIR [--launches N] [--threads]

Starts bench_calls on 2 ranks, bare, with wrappers that do nothing, and captured in turn, N times; prints the
median over launches of nanoseconds per call, and what is added. Run it on an
idle machine with two cores. --threads: the program initialises MPI with MPI_THREAD_MULTIPLE.
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
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stderr}")
    pairs = (line.split() for line in result.stdout.splitlines())
    return {words[0]: float(words[1]) for words in pairs if len(words) == 2}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--threads", action="store_true")
    arguments = parser.parse_args()
    tool = arguments.build / "bin" / "foretrace"
    model = ROOT / "machines" / "cray-t3d.toml"
    with tempfile.TemporaryDirectory() as scratch:
        rendezvous = pathlib.Path(scratch) / "rendezvous.toml"
        rendezvous.write_text(model.read_text() + "\n[loggps]\nS = 65536\n")
        output = ["-o", f"{scratch}/trace.ftr"]
        for mpi, program in programs.find(arguments.build, "bench_calls").items():
            # The program times itself, by a clock that has to be the real one.
            predict = [tool, "predict", "-n", "2", "--wtime", "real", "--machine"]
            wrappers = program.with_name("libbench_bare_wrappers.so")
            words = [program, "multiple"] if arguments.threads else [program]
            modes = {
                "bare": [f"mpirun.{mpi}", "-n", "2", *words],
                "wrapper": [f"mpirun.{mpi}", "-n", "2", "env", f"LD_PRELOAD={wrappers}", *words],
                "profile": [tool, "profile", "-n", "2", "-o", f"{scratch}/profile.fprof", "--", *words],
                "profile 4": [tool, "profile", "-n", "2", "--depth", "4", "-o", f"{scratch}/profile.fprof",
                              "--", *words],
                "record": [tool, "record", "-n", "2", *output, "--", *words],
                "predict": [*predict, model, *output, "--", *words],
                "predict S": [*predict, rendezvous, *output, "--", *words],
            }
            samples = {mode: [] for mode in modes}
            for _ in range(arguments.launches):
                for mode, command in modes.items():
                    samples[mode].append(run(command))
            print(f"{mpi}: ns per call (added to the bare call)")
            for name in samples["bare"][0]:
                median = {m: statistics.median(s[name] for s in samples[m]) for m in modes}
                cells = [f"{m} {median[m]:7.1f} ({median[m] - median['bare']:+7.1f})"
                         for m in modes if m != "bare"]
                print(f"  {name:14} bare {median['bare']:7.1f}   " + "   ".join(cells))


if __name__ == "__main__":
    main()
