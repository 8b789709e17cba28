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
# measure/campaign/measure.hpp is what the command line and the MPI program agree on.
MAY_USE = {
    "base": set(),
    "stats": set(),
    "symbols": set(),
    "toml_file": set(),
    "topology": {"toml_file"},
    "machine": {"mpi_api", "stats", "toml_file", "topology"},
    "trace": {"machine"},
    "formats": {"machine", "mpi_api", "trace"},
    "compute": {"machine", "mpi_api", "trace"},
    "blocks": set(),
    "mpi_api": set(),
    "sim": {"compute", "machine", "mpi_api", "topology", "trace"},
    "architecture": {"machine", "sim", "toml_file", "topology"},
    "analysis": {"machine", "mpi_api", "topology", "trace", "stats"},
    "explain": {"machine", "mpi_api", "sim", "topology", "trace"},
    "formulas": {"machine"},
    "results": {"stats"},
    "scaling": {"analysis", "machine", "stats"},
    "study": {"results", "toml_file"},
    "views": {"analysis", "architecture", "explain", "formulas", "machine", "results", "scaling", "topology", "trace"},
    "pyramid": {"analysis", "trace", "views"},
    "callers": {"trace"},
    "capture": {"callers", "compute", "machine", "mpi_api", "trace"},
    "shared": {"machine", "sim", "trace"},
    "live": {"compute", "machine", "mpi_api", "shared", "sim", "symbols", "trace"},
    "mpi": {"callers", "compute", "machine", "mpi_api", "shared", "sim", "trace"},
    "measure": {"machine", "mpi_api", "stats"},
    "imported": {"machine", "measure", "stats", "toml_file"},
    "watch": set(),
    "wrap": {"mpi_api"},
    "python": {"formats", "machine", "trace"},
    "cli": {
        "analysis",
        "architecture",
        "compute",
        "explain",
        "imported",
        "formats",
        "formulas",
        "results",
        "scaling",
        "study",
        "machine",
        "mpi_api",
        "pyramid",
        "sim",
        "stats",
        "symbols",
        "toml_file",
        "topology",
        "trace",
        "views",
        "watch",
        "wrap",
    },
}
# Files of a part that others may include although the part is closed to them.
OPEN_FILES = {"cli": {"measure/core/functions.hpp", "measure/core/patterns.hpp", "measure/campaign/measure.hpp",
                      "live/live_source.hpp", "live/processes.hpp"}}

# Parts whose chapters are sides of one object, as the MPI standard's chapters are (a communicator is
# made by a collective over a communicator), and the capture library's session; they use each other.
CHAPTERS_OF_ONE_THING = {"capture", "mpi"}

# What sees an MPI header: folders of src, whole.
SEES_MPI = ("capture/handlers", "capture/predict", "capture/profile", "capture/session",
            "measure/experiments", "mpi", "mpi_api")
# Third-party headers, by the only part that uses them.
THIRD_PARTY = {"CLI/": {"cli"}, "toml++/": {"toml_file"}, "sqlite3.h": {"results"}, "Eigen/": {"stats"},
               "boost/": {"stats"}, "elfutils/": {"symbols"}, "zlib.h": {"imported", "views"},
               "expat.h": {"imported"}, "histedit.h": {"cli"}, "httplib.h": {"watch"},
               "otf2/": {"formats"}, "scotch.h": {"explain"}}

MOST_LINES = 600

# Files that pages and headers name and that are not in the tree: the reader's, other tools', made by the build.
NOT_OURS = {"halo.py", "MpiDelayOps.cpp", "DelayOps.cpp", "live_impl.hpp"}


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

    def test_chapters_have_no_circle(self):
        found = 0
        for part in sorted(set(self.parts()) - CHAPTERS_OF_ONE_THING):
            uses = {}
            for path in files(f"src/{part}"):
                chapter = path.relative_to(ROOT / "src" / part).parts[0]
                uses.setdefault(chapter, set()).update(
                    text.split("/")[1] for _, text in includes(path)
                    if text.startswith(f"{part}/") and text.count("/") >= 2)
            chapters = {chapter for chapter in uses if (ROOT / "src" / part / chapter).is_dir()}

            def follow(chapter, above):
                self.assertNotIn(chapter, above, f"src/{part}: {' -> '.join(above)} -> {chapter}")
                for other in (uses[chapter] & chapters) - {chapter}:
                    follow(other, above + [chapter])

            for chapter in chapters:
                follow(chapter, [])
            found += len(chapters)
        self.assertGreater(found, 20, "this test has gone blind")

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
        """Also through the headers that they include."""
        free = [path for path in files("src")
                if not str(path.relative_to(ROOT / "src")).startswith(tuple(f"{folder}/" for folder in SEES_MPI))]
        self.refuse([f"{place(path)}: sees mpi.h by {by}" for path in free for by in self.reaches_mpi(path)])
        self.assertGreater(len(free), 100, "this test has gone blind")

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

    def test_files_that_are_named_exist(self):
        """In the pages, and in what headers say: somewhere in the tree, under the folder if one is given."""
        folders = [path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "build"))]
        everything = [f"/{place(path)}" for path in files(*folders, endings=(".cpp", ".hpp", ".py", ".ts"))]
        names = re.compile(r"(?<![\w/.*<>{}$-])((?:[\w.-]+/)*[\w-]+\.(?:cpp|hpp|py|ts))\b(?![\w/])")

        def faults_of(path, line_of):
            text = path.read_text()
            known = set(re.findall(r"<!-- file: (\S+) -->", text)) | NOT_OURS
            for number, line in enumerate(text.splitlines(), 1):
                for name in names.findall(line_of(line)):
                    # NAME.cpp stands for any.
                    if name in known or re.search(r"(^|[/_])[A-Z]+\.", name):
                        continue
                    if not any(each.endswith(f"/{name}") for each in everything):
                        yield f"{place(path, number)}: there is no {name}"

        pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *files("docs", "src", endings=(".md",))]
        faults = [fault for page in pages for fault in faults_of(page, lambda line: line)]
        headers = list(files("src", "include", endings=(".hpp", ".h")))
        faults += [fault for header in headers for fault in faults_of(header, lambda line: line.partition("//")[2])]
        self.refuse(faults)
        self.assertGreater(len(pages) + len(headers), 100, "this test has gone blind")

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
        """But for the one that makes the names of src/shared our MPI library's own."""
        self.refuse([f"{place(path)}: using namespace in a header" for path in files("src", endings=(".hpp",))
                     if place(path) != "src/mpi/core/simulator.hpp" and re.search(r"^using namespace", path.read_text(), re.M)])

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
