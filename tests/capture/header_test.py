#!/usr/bin/env python3
"""header_test.py INCLUDE_DIR CC CXX: the annotations in programs of every standard and language.

Compiles one program as C99, C11, C++11 and C++20 with all warnings as errors,
with and without FORETRACE_DISABLE, in two translation units, and runs it: alone
the annotations do nothing; with hooks in the program they are called. Then the
same for foretrace.hpp, foretrace_compat.h and the Fortran module.
"""

import itertools
import pathlib
import shutil
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
  FORETRACE_MARK("sorted");
  FORETRACE_MARK_VALUE("items", items);
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

# What the capture library does for the macros; prints each call. An older
# library's table is shorter.
HOOKS = r"""
#include <stddef.h>
#include <stdio.h>
#include "foretrace.h"
static void compute(double steps) { printf("compute %g\n", steps); }
static void begin(const char *name) { printf("begin %s\n", name); }
static void end(const char *name) { printf("end %s\n", name); }
static void mark(const char *name, double value) { printf("mark %s %g\n", name, value); }
static const struct foretrace_hooks table = {
#ifdef OLD
  .size = offsetof(struct foretrace_hooks, mark),
#else
  .size = sizeof table,
#endif
  .compute = compute, .phase_begin = begin, .phase_end = end, .mark = mark};
const struct foretrace_hooks *foretrace_get_hook_table(void) { return &table; }
"""

MARKS = "mark sorted 0\nmark items 3\n"
CALLED = f"compute 10\ncompute 3\nbegin sort\ncompute 0.5\n{MARKS}end sort\n"

BLOCKS = r"""
#include "foretrace.hpp"
static int early(bool leave) {
  const foretrace::Phase outer("outer");
  if (leave) return 1;
  const foretrace::Phase inner("inner");
  FORETRACE_COMPUTE(1);
  return 0;
}
int main() { return early(true) + early(false) - 1; }
"""
BLOCKS_CALLED = "begin outer\nend outer\nbegin outer\nbegin inner\ncompute 1\nend inner\nend outer\n"

COMPAT = r"""
#include "foretrace_compat.h"
extern void other(int start, int end, int solo);
static double now(void) { return 1.5; }
static void image(void) {
  int k;
  for (k = 0; k < 2; k++) {
    PRGN_BEGIN;
    FORETRACE_COMPUTE(k);
    PRGN_END;
  }
}
int main(void) {
  int start, end, solo;
  time_set(now());
  time_mark("input");
  time_mark("output");
  time_total(now());
  time_trace("test");
  image();
  MPE_Init_log();
  MPE_Log_get_state_eventIDs(&start, &end);
  MPE_Log_get_solo_eventID(&solo);
  MPE_Describe_state(start, end, "bcast", "red");
  MPE_Describe_event(solo, "found", "blue");
  other(start, end, solo);
  MPE_Finish_log("log");
  return 0;
}
"""
COMPAT_OTHER = r"""
#include "foretrace_compat.h"
extern void other(int start, int end, int solo);
void other(int start, int end, int solo) {
  MPE_Log_event(start, 0, NULL);
  MPE_Log_event(solo, 7, "seven");
  MPE_Log_event(end, 0, "text");
  MPE_Log_event(-1, 0, NULL);
  MPE_Log_event(FORETRACE_MPE_EVENTS, 0, NULL);
  MPE_Log_event(FORETRACE_MPE_EVENTS - 1, 0, NULL); /* never described */
}
"""
COMPAT_CALLED = ("begin \nend input\nbegin \nend output\nbegin \nend \nmark test 0\n"
                 "begin image\ncompute 0\nend image\nbegin image\ncompute 1\nend image\n"
                 "begin bcast\nmark found 7\nend bcast\n")

