#!/usr/bin/env python3
"""More ranks than cores: what a program takes bare, and recorded with and without yielding.

    run_oversubscribed.py BUILD_DIR [--ranks N ...] [--repetitions N] [--limit SECONDS] [--rows]

Three programs (oversubscribed.cpp), each bare, under record --yield auto and
under --yield never, in turn. Prints the median of the wall times with the
range; for `compute` as a multiple of the CPU time computed, divided by the
cores; for the others as microseconds a round, and as such a multiple of all CPU time, which is
useful only where ranks that wait do not spin. A run that takes longer than the
limit is given up. --rows prints them as the rows of a table in Markdown. For 16 and
32 ranks in a few minutes: --repetitions 3 --limit 15 --rows.
"""

import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile

import programs

MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
PROGRAMS = {"ring": 300, "allreduce": 100, "compute": 10}


def run(command, limit):
    """The seconds that the program prints, or None after `limit` seconds."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    process = subprocess.Popen([str(word) for word in command], env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        # The launcher ends its ranks when told to end.
        process.send_signal(signal.SIGTERM)
        process.communicate()
        return None
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {process.returncode}\n{err}")
    return tuple(float(word) for word in out.split())


def cell(kind, rounds, samples, cores, limit):
    if None in samples:
        return f"given up after {limit} s"
    multiples = [seconds / (computed / cores) for seconds, computed in samples]
    multiple = f"{statistics.median(multiples):.2f} ({min(multiples):.2f}-{max(multiples):.2f})"
    if kind == "compute":
        return multiple
    values = [seconds / rounds * 1e6 for seconds, _ in samples]
    return f"{statistics.median(values):.0f} us ({min(values):.0f}-{max(values):.0f}), {multiple}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[16, 32])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--rows", action="store_true")
    arguments = parser.parse_args()
    tool = arguments.build / "bin" / "foretrace"
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, load {os.getloadavg()[0]:.1f} at the start")
    if arguments.rows:
        print("\n| | bare | `record` | `record --yield never` |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for mpi, program in programs.find(arguments.build, "bench_oversubscribed").items():
            launcher = [f"mpirun.{mpi}"] + (["--oversubscribe"] if mpi == "openmpi" else [])
            record = [tool, "record", "-o", f"{scratch}/trace.ftr", "-n"]
            for ranks in arguments.ranks:
                for kind, rounds in PROGRAMS.items():
                    words = [program, kind, rounds]
                    modes = {"bare": [*launcher, "-n", ranks, *words],
                             "record": [*record, ranks, "--", *words],
                             "record --yield never": [*record, ranks, "--yield", "never", "--", *words]}
                    samples = {mode: [] for mode in modes}
                    for _ in range(arguments.repetitions):
                        for mode, command in modes.items():
                            if None not in samples[mode]:
                                samples[mode].append(run(command, arguments.limit))
                    cells = {mode: cell(kind, rounds, samples[mode], cores, arguments.limit) for mode in modes}
                    if arguments.rows:
                        print(f"| {MPI_NAMES[mpi]}, {ranks} ranks, {kind} | {' | '.join(cells.values())} |", flush=True)
                        continue
                    text = "   ".join(f"{mode}: {value}" for mode, value in cells.items())
                    print(f"{mpi:8} {ranks:3} ranks  {kind:10} {text}", flush=True)


if __name__ == "__main__":
    main()
