#!/usr/bin/env python3
"""coverage_test.py LIBFORETRACE MPICC TABLE: every MPI function has its wrapper.

What there is to wrap is found without the generator: MPI_X is a function of the
MPI if its library exports both MPI_X and PMPI_X, and a program that refers to it
compiles. (A library also exports what its header no longer offers.) Nothing but
wrappers and foretrace_get_hook_table may leave libforetrace: any other name could
take the place of the program's own. Nor may it bring other libraries than the
MPI and the C library: a second C++ run-time cannot catch what the first throws.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def symbols(library, *options):
    lines = run("nm", "-D", *options, library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def mpi_library(library):
    for line in run("ldd", library).splitlines():
        match = re.match(r"\s*libmpi(?:ch)?\.so\S* => (\S+)", line)
        if match:
            return match.group(1)
    sys.exit(f"{library} is not linked with an MPI")


def compiles(mpicc, names):
    """Which of the names a C program can use as functions."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "use.c")
        lines = ["#include <mpi.h>"] + [f"void *use_{name}(void) {{ return (void *){name}; }}" for name in names]
        source.write_text("\n".join(lines) + "\n")
        result = subprocess.run([mpicc, "-fsyntax-only", "-fmax-errors=0", "-Wno-deprecated-declarations", source],
                                capture_output=True, text=True)
        bad = {int(n) for n in re.findall(r"use\.c:(\d+):\d+: error", result.stderr)}
        return {name for line, name in enumerate(names, 2) if line not in bad}


# What programs ask us for (include/foretrace.h, src/blocks), and the functions that we stand in for.
OURS = {"foretrace_get_hook_table", "foretrace_count_blocks"} | {
    line for line in (pathlib.Path(__file__).resolve().parents[2] / "src/base/stand_ins.txt").read_text().splitlines() if line[0] != "#"}


def main():
    library, mpicc, table = sys.argv[1:]
    mpi = mpi_library(library)
    offered = symbols(mpi, "--defined-only")
    functions = sorted(name for name in offered if re.match(r"MPIX?_", name) and "P" + name in offered)
    usable = compiles(mpicc, functions)
    exported = symbols(library, "--defined-only")
    faults = []
    if len(usable) < 300:
        faults.append(f"only {len(usable)} functions found in {mpi}: this test has gone blind")
    for name in sorted(usable - exported):
        faults.append(f"{name} has no wrapper")
    for name in sorted(exported):
        if not re.match(r"MPIX?_[A-Za-z0-9_]+$", name) and name not in OURS:
            faults.append(f"exports {name}, which is no MPI function")
    if "foretrace_get_hook_table" not in exported:
        faults.append("does not export foretrace_get_hook_table")
    for name in sorted(re.findall(r"^(MPI_\w+)", pathlib.Path(table).read_text(), re.M)):
        if name in usable and name not in exported:
            faults.append(f"{name} is in the table and has no wrapper")
    # All symbols must be there at start: LD_BIND_NOW=1 is in use at some sites. libgcc_s unwinds the program's
    # stack, and must be the one by which the program does; every system with a C++ compiler has it.
    sanitized = "libasan" in run("ldd", library)
    if not sanitized:
        for needed in re.findall(r"NEEDED\)\s+Shared library: \[([^\]]+)\]", run("readelf", "-d", library)):
            if not re.match(r"(libmpi|libmpich|libc|libm|libdl|libpthread|libgcc_s|ld-linux[-\w]*)\.so", needed):
                faults.append(f"needs {needed}, which the program may not have or may have in another version")
        environment = dict(os.environ, LD_PRELOAD=library, LD_BIND_NOW="1")
        result = subprocess.run(["/bin/true"], env=environment, capture_output=True, text=True)
        if result.returncode != 0:
            faults.append(f"cannot be loaded with LD_BIND_NOW=1: {result.stderr.strip()}")
    if faults:
        sys.exit(f"{library}:\n  " + "\n  ".join(faults))
    print(f"{len(usable)} functions of {mpi}, all wrapped")


if __name__ == "__main__":
    main()
