#!/usr/bin/env python3
"""structure_test.py SOURCE_DIR: the rules that hold for the source tree.

Who may include whom, who may see an MPI header, what every header opens with,
how long a file may get. docs/architecture.md gives the reasons.
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])
SOURCES = (".hpp", ".cpp", ".h", ".c")

# part -> the parts that its files may include, besides its own and base.
# measure/measure.hpp is what the command line and the MPI program agree on.
MAY_USE = {
    "base": set(),
    "stats": set(),
    "symbols": set(),
    "machine": {"mpi_api", "stats"},
    "trace": {"machine"},
    "compute": {"machine", "mpi_api", "trace"},
    "blocks": set(),
    "mpi_api": set(),
    "sim": {"compute", "machine", "trace"},
    "analysis": {"machine", "mpi_api", "trace", "stats"},
    "explain": {"machine", "sim", "trace"},
    "views": {"analysis", "explain", "machine", "trace"},
    "callers": {"trace"},
    "capture": {"callers", "compute", "machine", "mpi_api", "trace"},
    "live": {"callers", "compute", "machine", "mpi_api", "sim", "symbols", "trace"},
    "measure": {"machine", "stats"},
    "foreign": {"machine", "measure", "stats"},
    "wrap": {"mpi_api"},
    "cli": {"stats", "machine", "compute", "trace", "sim", "explain", "analysis", "views", "mpi_api",
            "foreign", "symbols", "wrap"},
}
# Files of a part that others may include although the part is closed to them.
OPEN_FILES = {"cli": {"measure/functions.hpp", "measure/measure.hpp", "live/live_source.hpp", "live/processes.hpp"}}

# Parts that talk to MPI; and within them what stays free of it.
SEES_MPI = {"capture", "measure", "live", "mpi_api"}
FREE_OF_MPI = {
    "capture": {"computation", "core_set", "fortran", "fortran_requests", "handle_map", "idle_polls",
                "imports", "settings", "shared_table", "turn_lock", "wrap_support"},
    "live": {"context", "heap", "inbox", "live_source", "processes", "seed", "shared_memory", "site_list"},
    "measure": {"bisection", "buffer_pool", "campaign", "clock_model", "fit", "fit_function", "fit_loggps",
                "fit_terms", "functions", "kernel_levels", "launch_states", "measure", "options", "patterns",
                "precision", "progress", "regimes", "samples"},
}
# Third-party headers, by the only part that uses them.
THIRD_PARTY = {"CLI/": {"cli"}, "toml++/": {"machine", "cli"}, "fmt/": {"views"}, "Eigen/": {"stats"},
               "boost/": {"stats"}, "elfutils/": {"symbols"}, "zlib.h": {"foreign"},
               "expat.h": {"foreign"}, "histedit.h": {"cli"}}

MOST_LINES = 600


def files(*folders, endings=SOURCES):
    for folder in folders:
        base = ROOT / folder
        if base.is_dir():
            yield from sorted(p for p in base.rglob("*") if p.suffix in endings and "node_modules" not in p.parts)


def includes(path):
    """(line, text between the brackets or quotes)."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1)


def place(path, number=None):
    return f"{path.relative_to(ROOT)}" + (f":{number}" if number else "")


