#!/usr/bin/env python3
"""Lists which MPI functions the live library implements.

    list_live.py --functions live_functions.txt --output FILE OBJECT ...

live_functions.txt is generate_live.py's. Writes a line "MPI_X yes" or "MPI_X no"
for every function: "yes" if impl::X is defined, strongly, in one of the objects
(the generated stubs are weak), or X is a large-count function of one that is.
"""

import argparse
import pathlib
import re
import subprocess


def strong_functions(objects):
    """Names X of all impl::X that the objects define and that are not weak."""
    output = subprocess.run(["nm", "-C", "--defined-only", *objects], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r" T foretrace::mpi::impl::(\w+)\(", output))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functions", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    strong = strong_functions(arguments.objects)
    lines = []
    for line in arguments.functions.read_text().splitlines():
        name, *implementations = line.split()
        lines.append(f"{name} {'yes' if strong & set(implementations) else 'no'}\n")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text("".join(lines))


if __name__ == "__main__":
    main()
