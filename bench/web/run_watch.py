"""What watching costs a program: wall time of one that sends much, recorded and watched in turns.

    run_watch.py FORETRACE PROGRAM [-n RANKS] [--rounds N] [ARGUMENTS...]

PROGRAM: any MPI program of some seconds, as build/programs/openmpi/life. Prints the median of
the pairs' ratios, and each pair. Wall times: run it on an idle machine.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("foretrace")
    parser.add_argument("program")
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options, arguments = parser.parse_known_args()
    tool, program = (str(pathlib.Path(path).resolve()) for path in (options.foretrace, options.program))
    with tempfile.TemporaryDirectory() as folder:
        def run(*words):
            began = time.monotonic()
            subprocess.run([tool, *words, "-n", str(options.n), "-o", "x.ftr", "--", program, *arguments],
                           cwd=folder, check=True, capture_output=True, timeout=600)
            return time.monotonic() - began

        ratios = []
        for _ in range(options.rounds):
            recorded = run("record", "--clock", "wall")
            watched = run("watch")
            ratios.append(watched / recorded)
            print(f"recorded {recorded:.2f} s, watched {watched:.2f} s, {watched / recorded:.3f}")
        print(f"median of the ratios {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
