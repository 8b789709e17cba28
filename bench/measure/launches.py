"""Launches of bench_fresh, and what the scripts of this folder share.

A launch is the unit: how processes and memory land differs from start to start, and no single one sees that.
"""

import contextlib
import csv
import ctypes
import os
import pathlib
import signal
import statistics
import subprocess

FUNCTIONS = ("send", "recv", "pingpong", "sendrecv", "bcast", "allreduce")
# Sums of doubles.
SUMS = ("reduce", "reduce_root", "allreduce", "scan")
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
# Two launches whose cores are so much further apart than the model's saw another machine.
SAME_STATE = 1.4


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(command, limit=600):
    """Standard output; ends the script where the command fails."""
    command = [str(word) for word in command]
    result = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=limit)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: status {result.returncode}\n{result.stderr}")
    return result.stdout


def launcher(mpi, under=()):
    """The words that `foretrace measure -n 2` starts its ranks with, `under` others."""
    return [*under, f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []), "-n", "2"]


def measured(functions):
    """What bench_fresh is asked for: recv is the other half of send."""
    return list(dict.fromkeys("send" if f == "recv" else f for f in functions))


class Launch:
    """What one launch of bench_fresh printed."""

    def __init__(self, text):
        self.blocks = {}  # (function, bytes) -> seconds of the undisturbed blocks
        self.disturbed = 0
        self.total = 0
        self.bounce = []  # ns, before and after
        for line in text.splitlines():
            if line.startswith("#"):
                words = line.split()
                if "bounce_ns" in words:
                    self.bounce.append(float(words[words.index("bounce_ns") + 1]))
                continue
            function, size, seconds, kept = line.split(",")
            self.total += 1
            if kept == "1":
                self.blocks.setdefault((function, int(size)), []).append(float(seconds))
            else:
                self.disturbed += 1

    def middle(self, point):
        blocks = self.blocks.get(point)
        return middle(blocks) if blocks else None


def fresh_text(build, mpi, points, blocks, seed, start="rounds", buffers="warm", under=()):
    """What one launch over `points`, pairs of a measured function and a size, prints."""
    program = build / "programs" / mpi / "bench_fresh"
    if not program.exists():
        raise SystemExit(f"{program} is not there: configure with -DFORETRACE_BENCH=ON, build bench_fresh_{mpi}")
    words = [f"{function}:{size}" for function, size in points]
    return run([*launcher(mpi, under), program, blocks, seed, start, buffers, *words])


def fresh(*arguments, **others):
    return Launch(fresh_text(*arguments, **others))


def middle(values):
    """The mean of the middle half. Where times alternate between two values a median is one or the other by chance."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    return statistics.fmean(ordered[cut:len(ordered) - cut])


def by_launch(launches):
    """(function, bytes) -> each launch's middle."""
    points = sorted({point for launch in launches for point in launch.blocks})
    return {p: [m for launch in launches if (m := launch.middle(p)) is not None] for p in points}


def middles(launches):
    """By (function, bytes): the middle over launches of each launch's middle."""
    return {p: middle(v) for p, v in by_launch(launches).items()}


# Student's t for 97.5 %, by degrees of freedom from 1; beyond, 2.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
           2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086)


def half_width(values):
    """Of the 95 % interval of middle(values), relative; infinite for fewer than 4. The interval of a trimmed mean (Tukey,
    McLaughlin, Sankhya A 25 (1963) 331): from the variance of the values with the cut ones moved to the nearest kept."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    kept = len(ordered) - 2 * cut
    if len(ordered) < 4:
        return float("inf")
    moved = [min(max(v, ordered[cut]), ordered[-1 - cut]) for v in ordered]
    error = statistics.stdev(moved) / (kept / len(ordered) * len(ordered) ** 0.5)
    student = STUDENT[kept - 2] if kept - 2 < len(STUDENT) else 2
    return student * error / middle(ordered)


def same_state(bounces, reference):
    """Whether the cores were as near to each other as they were for `reference` (both in ns)."""
    return all(max(b, reference) <= SAME_STATE * min(b, reference) for b in bounces)


@contextlib.contextmanager
def busy_core(wanted, under=()):
    """While this lasts, if wanted, another process keeps the last core busy. Started under the words that the ranks are
    started under: what has less priority than they have would take nothing from them."""
    if not wanted:
        yield
        return
    core = max(os.sched_getaffinity(0))

    def like_any_other():
        # Under a real-time policy, should this script have one, the loop would never let go.
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, {core})
        # Ends with this script, however that ends.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    loop = subprocess.Popen([*under, "sh", "-c", "while :; do :; done"], start_new_session=True, preexec_fn=like_any_other)
    try:
        yield
    finally:
        os.killpg(loop.pid, signal.SIGKILL)
        loop.wait()


class Samples:
    """What a samples file holds of 2 ranks; launches that measure left out for their state are left out here."""

    def __init__(self, path):
        self.facts = {}
        self.sizes = set()
        self.blocks = {}  # (function, bytes) -> launch -> seconds of what was kept
        with path.open() as file:
            lines = file.read().splitlines()
        for line in lines:
            if line.startswith("#") and "=" in line:
                key, value = line[1:].split("=", 1)
                self.facts[key.strip()] = value.strip()
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            self.sizes.add(int(row["bytes"]))
            if row["ranks"] == "2" and row["kept"] == "1" and self.used(row["launch"]):
                launches = self.blocks.setdefault((row["function"], int(row["bytes"])), {})
                launches.setdefault(row["launch"], []).append(float(row["seconds"]))

    def used(self, launch):
        return self.facts.get(f"launch_{launch}_state", "used") == "used"

    def middles(self):
        """(function, bytes) -> the middle over launches of each launch's middle."""
        return {point: middle([middle(b) for b in launches.values()]) for point, launches in self.blocks.items()}


def percent(value):
    return f"{100 * value:.1f} %"
