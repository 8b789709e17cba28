#!/usr/bin/env python3
"""What a reading of the computer's clock takes: plain, recorded, predicted, live, and counted as computation.

    run_clocks.py BUILD_DIR [--mpi MPI] [--repetitions N]

Five million readings in a row by one rank (clock_readings.c); medians, in nanoseconds a reading.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

import programs

MACHINE = pathlib.Path(__file__).resolve().parents[2] / "machines/cray-t3d.toml"
READINGS = 5_000_000


def run(command, folder):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    ended = subprocess.run([str(word) for word in command], env=environment, cwd=folder, text=True, capture_output=True)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {ended.returncode}\n{ended.stderr}")
    return ended.stdout + ended.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    program = programs.find(build, "bench_clock_readings", [arguments.mpi])[arguments.mpi]
    tool = build / "bin/foretrace"
    predicting = ["--machine", MACHINE, "--compute", "measured"]
    simulate_recording = [tool, "simulate", "record.ftr", *predicting]
    ways = {
        "plain": ([f"mpirun.{arguments.mpi}", "-n", 1, program], None),
        "record": ([tool, "record", "-n", 1, "-o", "record.ftr", "--", program], simulate_recording),
        "predict": ([tool, "predict", "-n", 1, *predicting, "-o", "predict.ftr", "--", program], None),
        "live": ([tool, "simulate", "-n", 1, *predicting, "--", program], None),
    }
    print("| | CPU time | counted as computation |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for way, (command, replay) in ways.items():
            taken, counted = [], []
            for _ in range(arguments.repetitions):
                text = run(command, folder)
                taken.append(float(re.search(r"^[0-9.]+$", text, re.M)[0]))
                predicted = re.search(r"predicted time (\S+) s", run(replay, folder) if replay else text)
                if predicted:
                    counted.append(float(predicted[1]) * 1e9 / READINGS)
            told = f"{statistics.median(counted):.0f} ns" if counted else ""
            print(f"| {way} | {statistics.median(taken):.0f} ns | {told} |")


if __name__ == "__main__":
    main()
