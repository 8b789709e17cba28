#!/usr/bin/env python3
"""document_test.py TRACE_DUMP: docs/trace-format.md and the code agree.

Traces with every kind of record, of each clock, sealed and not, and cut off
inside a record, must read the same through the library (trace_dump) and through
the decoder that was written from the document (decode.py). Traces of older
versions, kept here, must read as they did.
"""

import pathlib
import subprocess
import sys
import tempfile

import decode


def by_library(dump, path):
    lines = subprocess.run([dump, path], check=True, capture_output=True, text=True).stdout.splitlines()
    # The library tells of the block that is cut off, and of the record in it.
    damage = dict.fromkeys(line for line in lines if line.startswith("damage"))
    return [line for line in lines if not line.startswith("damage")] + list(damage)


def compare(dump, path, what):
    expected = decode.decode(path.read_bytes())
    found = by_library(dump, path)
    for number, (a, b) in enumerate(zip(expected, found)):
        if a != b:
            sys.exit(f"{what}: line {number + 1}\n  document: {a}\n  library:  {b}")
    if len(expected) != len(found):
        sys.exit(f"{what}: {len(expected)} lines by the document, {len(found)} by the library")
    return len(expected)


def compare_old(dump):
    for old in sorted(pathlib.Path(__file__).parent.glob("version-*/*.ftr")):
        compare(dump, old, str(old))
        if decode.decode(old.read_bytes()) != old.with_suffix(".txt").read_text().splitlines():
            sys.exit(f"{old}: it does not read as it did")


def main():
    dump = sys.argv[1]
    compare_old(dump)
    with tempfile.TemporaryDirectory() as folder:
        part, whole = pathlib.Path(folder, "a.part"), pathlib.Path(folder, "a.ftr")
        for clock in ("cpu", "wall", "virtual"):
            subprocess.run([dump, "--make", clock, part], check=True)
            lines = compare(dump, part, f"{clock}, unsealed")
            if part.read_bytes()[8] != {"cpu": 3, "wall": 4, "virtual": 8}[clock]:
                sys.exit("the version tells whether there are lists of counts, and waits for threads")
            if lines < 3000:
                sys.exit(f"only {lines} lines: the example has lost its contents")
            if part.read_bytes().count(b"FTB3") < 6 or part.stat().st_size % 4096 != 0:
                sys.exit("blocks of an unsealed file must fill whole pages")
            subprocess.run([dump, "--seal", part, whole], check=True)
            compare(dump, whole, f"{clock}, sealed")
            # Short by a byte or more of rank 3's only event.
            data = whole.read_bytes()
            for cut in (1, 3):
                whole.write_bytes(data[:-cut])
                if compare(dump, whole, f"{clock}, {cut} bytes short") != lines:
                    sys.exit(f"{clock}: {cut} bytes short: the loss of the last event must be told")


if __name__ == "__main__":
    main()
