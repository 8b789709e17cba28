#!/usr/bin/env python3
"""A trace of very many events: its size, and the time and memory of what reads it.

    run_many_events.py BUILD_DIR [--events N] [--mpi openmpi|mpich] [--directory DIR] [--steps STEP ...]

Records N events (10^9) on two ranks (bench_many_events), then runs report, simulate and convert to text on
the trace. The memory is the largest that a process held, of files it mapped and of its own. Needs 4 bytes of
disk for an event, twice while the trace is sealed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def watch(pid, largest, done):
    """The most memory of its own (RssAnon) that the process has, in KiB."""
    while not done.wait(0.05):
        try:
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    largest[0] = max(largest[0], int(line.split()[1]))
        except OSError:
            return


def run(name, command, size, consume):
    """Runs the command, gives its standard output to consume() and prints a line."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, env=environment)
    largest, done = [0], threading.Event()
    watcher = threading.Thread(target=watch, args=(process.pid, largest, done))
    watcher.start()
    result = consume(process.stdout)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    done.set()
    watcher.join()
    if process.returncode != 0:
        raise SystemExit(f"{name}: status {process.returncode}")
    seconds = time.monotonic() - start
    print(f"{name:12} {seconds:7.1f} s ({seconds / size * 1e9:5.1f} ns/event), at most {usage.ru_maxrss / 1024:.0f} MiB, "
          f"{largest[0] / 1024:.0f} MiB of its own", flush=True)
    return result


def count_lines(stream):
    lines, last = 0, b""
    while chunk := stream.read(1 << 20):
        lines += chunk.count(b"\n")
        last = (last + chunk)[-200:]
    return lines, last.splitlines()[-1].decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=10**9)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--directory", type=pathlib.Path)
    parser.add_argument("--steps", nargs="+", default=["report", "simulate", "convert"])
    arguments = parser.parse_args()
    each = arguments.events // 2
    tool = arguments.build / "bin" / "foretrace"
    program = arguments.build / "programs" / arguments.mpi / "bench_many_events"
    with tempfile.TemporaryDirectory(dir=arguments.directory) as scratch:
        trace = pathlib.Path(scratch) / "many.ftr"
        read = lambda stream: stream.read()
        run("record", [tool, "record", "-n", 2, "-o", trace, "--", program, each], 2 * each, read)
        size = trace.stat().st_size
        print(f"{2 * each} events, {size} bytes, {size / (2 * each):.2f} bytes/event")
        if "report" in arguments.steps:
            report = json.loads(run("report", [tool, "report", "--json", trace], 2 * each, read))
            print({function["name"]: function["calls"] for function in report["functions"]})
        if "simulate" in arguments.steps:
            model = ROOT / "machines" / "cray-t3d.toml"
            print(run("simulate", [tool, "simulate", trace, "--machine", model], 2 * each, read).decode().strip())
        if "convert" in arguments.steps:
            text = [tool, "convert", "--to", "text", trace, "/dev/stdout"]
            lines, last = run("convert", text, 2 * each, count_lines)
            print(f"{lines} lines, the last: {last}")


if __name__ == "__main__":
    main()