class Structure(unittest.TestCase):
    def refuse(self, faults):
        if faults:
            self.fail("\n  " + "\n  ".join(faults))

    def parts(self):
        return sorted(p.name for p in (ROOT / "src").iterdir() if p.is_dir())

    def test_every_part_has_its_rule(self):
        self.refuse([f"src/{part} is not in MAY_USE" for part in self.parts() if part not in MAY_USE])
        self.assertGreater(len(list(files("src"))), 100, "this test has gone blind")

    def test_include_directions(self):
        faults = []
        for part in self.parts():
            allowed = MAY_USE.get(part, set()) | {part, "base"}
            for path in files(f"src/{part}"):
                for number, text in includes(path):
                    other = text.split("/")[0]
                    if "/" in text and other in MAY_USE and other not in allowed \
                            and text not in OPEN_FILES.get(part, set()):
                        faults.append(f"{place(path, number)}: {part} may not use {other} ({text})")
        self.refuse(faults)

    def test_rules_have_no_circle(self):
        order = {}

        def depth(part, above):
            self.assertNotIn(part, above, f"{' -> '.join(above)} -> {part}")
            if part not in order:
                order[part] = 1 + max((depth(p, above + [part]) for p in MAY_USE[part]), default=0)
            return order[part]

        for part in MAY_USE:
            depth(part, [])

    def test_nothing_uses_the_command_line(self):
        self.refuse([f"{place(path, number)}: includes {text}"
                     for part in self.parts() if part != "cli" for path in files(f"src/{part}")
                     for number, text in includes(path) if text.startswith("cli/")])

    def test_includes_name_the_part(self):
        """#include "part/file.hpp", also within a part; generated .inc files have no part."""
        self.refuse([f"{place(path, number)}: {text} lacks its part"
                     for path in files("src") for number, text in includes(path)
                     if (path.parent / text).exists() and "/" not in text])

    def test_included_files_exist(self):
        self.refuse([f"{place(path, number)}: src/{text} does not exist"
                     for path in files("src") for number, text in includes(path)
                     if text.split("/")[0] in MAY_USE and "/" in text and not (ROOT / "src" / text).exists()])

    def test_only_some_see_mpi(self):
        self.refuse([f"{place(path, number)}: {part} must not see MPI"
                     for part in self.parts() if part not in SEES_MPI for path in files(f"src/{part}")
                     for number, text in includes(path) if text == "mpi.h"])

    def test_cores_are_free_of_mpi(self):
        """Also through the headers that they include."""
        faults = []
        for part, stems in FREE_OF_MPI.items():
            for path in files(f"src/{part}"):
                if path.stem in stems:
                    faults += [f"{place(path)}: sees mpi.h by {by}" for by in self.reaches_mpi(path)]
        self.refuse(faults)

    def reaches_mpi(self, path):
        todo, seen, found = [path], set(), []
        while todo:
            current = todo.pop()
            if current in seen:
                continue
            seen.add(current)
            for _, text in includes(current):
                if text == "mpi.h":
                    found.append(place(current))
                elif (ROOT / "src" / text).is_file():
                    todo.append(ROOT / "src" / text)
        return found

    def test_third_party_libraries_stay_in_one_part(self):
        self.refuse([f"{place(path, number)}: {text} belongs to {' and '.join(sorted(parts))}"
                     for path in files("src") for number, text in includes(path)
                     for prefix, parts in THIRD_PARTY.items()
                     if text.startswith(prefix) and path.relative_to(ROOT / "src").parts[0] not in parts])

    def test_headers_open_with_their_purpose(self):
        faults = []
        for path in files("src", "programs", "tests", "include", endings=(".hpp", ".h")):
            text = path.read_text()
            if not re.match(r"(// \S|/\* \S)", text):
                faults.append(f"{place(path)}: does not open with a comment")
        self.refuse(faults)

    def test_headers_are_read_once(self):
        """#pragma once; an include guard where programs and C must do without."""
        faults = []
        for path in files("src", "tests", endings=(".hpp", ".h")):
            if len(re.findall(r"^#pragma once$", path.read_text(), re.M)) != 1:
                faults.append(f"{place(path)}: has no #pragma once")
        for path in files("include", "programs", endings=(".hpp", ".h")):
            if not re.search(r"^(#pragma once|#ifndef (\w+)\n#define \2)$", path.read_text(), re.M):
                faults.append(f"{place(path)}: has neither #pragma once nor an include guard")
        self.refuse(faults)

    def test_no_using_namespace_in_headers(self):
        self.refuse([f"{place(path)}: using namespace in a header" for path in files("src", endings=(".hpp",))
                     if re.search(r"^using namespace", path.read_text(), re.M)])

    def test_files_stay_short(self):
        everything = files("src", "include", "programs", "tests", "bench", "cmake", "web/src", "tools",
                           endings=SOURCES + (".py", ".ts", ".sh", ".cmake"))
        self.refuse([f"{place(path)}: {lines} lines" for path in everything
                     if (lines := len(path.read_text().splitlines())) > MOST_LINES])

    def test_nothing_is_left_to_do(self):
        words = re.compile("TO" + "DO|FIX" + r"ME|\bX" + "XX")
        everything = list(files("src", "include", "programs", "tests", "bench", "cmake", "web/src", "machines",
                                endings=SOURCES + (".py", ".ts", ".mjs", ".sh", ".cmake", ".txt", ".toml")))
        self.refuse([f"{place(path, number)}: {line.strip()}" for path in everything
                     for number, line in enumerate(path.read_text().splitlines(), 1) if words.search(line)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
