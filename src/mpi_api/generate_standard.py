#!/usr/bin/env python3
"""Generates mpi.h of MPI's standard ABI.

    generate_standard.py --frame mpi.h.in --functions functions.txt --output mpi.h

Puts a declaration of MPI_X and PMPI_X for every line of functions.txt, and of their large-count
forms, into the place of @FUNCTIONS@ in the frame.
"""

import argparse
import pathlib
import re
import sys
import textwrap

# In MPI_X, and in MPI_X_c.
TYPES = {"COUNT": ("int", "MPI_Count"), "DISPLACEMENT": ("int", "MPI_Aint"), "EXTENT": ("MPI_Aint", "MPI_Count")}
PROTOTYPE = r"(int|double|MPI_\w+) MPI_\w+\((void|[^()]+)\)"


def with_types(line, form):
    return re.sub(rf"\b({'|'.join(TYPES)})\b", lambda word: TYPES[word[1]][form], line)


def prototypes(text, path):
    result = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        if not re.fullmatch(PROTOTYPE, line):
            sys.exit(f"{path}:{number}: expected TYPE MPI_NAME(PARAMETERS), found: {line}")
        result.append(with_types(line, 0))
        if result[-1] != line:
            result.append(with_types(line, 1).replace("(", "_c(", 1))
    return result


def declaration(prototype):
    return textwrap.fill(prototype + ";", width=105, subsequent_indent="    ", break_long_words=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frame", required=True, type=pathlib.Path)
    parser.add_argument("--functions", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    functions = prototypes(arguments.functions.read_text(), arguments.functions)
    profiled = [re.sub(r" (MPI_\w+\()", r" P\1", prototype, count=1) for prototype in functions]
    lines = "".join(declaration(prototype) + "\n" for prototype in functions + profiled)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(arguments.frame.read_text().replace("@FUNCTIONS@\n", lines))


if __name__ == "__main__":
    main()
