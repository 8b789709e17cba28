#!/usr/bin/env python3
"""Generates the frame of the live MPI library (src/mpi) from mpi.h.

    generate_live.py --header MPI_PREPROCESSED [--omit REGEX] --output DIR

MPI_PREPROCESSED is mpi.h as the compiler's preprocessor leaves it (-E -P). Writes

    DIR/live_functions.inc.hpp   enum class Fn, one enumerator for every function
    DIR/live_names.inc           their names, in the same order
    DIR/live_functions.txt       "MPI_X X" for every function: what has to be implemented
                                 for it; "MPI_X_c X_c X" where either will do
    DIR/live_impl.hpp            declarations of impl::X, what stands behind MPI_X
    DIR/live_entries.cpp         PMPI_X, which calls impl::X, and its alias MPI_X
    DIR/live_stubs.cpp           weak impl::X for all X: those that nobody implements
                                 end the run; large-count ones call their int form

A function is one if mpi.h declares both MPI_X and PMPI_X; --omit takes out what
the MPI's own C library does not hold. MPIX_X becomes impl::X_X.
"""

import argparse
import pathlib
import re
import sys

from generate import argument_list, parse_header

LARGE_SCALARS = ("MPI_Count @", "MPI_Aint @")
SMALL_SCALARS = ("int @", "MPI_Aint @")
POINTERS = {"int *@": "int", "MPI_Aint *@": "MPI_Aint"}
ARRAYS = {"const int @[]": "int", "const MPI_Aint @[]": "MPI_Aint"}


def impl_name(name):
    return "X_" + name[5:] if name.startswith("MPIX_") else name[4:]


def signature(function):
    return function.signature(function.names)


def array_length(function, name):
    """How many elements a collective's array has, as an expression; None if unknown."""
    sending = name in ("sendcounts", "sdispls")
    if "eighbor" in function.name:
        return f"abi::{'destinations' if sending else 'sources'}_of(comm)"
    if "Reduce_scatter" in function.name or "reduce_scatter" in function.name:
        return "abi::members_of(comm)"
    if "root" in function.names:
        return "abi::partners_at_root_of(comm, root)"
    if "all" in function.name.lower():
        length = "abi::partners_of(comm)"
        return f"sendbuf == MPI_IN_PLACE ? 0 : {length}" if sending else length
    return None


class Conversion:
    """The body of a large-count function: a call of its int form."""

    def __init__(self):
        self.before = []
        self.after = []
        self.arguments = []
        self.problem = None

    def add_parameter(self, large, small, position):
        wide, narrow, name = large.types[position], small.types[position], large.names[position]
        where = f'"{large.name}", "{name}"'
        if wide == narrow:
            self.arguments.append(name)
        elif wide in LARGE_SCALARS and narrow in SMALL_SCALARS:
            following = large.types[position + 1] if position + 1 < len(large.types) else ""
            # A reduction combines basic types only, not a contiguous one.
            reduction = "op" in large.names and "target_datatype" not in large.names
            if following.startswith("MPI_Datatype @") and not following.endswith("[]") and not reduction:
                self.before.append(f"const abi::Counted counted_{name}({name}, {large.names[position + 1]});")
                self.arguments.append(f"counted_{name}.count")
            else:
                self.arguments.append(f"abi::narrow<{narrow[:-2]}>({where}, {name})")
        elif wide.endswith(" *@") and narrow in POINTERS:
            # In and out (a position) or out alone.
            start = f"abi::narrow<{POINTERS[narrow]}>({where}, *{name})" if name == "position" else "0"
            self.before.append(f"{POINTERS[narrow]} small_{name} = {start};")
            self.arguments.append(f"&small_{name}")
            self.after.append(f"*{name} = small_{name};")
        elif narrow in ARRAYS and array_length(small, name):
            self.before.append(f"const abi::Narrowed<{ARRAYS[narrow]}> narrowed_{name}"
                               f"({where}, {name}, {array_length(small, name)});")
            self.arguments.append(f"narrowed_{name}.data()")
        else:
            self.problem = f"{name}: {wide} for {narrow}"


def large_count_body(large, small):
    """None where the int form cannot stand in."""
    if large.names != small.names:
        return None
    conversion = Conversion()
    for position in range(len(large.names)):
        conversion.add_parameter(large, small, position)
    if conversion.problem:
        return None
    arguments = list(conversion.arguments)
    for position, argument in enumerate(conversion.arguments):
        if argument.startswith("counted_"):
            arguments[position + 1] = argument.replace(".count", ".type")
    lines = list(conversion.before)
    call = f"{impl_name(small.name)}({', '.join(arguments)})"
    if conversion.after:
        lines.append(f"const int result = {call};")
        lines.append("if (result == MPI_SUCCESS) {")
        lines.extend("  " + line for line in conversion.after)
        lines.append("}")
        lines.append("return result;")
    else:
        lines.append(f"return {call};")
    return lines


