#!/usr/bin/env python3
"""Programs on Foretrace's own MPI library beside SimGrid's SMPI and the real MPIs.

    run_live.py BUILD [--mpi mpich|openmpi] [--only WORD] [--smpi-only] [--repeat N]

The same patterns.c is compiled for an MPI and run unmodified under `foretrace simulate`, and
recompiled with SimGrid's smpicc (Debian: libsimgrid-dev) and run under smpirun. CPU seconds are user
and system time of all processes, start and end included; a trace is written only where that is
said, since SMPI writes none; wall seconds from start to end. The best
of N runs counts. Rates are messages per CPU second; an allreduce of n ranks counts as the n log2 n
messages of recursive doubling, whatever it is made of inside. One case compares the same program
compiled as C++ with itself in C. Run it on an idle machine.
"""

import argparse
import dataclasses
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIMIT = 300  # seconds a run

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-{last}" speed="1Gf" bw="1.25GBps" lat="5us"/>
</platform>
"""


@dataclasses.dataclass
class Case:
    name: str
    ranks: int
    arguments: str
    messages: int = 0        # rate where > 0
    wall: bool = False       # what counts is wall time
    compute: str = "none"
    memory: bool = False
    real: bool = False       # beside the real MPIs instead of SMPI
    trace: bool = False      # with a trace of all events, which SMPI does not write
    cpp: bool = False        # compiled as C++, beside the same in C
    aim: str = ""


def doubling(ranks, rounds):
    return round(ranks * math.log2(ranks)) * rounds


CASES = [
    Case("exchange, 256 ranks", 256, "exchange 1000 8", 256 * 2 * 1000, aim=">= 0.3 M/s"),
    Case("exchange, 1,024 ranks", 1024, "exchange 1000 8", 1024 * 2 * 1000, aim=">= 0.3 M/s"),
    Case("exchange, 1,024 ranks, traced", 1024, "exchange 1000 8", 1024 * 2 * 1000, trace=True),
    Case("allreduce 8 B, 1,024 ranks", 1024, "allreduce 100", doubling(1024, 100),
         aim=">= 0.3 M/s"),
    Case("ping-pong, 32 pairs", 64, "pingpong 4000 8", 64 * 4000, aim=">= 0.15 M/s"),
    Case("messages that wait, a pair", 2, "stream 500000 256", 500000),
    Case("exchange, 8 ranks, as C++", 8, "exchange 20000 8", 8 * 2 * 20000, cpp=True,
         aim="as in C"),
    Case("compute, 8 ranks", 8, "compute 400", wall=True, compute="measured",
         aim="<= 0.6 of SMPI's wall"),
    Case("start and end, 1,024 ranks", 1024, "nothing", wall=True, memory=True,
         aim="< 5 s, < 2 GiB"),
    Case("start and end, 4,096 ranks", 4096, "nothing", wall=True, memory=True,
         aim="< 30 s, < 10 GiB"),
    Case("ping-pong, 32 ranks", 32, "pingpong 300 8", wall=True, real=True,
         aim="less than either MPI"),
]


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


@dataclasses.dataclass
class Measured:
    wall: float
    cpu: float
    out: str


def measure(command, repeat):
    """The best of several runs; None if it fails or takes too long."""
    best = None
    for _ in range(repeat):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        process = subprocess.Popen([str(word) for word in command], env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True)
        try:
            out, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            print(f"{' '.join(map(str, command))}: more than {LIMIT} s", file=sys.stderr)
            return None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode != 0:
            print(f"{' '.join(map(str, command))}: status {process.returncode}\n{out[-2000:]}",
                  file=sys.stderr)
            return None
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        run = Measured(time.monotonic() - start, cpu, out)
        if best is None or run.wall + run.cpu < best.wall + best.cpu:
            best = run
    return best


def available():
    return int(re.search(r"MemAvailable:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])


def memory(command):
    """GiB that the machine has less while it runs."""
    idle, least, done = available(), [available()], threading.Event()

    def watch():
        while not done.wait(0.02):
            least[0] = min(least[0], available())

    thread = threading.Thread(target=watch)
    thread.start()
    measured = measure(command, 1)
    done.set()
    thread.join()
    return measured and (idle - least[0]) / 2**20


class Bench:
    def __init__(self, arguments, scratch):
        self.tool = arguments.build / "bin" / "foretrace"
        self.mpi = arguments.mpi
        self.repeat = arguments.repeat
        self.scratch = pathlib.Path(scratch)

    def compile(self, compiler, name, language="c"):
        target = self.scratch / name
        subprocess.run([compiler, "-O2", "-x", language, HERE / "patterns.c", "-o", target],
                       check=True, capture_output=True, cwd=self.scratch)
        return target

    def live(self, case):
        program = self.scratch / (f"{self.mpi}-cpp" if case.cpp else self.mpi)
        output = ["-o", self.scratch / "live.ftr"] if case.trace else []
        return [self.tool, "simulate", "-n", case.ranks, "--machine",
                ROOT / "machines/cray-t3d.toml", "--compute", case.compute, *output,
                "--", program, *case.arguments.split()]

    def smpi(self, case):
        xml, hosts = self.scratch / "platform.xml", self.scratch / "hosts"
        xml.write_text(PLATFORM.format(last=case.ranks - 1))
        hosts.write_text("".join(f"h{i}\n" for i in range(case.ranks)))
        # Recursive doubling: what SMPI chooses as "mpich" takes it a hundred times longer here.
        options = ["smpi/allreduce:rdb"]
        if case.compute == "none":
            options.append("smpi/simulate-computation:no")
        return ["smpirun", "-np", case.ranks, "-platform", xml, "-hostfile", hosts,
                *[f"--cfg={option}" for option in options], self.scratch / "smpi",
                *case.arguments.split()]

    def real(self, case, mpi):
        options = ["--oversubscribe"] if mpi == "openmpi" else []
        return [f"mpirun.{mpi}", *options, "-n", case.ranks, self.scratch / mpi,
                *case.arguments.split()]


def shown(case, run):
    if run is None:
        return "-"
    if case.messages:
        return f"{case.messages / run.cpu / 1e6:.3f} M/s ({run.cpu:.2f} s CPU)"
    return f"{run.wall:.2f} s ({run.cpu:.2f} s CPU)"


def ratio(case, ours, theirs):
    """How many times better we are."""
    if ours is None or theirs is None:
        return "-"
    return f"{theirs.cpu / ours.cpu if case.messages else theirs.wall / ours.wall:.1f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mpi", default="mpich", choices=["mpich", "openmpi"])
    parser.add_argument("--only", default="")
    parser.add_argument("--smpi-only", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(arguments, scratch)
        for mpi in ("mpich", "openmpi"):
            if shutil.which(f"mpicc.{mpi}"):
                bench.compile(f"mpicc.{mpi}", mpi)
                bench.compile(f"mpicxx.{mpi}", f"{mpi}-cpp", "c++")
        has_smpi = bool(shutil.which("smpicc"))
        if has_smpi:
            bench.compile("smpicc", "smpi")
        print("| | foretrace | peer | times better | memory | aim |\n|---|---|---|---|---|---|",
              flush=True)
        for case in CASES:
            if arguments.only not in case.name:
                continue
            ours = None if arguments.smpi_only else measure(bench.live(case), bench.repeat)
            peers = {}
            if case.real and not arguments.smpi_only:
                for mpi in ("mpich", "openmpi"):
                    if shutil.which(f"mpirun.{mpi}"):
                        peers[mpi] = measure(bench.real(case, mpi), 1)
            elif case.cpp and not arguments.smpi_only:
                peers["C"] = measure(bench.live(dataclasses.replace(case, cpp=False)), bench.repeat)
            elif has_smpi and not case.real and not case.trace:
                peers["SMPI"] = measure(bench.smpi(case), bench.repeat)
            used = "-"
            if case.memory and not arguments.smpi_only:
                hold = dataclasses.replace(case, arguments="nothing 2")
                gib = memory(bench.live(hold))
                used = "-" if gib is None else f"{gib:.2f} GiB"
            print(f"| {case.name} | {shown(case, ours)} | "
                  f"{'; '.join(f'{name} {shown(case, run)}' for name, run in peers.items())} | "
                  f"{'; '.join(ratio(case, ours, run) for run in peers.values())} | {used} | "
                  f"{case.aim} |", flush=True)


if __name__ == "__main__":
    main()
