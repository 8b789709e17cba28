#!/usr/bin/env python3
"""What `foretrace measure` says of pingpong and allreduce, beside plain loops that run in turn with it.

    compare_loops.py BUILD_DIR [--mpi MPI] [--launches N] [--measure WORDS]

Before each of measure's launches, and after the last, bench_fresh times both functions: pingpong as a loop in which one
repetition follows the other, allreduce from a common start to the last rank's end. Prints both times for each size, and
where NetPIPE is installed what that says, up to 4 KiB (from there on its messages, which nobody writes between, lie in
the receiver's cache). Status 1 if a function's median difference is above 3 %.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import statistics
import sys
import tempfile

from launches import Launch, Samples, busy_core, launcher, middles, percent, run

BAR = 0.03
# Powers of four are in every grid of measure's; from 16 B on the clock's own step is below the bar.
SIZES = [4 ** k for k in range(2, 12)]
LOOPS = {"pingpong": "none", "allreduce": "rounds"}


def loops(program, folder, words):
    """One launch for each function, kept in a file of its own."""
    for function, start in LOOPS.items():
        number = len(list(folder.glob(f"{function}.*")))
        points = [f"{function}:{size}" for size in SIZES]
        (folder / f"{function}.{number}").write_text(run([*words, program, 5, number, start, "warm", *points]))


def beside(program, folder, *command):
    """In the launcher's place: the loops, and then the launcher with measure's program."""
    # The launcher's own words end where the program's path begins.
    program_at = next(i for i, word in enumerate(command) if "foretrace-measure-" in word)
    loops(program, pathlib.Path(folder), command[:program_at])
    os.execvp(command[0], command)


NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}


def netpipe(mpi, folder):
    """bytes -> seconds there and back; nothing where it is not installed."""
    program = shutil.which(NETPIPE[mpi])
    if not program:
        return {}
    output = folder / "netpipe"
    run([*launcher(mpi), program, "-u", 4200, "-n", 2000, "-o", output])
    rows = (line.split() for line in output.read_text().splitlines())
    # The second column, in 2^20 bits per second, has more digits than the time.
    return {int(size): 2 * 8 * int(size) / (float(rate) * 2 ** 20) for size, rate, _ in rows}


def compare(arguments, mpi, scratch):
    program = arguments.build / "programs" / mpi / "bench_fresh"
    folder = scratch / mpi
    folder.mkdir()
    model = scratch / f"{mpi}.toml"
    inner = " ".join(map(str, [sys.executable, pathlib.Path(__file__).resolve(), "--beside", program.resolve(), folder,
                               *launcher(mpi)]))
    run([arguments.build / "bin" / "foretrace", "measure", "-n", "2", "--mpi", mpi, *shlex.split(arguments.measure),
         "--launches", arguments.launches, "--launch", inner, "-o", model], 1800)
    loops(program, folder, launcher(mpi))
    plain = {}
    for function in LOOPS:
        plain |= middles([Launch(path.read_text()) for path in folder.glob(f"{function}.*")])
    peer = netpipe(mpi, folder)
    measured = Samples(model.with_suffix(".samples.csv")).middles()
    apart = {}
    for point in sorted(set(plain) & set(measured)):
        function, size = point
        apart.setdefault(function, []).append(measured[point] / plain[point] - 1)
        print(f"{mpi:8} {function:10} {size:8} loop {1e6 * plain[point]:10.3f} us  measure "
              f"{1e6 * measured[point]:10.3f} us  {100 * apart[function][-1]:+.1f} %"
              + (f"  NetPIPE {1e6 * peer[size]:.3f} us" if function == "pingpong" and size in peer else ""))
    missed = 0
    for function in LOOPS:
        differences = [abs(d) for d in apart.get(function, [])]
        if len(differences) < len(SIZES) // 2:
            raise SystemExit(f"{mpi}: {function}: too few sizes were measured undisturbed; try on a quiet machine")
        middle = statistics.median(differences)
        missed += middle > BAR
        print(f"{mpi:8} {function:10} median {percent(middle)}, largest {percent(max(differences))}, "
              f"{sum(d <= BAR for d in differences)} of {len(differences)} sizes within {percent(BAR)}")
    return missed


def main():
    if sys.argv[1:2] == ["--beside"]:
        beside(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), action="append")
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--measure", default="--quick", metavar="WORDS", help="more words for foretrace measure")
    parser.add_argument("--load", action="store_true", help="another process keeps one core busy all the time")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, busy_core(arguments.load):
        missed = sum(compare(arguments, mpi, pathlib.Path(scratch)) for mpi in arguments.mpi or ("openmpi", "mpich"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
