#!/usr/bin/env python3
"""convert.py BUILD [STEPS [FORMAT...]]: how fast traces are converted, and in how much memory.

Makes a trace of 32 ranks and 6 events a rank and step (60,000 steps: some 600 MB as OTF2), and prints
for each format the size, the CPU and wall-clock time, MB/s of the foreign file, and the largest
memory in use. Beside it the same for a quarter of the steps: memory must not follow.
"""

import os
import pathlib
import sys
import tempfile

FORMATS = ["otf2", "perfetto", "chrome", "csv", "paje", "paraver", "alog"]
ENDINGS = {"perfetto": "pftrace", "chrome": "json", "paraver": "prv"}


def run(*command):
    """CPU seconds, wall seconds and peak MB of a command."""
    before = os.times()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.execv(command[0], [str(word) for word in command])
    _, status, usage = os.wait4(child, 0)
    after = os.times()
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {status}")
    return usage.ru_utime + usage.ru_stime, after.elapsed - before.elapsed, usage.ru_maxrss / 1024


def size(path):
    folder = path.with_suffix("")
    more = [p for p in folder.iterdir()] if folder.is_dir() else []
    return sum(p.stat().st_size for p in [path, *more]) / 1e6


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 60000
    formats = sys.argv[3:] or FORMATS
    tool, maker = build / "bin" / "foretrace", build / "bench" / "big_trace"
    print(f"{'format':9} {'way':4} {'steps':>7} {'MB':>8} {'CPU s':>7} {'wall s':>7} {'MB/s CPU':>9} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        for count in (steps // 4, steps):
            trace = pathlib.Path(scratch) / "big.ftr"
            run(maker, trace, "32", str(count))
            for name in formats:
                out = pathlib.Path(scratch) / f"big.{ENDINGS.get(name, name)}"
                ways = [("out", ["convert", trace, out])]
                if name in ("otf2", "paraver", "alog"):
                    ways.append(("in", ["convert", out, pathlib.Path(scratch) / "back.ftr"]))
                for way, arguments in ways:
                    cpu, wall, peak = run(tool, *arguments)
                    megabytes = size(out)
                    print(f"{name:9} {way:4} {count:7} {megabytes:8.1f} {cpu:7.2f} {wall:7.2f} {megabytes / cpu:9.1f} "
                          f"{peak:8.1f}", flush=True)


main()
