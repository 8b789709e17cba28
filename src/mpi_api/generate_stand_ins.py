#!/usr/bin/env python3
"""Makes the tables of stand_ins.hpp from stand_ins.txt.

    generate_stand_ins.py --table stand_ins.txt --output FILE

Writes FORETRACE_STAND_IN(kind, "function", "its stand-in") for each, by kind in the order of the table.
"""

import argparse
import pathlib
import re

KINDS = ("charged", "alike", "moving", "looking", "making", "together")


def parse_stand_ins(text, path):
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        row = re.fullmatch(r"(\w+)\s*:((?:\s+[a-z_0-9]+\s+[a-z_0-9]+)+)", line)
        if not row or row.group(1) not in KINDS:
            raise SystemExit(f"{path}:{number}: expected '{'|'.join(KINDS)} : FUNCTION STAND_IN ...', found '{line}'")
        words = row.group(2).split()
        for function, stand_in in zip(words[::2], words[1::2]):
            if (row.group(1), function) in found:
                raise SystemExit(f"{path}:{number}: {function} has a stand-in already")
            found[row.group(1), function] = stand_in
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    stand_ins = parse_stand_ins(options.table.read_text(), options.table)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("".join(
        f'FORETRACE_STAND_IN({kind}, "{function}", "{stand_in}")\n'
        for (kind, function), stand_in in stand_ins.items()))


if __name__ == "__main__":
    main()
