#!/usr/bin/env python3
"""Long messages on the testbed against the simulator, with and without what rendezvous costs.

    run_patterns.py BUILD [--repeat 3] [--rate 100mbit]

Needs root (tools/testbed). For 2 and 4 hosts on a star and two sizes: the median of the real runs,
the times of `flow`, `packet` and `loggps` with S = 64 KiB, which is Open MPI's over TCP, and, beside
them, of `packet` without any rendezvous. L and o are guesses that do not matter at these sizes.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TIMES = 10


def output(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, text=True, capture_output=True,
                          timeout=120, **options).stdout


def predicted(foretrace, folder, network, threshold):
    parameters = f"L=40us,o=20us,G=80ns,S={threshold}"
    topology = [] if network == "loggps" else ["--topology", "net.toml"]
    told = output(foretrace, "simulate", "run.ftr", "--network", network, *topology, "--loggps",
                  parameters, cwd=folder)
    return float(re.search(r"predicted time (\S+) s", told)[1])


def row(options, folder, hosts, pattern, size):
    foretrace = options.build / "bin/foretrace"
    testbed = [SOURCE / "tools/testbed", "--name", "bench"]
    arguments = ["./pattern", pattern, str(size), str(TIMES)]
    real = [float(output(*testbed, "run", "-n", hosts, "--", *arguments, cwd=folder))
            for _ in range(options.repeat)]
    output(foretrace, "record", "-n", hosts, "-o", "run.ftr", "--", *arguments, cwd=folder)
    middle = statistics.median(real)
    cells = [f"{hosts} {pattern} {size}", f"{1e3 * middle:.0f}",
             f"{1e3 * min(real):.0f} to {1e3 * max(real):.0f}"]
    for network, threshold in (("flow", 65536), ("packet", 65536), ("loggps", 65536),
                               ("packet", 2**40)):
        time = predicted(foretrace, folder, network, threshold)
        cells.append(f"{1e3 * time:.0f} ({100 * (time / middle - 1):+.0f} %)")
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rate", default="100mbit")
    options = parser.parse_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    testbed = [SOURCE / "tools/testbed", "--name", "bench"]
    print("| hosts, pattern, bytes | measured, ms | least to most | flow | packet | loggps | packet, "
          "no rendezvous |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        output("mpicc.openmpi", "-O1", pathlib.Path(__file__).with_name("pattern.c"), "-o",
               pathlib.Path(folder, "pattern"))
        output(*testbed, "up", "--hosts", 4, "--rate", options.rate)
        try:
            pathlib.Path(folder, "net.toml").write_text(output(*testbed, "topology"))
            for hosts in (2, 4):
                for pattern in ("ring", "halo", "allreduce"):
                    for size in (100_000, 1_000_000):
                        row(options, folder, hosts, pattern, size)
        finally:
            output(*testbed, "down")


if __name__ == "__main__":
    main()
