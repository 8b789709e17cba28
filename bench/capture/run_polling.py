#!/usr/bin/env python3
"""Programs that poll, on more ranks than cores: bare, recorded, predicted, live, in turn.

    run_polling.py BUILD_DIR [--ranks N] [--repetitions N] [--only PATTERN] [--mpi MPI] [--rows]

For each pattern (polling.c) the medians of the CPU seconds of all ranks and of the wall time
between MPI_Init and MPI_Finalize, as multiples of the bare runs'. The CPU time is the one to look at
where other programs want the cores. `predict` and live are on the Cray T3D, `predict` without and with
what the ranks compute (`measured`: looks then wait for ranks that are behind); the program has
synchronous sends in it, so that ranks answer each other. Live, the figures are those of the whole
command, start, end and simulator included. --rows prints rows of a table in Markdown.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import programs

MACHINE = pathlib.Path(__file__).resolve().parents[2] / "machines/cray-t3d.toml"
MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
# How much of each; the second for Open MPI, whose ranks yield to each other.
PATTERNS = {"active": (20000, 20000), "probes": (20000, 100000), "search": (5000, 5000),
            "tests": (1000, 30000), "overlap": (1000, 5000), "some": (10000, 50000),
            "rendezvous": (300, 5000), "files": (50, 1000)}


def run(command, folder, whole):
    """Wall and CPU seconds, as the program prints them, or those of the whole command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    ended = subprocess.run([str(word) for word in command], env=environment, cwd=folder, text=True,
                           capture_output=True)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {ended.returncode}\n{ended.stderr}")
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
    if whole:
        return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return tuple(float(word) for word in ended.stdout.splitlines()[0].split())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", choices=PATTERNS)
    parser.add_argument("--mpi", choices=MPI_NAMES)
    parser.add_argument("--rows", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    tool = build / "bin" / "foretrace"
    ranks = ["-n", arguments.ranks]
    built = programs.find(build, "bench_polling", [arguments.mpi] if arguments.mpi else programs.MPIS)
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} at the start")
    if arguments.rows:
        print("\n| | bare, CPU | `record` | `predict` | `predict`, measured | live |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for mpi, program in built.items():
            bare = [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []), *ranks]
            modes = {"bare": bare,
                     "record": [tool, "record", "-o", "run.ftr", *ranks, "--"],
                     "predict": [tool, "predict", "--machine", MACHINE, "--compute", "none", "-o",
                                 "run.ftr", *ranks, "--"],
                     "measured": [tool, "predict", "--machine", MACHINE, "-o", "run.ftr", *ranks, "--"],
                     "live": [tool, "simulate", *ranks, "--machine", MACHINE, "--compute",
                              "measured", "--"]}
            for pattern, numbers in PATTERNS.items():
                number = numbers[mpi == "openmpi"]
                if arguments.only not in (None, pattern):
                    continue
                samples = {mode: [] for mode in modes}
                for _ in range(arguments.repetitions):
                    for mode, words in modes.items():
                        samples[mode].append(run([*words, program, pattern, number], folder,
                                                 mode == "live"))
                wall, cpu = ({mode: statistics.median(times[i] for times in each)
                              for mode, each in samples.items()} for i in (0, 1))
                cells = [f"{cpu['bare']:.2f} s"] + [
                    f"{cpu[mode] / cpu['bare']:.2f} (wall {wall[mode] / wall['bare']:.2f})"
                    for mode in ("record", "predict", "measured", "live")]
                between = " | " if arguments.rows else "   "
                name = f"{MPI_NAMES[mpi]}, {pattern}"
                print((f"| {name}{between}" if arguments.rows else f"{name:22}") + between.join(cells)
                      + (" |" if arguments.rows else ""), flush=True)


if __name__ == "__main__":
    main()