def stub(function, by_name):
    lines = None
    if function.name.endswith("_c") and function.name[:-2] in by_name:
        lines = large_count_body(function, by_name[function.name[:-2]])
    if lines is None:
        names = [n for n in function.names if n not in ("void", "...")]
        lines = [f"static_cast<void>({n});" for n in names] + [f'missing("{function.name}");']
    body = "".join(f"  {line}\n" for line in lines)
    return f"FORETRACE_WEAK {function.result} {impl_name(function.name)}({signature(function)}) {{\n{body}}}\n"


def implementations(function, by_name):
    """The impl functions one of which has to be there for this one to work."""
    names = [impl_name(function.name)]
    small = by_name.get(function.name[:-2]) if function.name.endswith("_c") else None
    if small and large_count_body(function, small):
        names.append(impl_name(small.name))
    return names


def functions_list(functions):
    by_name = {f.name: f for f in functions}
    return "".join(f"{f.name} {' '.join(implementations(f, by_name))}\n" for f in functions)


def results(function):
    """The parameters that are places for one handle or number each, which no call can do without."""
    numbers = ("size", "rank", "flag", "result", "resultlen")
    handles = re.compile(r"MPI_(Comm|Group|Datatype|Op|Request|Info|Win|File|Errhandler|Message|Session) \*@$")
    return [name for kind, name in zip(function.types, function.names)
            if handles.match(kind) or (kind == "int *@" and name in numbers)]


def null_checks(function):
    if function.result != "int" or function.name.startswith("MPI_T_"):
        return ""
    return "".join(f'  if (!{name}) return raise(static_cast<Comm*>(nullptr), MPI_ERR_ARG, "{name} is a null pointer");\n'
                   for name in results(function))


def entry(function):
    return (f'extern "C" FORETRACE_EXPORT {function.result} P{function.name}({signature(function)}) {{\n'
            f"  Entry entry(Fn::{function.name});\n{null_checks(function)}"
            f"  return impl::{impl_name(function.name)}({argument_list(function.names)});\n}}\n"
            f'extern "C" FORETRACE_EXPORT {function.result} {function.name}({signature(function)})\n'
            f'    __attribute__((weak, alias("P{function.name}")));\n')


def functions_header(functions):
    names = "".join(f"  {f.name},\n" for f in functions)
    return ("// Generated by generate_live.py from mpi.h.\n#pragma once\n\n#include <cstdint>\n\n"
            f"namespace foretrace::mpi {{\n\nenum class Fn : std::uint16_t {{\n{names}}};\n"
            f"inline constexpr int kFunctions = {len(functions)};\n\n}}  // namespace foretrace::mpi\n")


def impl_header(functions):
    lines = "".join(f"{f.result} {impl_name(f.name)}({signature(f)});\n" for f in functions)
    return ("// Generated by generate_live.py from mpi.h: what stands behind MPI_X.\n#pragma once\n\n"
            "#include <mpi.h>\n\nnamespace foretrace::mpi::impl {\n\n"
            f"{lines}\n}}  // namespace foretrace::mpi::impl\n")


def entries_source(functions):
    return ('#include <mpi.h>\n\n#include "mpi/core/error.hpp"\n#include "mpi/core/function.hpp"\n'
            '#include "live_impl.hpp"\n\n'
            '#define FORETRACE_EXPORT __attribute__((visibility("default")))\n\n'
            "using namespace foretrace::mpi;\n\n" + "\n".join(entry(f) for f in functions))


def stubs_source(functions):
    by_name = {f.name: f for f in functions}
    return ('#include "mpi/abi/large_count.hpp"\n#include "mpi/core/error.hpp"\n#include "live_impl.hpp"\n\n'
            "#define FORETRACE_WEAK __attribute__((weak))\n\n"
            "namespace foretrace::mpi::impl {\n\n" + "\n".join(stub(f, by_name) for f in functions) +
            "\n}  // namespace foretrace::mpi::impl\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--header", required=True, type=pathlib.Path)
    parser.add_argument("--omit", default="(?!)")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    functions = [f for f in parse_header(arguments.header.read_text()) if not re.search(arguments.omit, f.name)]
    functions.sort(key=lambda f: f.name)
    if not functions:
        sys.exit(f"{arguments.header}: no MPI functions found; is it a preprocessed mpi.h?")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in (("live_functions.inc.hpp", functions_header(functions)),
                       ("live_names.inc", "".join(f'"{f.name}",\n' for f in functions)),
                       ("live_functions.txt", functions_list(functions)),
                       ("live_impl.hpp", impl_header(functions)),
                       ("live_entries.cpp", entries_source(functions)),
                       ("live_stubs.cpp", stubs_source(functions))):
        (arguments.output / name).write_text(text)


if __name__ == "__main__":
    main()
