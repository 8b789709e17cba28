#!/usr/bin/env python3
"""A study of 720 points from 60 recordings: how busy it keeps the processors, and whether it survives.

    run_study.py BUILD [--small] [--kills 20] [--mpi openmpi|mpich]

3 programs x 5 numbers of ranks x 4 sizes x 3 machines x 4 networks. Records, then replays all points and
prints the CPU seconds of the replays over processors x real seconds (a figure for a quiet machine). Then
begins anew, is killed with SIGKILL at random moments of the replays, and has to end with the same table:
nothing lost, nothing run twice. At last `mpirun -n 4` has to give the same. Status 1 if not.
--small: 24 points from 6 recordings, for tests.
"""

import argparse
import ctypes
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

STUDY = """[parameters]
p = {ranks}
n = {sizes}
machine = {machines}
network = {networks}
{programs}
[ways.replay]
kind = "simulate"
machine = "{{machine}}"
options = "--compute annotated --network {{network}} --topology 'torus:4x8?latency=1us&bandwidth=1GB/s' --loggps L=2us,o=500ns,g=100ns,G=1ns,S=65536"
"""
PROGRAMS = {"life": "--rows {n} --cols {n}", "product": "--size {n}", "sor": "--size {n}"}
MACHINES = ["cray-t3d", "sparc-ethernet", "archer2-ofi"]
NETWORKS = ["loggps", "hops", "flow", "packet"]


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def end_with_us():
    """In a child: SIGTERM when this script ends in whatever way, so that no study runs on without it."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Runs:
    def __init__(self, build, folder, mpi, small):
        self.tool, self.folder, self.mpi = build / "bin/foretrace", folder, mpi
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        chosen = dict(list(PROGRAMS.items())[:1]) if small else PROGRAMS
        programs = "".join(f'[programs.{name}]\ncommand = "{build}/programs/{mpi}/{name} {options}"\nranks = "{{p}}"\n'
                           for name, options in chosen.items())
        ranks, sizes = ([2, 3, 4], [32, 64]) if small else ([2, 4, 8, 16, 32], [32, 64, 128, 256])
        machines, networks = (MACHINES[:1], NETWORKS) if small else (MACHINES, NETWORKS)
        self.points = len(chosen) * len(ranks) * len(sizes) * len(machines) * len(networks)
        (folder / "s.toml").write_text(STUDY.format(ranks=ranks, sizes=sizes, machines=machines, networks=networks,
                                                    programs=programs))

    def start(self, database, *before):
        return subprocess.Popen([*before, self.tool, "study", "s.toml", "-o", database], cwd=self.folder, env=self.environment,
                                stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, preexec_fn=end_with_us)

    def whole(self, database, *before):
        process = self.start(database, *before)
        _, told = process.communicate(timeout=3600)
        if process.returncode != 0:
            sys.exit(f"the study failed: {told[-2000:]}")

    def keep_recordings(self, database):
        """A database of which only the replays are missing."""
        shutil.copytree(self.folder / "whole.db.recordings", self.folder / f"{database}.recordings")
        shutil.copy(self.folder / "whole.db", self.folder / database)
        with sqlite3.connect(self.folder / database) as rows:
            rows.execute("DELETE FROM details WHERE launch IN (SELECT id FROM launches WHERE kind = 'simulate')")
            rows.execute("DELETE FROM launches WHERE kind = 'simulate'")

    def table(self, database):
        with sqlite3.connect(self.folder / database) as rows:
            return rows.execute("SELECT program, ranks, machine, network, n, time, wait, messages FROM launches WHERE "
                                "kind = 'simulate' AND status = 'done' ORDER BY 1, 2, 3, 4, 5").fetchall()


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ticks():
    """Of all processors: those that were idle, all."""
    fields = [int(each) for each in open("/proc/stat").readline().split()[1:9]]
    return fields[3] + fields[4], sum(fields)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        runs = Runs(options.build, pathlib.Path(name), options.mpi, options.small)
        start = time.monotonic()
        runs.whole("whole.db")
        print(f"{runs.points} points with their recordings: {time.monotonic() - start:.1f} s", flush=True)
        whole = runs.table("whole.db")
        if len(whole) != runs.points:
            sys.exit(f"{len(whole)} points, not {runs.points}")
        runs.keep_recordings("again.db")
        start, used, (idle, every) = time.monotonic(), cpu_seconds(), ticks()
        runs.whole("again.db")
        took, used = time.monotonic() - start, cpu_seconds() - used
        idle, every = (now - before for now, before in zip(ticks(), (idle, every)))
        print(f"replays: {took:.1f} s, {used:.1f} s of CPU time, {100 * used / (os.cpu_count() * took):.0f} % of "
              f"{os.cpu_count()} processors, which were idle for {100 * idle / every:.0f} % (others may have used the rest)",
              flush=True)
        if runs.table("again.db") != whole:
            sys.exit("a second run has another table")
        runs.keep_recordings("killed.db")
        moments = random.Random(1)
        for _ in range(options.kills):
            process = runs.start("killed.db")
            time.sleep(moments.uniform(0.02, 2 * took / (options.kills + 1)))
            process.kill()
            process.communicate()
        known = len(runs.table("killed.db"))
        runs.whole("killed.db")
        if runs.table("killed.db") != whole:
            sys.exit("after it was killed the table is another one, or has points twice")
        print(f"killed {options.kills} times: {known} points were done, the table is the same", flush=True)
        runs.keep_recordings("ranks.db")
        launcher = [f"mpirun.{options.mpi}", *(["--oversubscribe"] if options.mpi == "openmpi" else []), "-n", "4"]
        runs.whole("ranks.db", *launcher)
        if runs.table("ranks.db") != whole:
            sys.exit("4 processes have another table")
        print("mpirun -n 4: the same table")


if __name__ == "__main__":
    main()
