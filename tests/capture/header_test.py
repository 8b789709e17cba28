#!/usr/bin/env python3
"""header_test.py FORETRACE_H CC CXX: foretrace.h in programs of every standard.

Compiles one program as C99, C11, C++11 and C++20 with all warnings as errors,
with and without FORETRACE_DISABLE, in two translation units, and runs it: alone
the annotations do nothing; with hooks in the program they are called.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

MAIN = r"""
#include "foretrace.h"
#include "foretrace.h"

extern int other(void);

int main(void) {
  const int items = 3; /* used by the annotation alone */
  if (other() != 2)
    FORETRACE_COMPUTE(1);
  else
    FORETRACE_COMPUTE(items);
  FORETRACE_PHASE_BEGIN("sort");
  FORETRACE_COMPUTE(0.5);
  FORETRACE_PHASE_END("sort");
  return 0;
}
"""

OTHER = r"""
#include "foretrace.h"

extern int other(void);

int other(void) {
  FORETRACE_COMPUTE(10);
  return 2;
}
"""

# What the capture library does for the macros; prints each call.
HOOKS = r"""
#include <stdio.h>
struct hooks { void (*compute)(double); void (*begin)(const char *); void (*end)(const char *); };
static void compute(double steps) { printf("compute %g\n", steps); }
static void begin(const char *name) { printf("begin %s\n", name); }
static void end(const char *name) { printf("end %s\n", name); }
static const struct hooks table = {compute, begin, end};
const struct hooks *foretrace_get_hooks(void) { return &table; }
"""

CALLED = "compute 10\ncompute 3\nbegin sort\ncompute 0.5\nend sort\n"


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0 or result.stderr:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    header, cc, cxx = sys.argv[1:]
    include = f"-I{pathlib.Path(header).parent}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "hooks.c").write_text(HOOKS)
        run(cc, "-shared", "-fPIC", "-o", folder / "libhooks.so", folder / "hooks.c")
        standards = [(cc, "c", "c99"), (cc, "c", "c11"), (cxx, "cpp", "c++11"), (cxx, "cpp", "c++20")]
        for (compiler, ending, standard), disabled in itertools.product(standards, (False, True)):
            for file, text in (("main", MAIN), ("other", OTHER)):
                (folder / f"{file}.{ending}").write_text(text)
            define = ["-DFORETRACE_DISABLE"] if disabled else []
            program = folder / "program"
            run(compiler, f"-std={standard}", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *define, include,
                folder / f"main.{ending}", folder / f"other.{ending}", "-o", program)
            alone = run(program)
            with_hooks = run("env", f"LD_PRELOAD={folder / 'libhooks.so'}", program)
            if alone != "":
                sys.exit(f"{standard}: without the library: {alone}")
            if with_hooks != ("" if disabled else CALLED):
                sys.exit(f"{standard}, disabled={disabled}: with hooks: {with_hooks}")


if __name__ == "__main__":
    main()
