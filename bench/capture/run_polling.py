#!/usr/bin/env python3
"""Programs that poll, on more ranks than cores: bare, recorded, predicted, in turn.

    run_polling.py BUILD_DIR [--ranks N] [--repetitions N] [--rows]

For each pattern (polling.c) the medians of the CPU seconds of all ranks and of the wall time
between MPI_Init and MPI_Finalize, as multiples of the bare runs'. The CPU time is the one to look at
where other programs want the cores. `predict` is on the Cray T3D; the program has synchronous sends
in it, so that ranks answer each other. --rows prints rows of a table in Markdown.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

MACHINE = pathlib.Path(__file__).resolve().parents[2] / "machines/cray-t3d.toml"
MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
PATTERNS = {"active": 20000, "tests": 1000, "rendezvous": 300, "files": 50}


def run(command, folder):
    """Wall and CPU seconds, as the program prints them."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    ended = subprocess.run([str(word) for word in command], env=environment, cwd=folder, text=True,
                           capture_output=True)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {ended.returncode}\n{ended.stderr}")
    return tuple(float(word) for word in ended.stdout.split())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", choices=PATTERNS)
    parser.add_argument("--rows", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    tool = build / "bin" / "foretrace"
    ranks = ["-n", arguments.ranks]
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} at the start")
    if arguments.rows:
        print("\n| | bare, CPU | `record` | `predict` |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for mpi in MPI_NAMES:
            program = build / "programs" / mpi / "bench_polling"
            if not program.exists():
                continue
            bare = [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []), *ranks]
            modes = {"bare": bare,
                     "record": [tool, "record", "-o", "run.ftr", *ranks, "--"],
                     "predict": [tool, "predict", "--machine", MACHINE, "--compute", "none", "-o",
                                 "run.ftr", *ranks, "--"]}
            for pattern, number in PATTERNS.items():
                if arguments.only not in (None, pattern):
                    continue
                samples = {mode: [] for mode in modes}
                for _ in range(arguments.repetitions):
                    for mode, words in modes.items():
                        samples[mode].append(run([*words, program, pattern, number], folder))
                wall, cpu = ({mode: statistics.median(times[i] for times in each)
                              for mode, each in samples.items()} for i in (0, 1))
                cells = [f"{cpu['bare']:.2f} s"] + [
                    f"{cpu[mode] / cpu['bare']:.2f} (wall {wall[mode] / wall['bare']:.2f})"
                    for mode in ("record", "predict")]
                between = " | " if arguments.rows else "   "
                name = f"{MPI_NAMES[mpi]}, {pattern}"
                print((f"| {name}{between}" if arguments.rows else f"{name:22}") + between.join(cells)
                      + (" |" if arguments.rows else ""), flush=True)


if __name__ == "__main__":
    main()