FORTRAN = r"""
program annotated
  use foretrace
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  character(len=10) :: name = "solve"
  call foretrace_phase_begin(name)
  call foretrace_compute(3_int32)
  call foretrace_compute(4000000000_int64)
  call foretrace_compute(0.5_real32)
  call foretrace_compute(0.25_real64)
  call foretrace_mark("here")
  call foretrace_mark("a b ", 1_int32)
  call foretrace_mark("c", 2_int64)
  call foretrace_mark("d", 2.5_real32)
  call foretrace_mark("e", 1e-9_real64)
  call foretrace_phase_end("solve")
end program annotated
"""
FORTRAN_CALLED = ("begin solve\ncompute 3\ncompute 4e+09\ncompute 0.5\ncompute 0.25\nmark here 0\nmark a b 1\n"
                  "mark c 2\nmark d 2.5\nmark e 1e-09\nend solve\n")

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0 or result.stderr:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def check(what, folder, expected):
    """The program alone says nothing, and with the hooks calls them all."""
    program = folder / "program"
    alone = run(program)
    if alone != "":
        sys.exit(f"{what}: without the library: {alone}")
    hooked = run("env", f"LD_PRELOAD={folder / 'libhooks.so'}", program)
    if hooked != expected:
        sys.exit(f"{what}: with hooks: {hooked}")


def check_header(folder, include, cc, cxx):
    standards = [(cc, "c", "c99"), (cc, "c", "c11"), (cxx, "cpp", "c++11"), (cxx, "cpp", "c++20")]
    for (compiler, ending, standard), disabled in itertools.product(standards, (False, True)):
        for file, text in (("main", MAIN), ("other", OTHER)):
            (folder / f"{file}.{ending}").write_text(text)
        define = ["-DFORETRACE_DISABLE"] if disabled else []
        run(compiler, f"-std={standard}", "-O1", *WARNINGS, *define, include, folder / f"main.{ending}",
            folder / f"other.{ending}", "-o", folder / "program")
        check(f"{standard}, disabled={disabled}", folder, "" if disabled else CALLED)
        if not disabled:
            old = run("env", f"LD_PRELOAD={folder / 'libold.so'}", folder / "program")
            if old != CALLED.replace(MARKS, ""):
                sys.exit(f"{standard}: with hooks of an older library: {old}")


def check_blocks(folder, include, cxx):
    (folder / "blocks.cpp").write_text(BLOCKS)
    for standard in ("c++11", "c++20"):
        run(cxx, f"-std={standard}", *WARNINGS, include, folder / "blocks.cpp", "-o", folder / "program")
        check(f"foretrace.hpp, {standard}", folder, BLOCKS_CALLED)


def check_compat(folder, include, cc, cxx):
    for compiler, ending, standard in [(cc, "c", "c99"), (cc, "c", "c11"), (cxx, "cpp", "c++11"),
                                       (cxx, "cpp", "c++20")]:
        (folder / f"compat.{ending}").write_text(COMPAT)
        (folder / f"compat_other.{ending}").write_text(COMPAT_OTHER)
        run(compiler, f"-std={standard}", *WARNINGS, include, folder / f"compat.{ending}",
            folder / f"compat_other.{ending}", "-o", folder / "program")
        check(f"foretrace_compat.h, {standard}", folder, COMPAT_CALLED)


def check_fortran(folder, directory):
    compiler = shutil.which("gfortran")
    if not compiler:
        print("no gfortran: the Fortran module is not tested")
        return
    (folder / "annotated.f90").write_text(FORTRAN)
    for options in (["-std=f2008"], ["-O2", "-fdefault-real-8", "-fdefault-integer-8"]):
        run(compiler, "-Wall", "-Wextra", "-Werror", *options, f"-J{folder}", directory / "foretrace.f90",
            folder / "annotated.f90", "-o", folder / "program")
        check(f"foretrace.f90, {options[-1]}", folder, FORTRAN_CALLED)


def main():
    directory, cc, cxx = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    include = f"-I{directory}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "hooks.c").write_text(HOOKS)
        run(cc, "-shared", "-fPIC", include, "-o", folder / "libhooks.so", folder / "hooks.c")
        run(cc, "-shared", "-fPIC", "-DOLD", include, "-o", folder / "libold.so", folder / "hooks.c")
        check_header(folder, include, cc, cxx)
        check_blocks(folder, include, cxx)
        check_compat(folder, include, cc, cxx)
        check_fortran(folder, directory)


if __name__ == "__main__":
    main()
