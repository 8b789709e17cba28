#!/usr/bin/env python3
"""Makes the table of groups.hpp from groups.txt.

    generate_groups.py --table groups.txt --output FILE

Writes FORETRACE_GROUP(name, "pattern", ...) for each group, in the order of the table.
"""

import argparse
import pathlib
import re


def parse_groups(text, path):
    groups = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        found = re.fullmatch(r"([a-z_]+)\s*:((?:\s+MPIX?_[A-Za-z_*\[\]]+)+)", line)
        if not found:
            raise SystemExit(f"{path}:{number}: expected 'GROUP : MPI_FUNCTION ...', found '{line}'")
        groups.setdefault(found.group(1), []).extend(found.group(2).split())
    return groups


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    groups = parse_groups(options.table.read_text(), options.table)
    lines = ["FORETRACE_GROUP({}, {})\n".format(name, ", ".join(f'"{pattern}"' for pattern in patterns))
             for name, patterns in groups.items()]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("".join(lines))


if __name__ == "__main__":
    main()
