#!/usr/bin/env python3
"""run_results.py BUILD [LAUNCHES]: how long `foretrace results` takes over a large database.

A study makes a small database; 1,000,000 launches of 200,000 points are written into it by its own
schema, two ways of 100,000 points, with two parameters and ten quantities. Then it is asked for lists,
tables, comparisons and graphs, of few, a tenth and all rows; of each the median, least and most of
five wall-clock times.
"""

import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

STUDY = """[parameters]
p = [1]
n = [16]
[ways.model]
file = "one.model"
at = "p={p},n={n}"
"""
QUANTITIES = ["wait"] + [f"phase_{i}" for i in range(6)] + ["speedup", "efficiency"]
COMPARE = ["--compare", "predict,measured", "--quantity", "time"]
QUESTIONS = [
    ["--summary"],
    ["--where", "n = 77 and ranks >= 512"],
    ["--where", "machine = 'machine-1' and n < 50", "--csv"],
    ["--where", "ranks = 64"],
    ["--where", "ranks = 64", "--json"],
    ["--where", "ranks = 64", "--launches", "--csv"],
    ["--where", "n = 77", *COMPARE],
    ["--where", "ranks = 64", *COMPARE],
    ["--where", "n < 9 and way = 'predict'", "--over", "ranks,n", "-o", "x.svg"],
    ["--quantity", "time"],
    ["--quantity", "time", "--csv"],
    COMPARE,
    ["--csv"],
    ["-o", "x.html"],
]


def grow(path, launches):
    with sqlite3.connect(path) as database:
        known = {name for name, in database.execute("SELECT name FROM columns")}
        for name in QUANTITIES:
            if name not in known:
                database.execute(f'ALTER TABLE launches ADD COLUMN "{name}" REAL')
                database.execute("INSERT INTO columns SELECT ?, 'quantity', 1 + max(position) FROM columns", (name,))
        columns = ", ".join(["id, point, launch, study, origin, program, way, kind, machine, ranks, status, p, n, time",
                             *QUANTITIES])
        database.execute("DELETE FROM details")
        database.execute("DELETE FROM launches")

        def rows():
            for i in range(launches):
                point = i // 5
                ranks = 2 ** (point % 10)
                way = ("predict", "measured")[point // 100_000 % 2]
                yield (i, point, i % 5, 1, 1, "program", way, way, f"machine-{point // 10 % 10}", ranks,
                       "done", ranks, 1 + point // 100 % 1000, 1.0 + i / ranks, *[0.001 * i] * len(QUANTITIES))
        marks = ", ".join("?" * (14 + len(QUANTITIES)))
        database.executemany(f"INSERT INTO launches({columns}) VALUES({marks})", rows())
        database.execute("INSERT INTO details SELECT id, 'foretrace predict machine program ' || point, '', "
                         "'2026-11-23T13:00:00Z', 0.5 FROM launches")


def main():
    tool = pathlib.Path(sys.argv[1]).resolve() / "bin" / "foretrace"
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "s.toml").write_text(STUDY)
        (folder / "one.model").write_text("total(p, n) = n / p\n")
        subprocess.run([tool, "study", "s.toml", "-o", "r.db"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        grow(folder / "r.db", launches)
        print(f"{launches} launches, {(folder / 'r.db').stat().st_size / 1e6:.0f} MB")
        for words in QUESTIONS:
            times = []
            for _ in range(5):
                begin = time.perf_counter()
                out = subprocess.run([tool, "results", "r.db", *words], cwd=folder, check=True, capture_output=True).stdout
                times.append(time.perf_counter() - begin)
            print(f"{' '.join(words):75} {out.count(bytes([10])):7} lines  "
                  f"{statistics.median(times):5.2f} s ({min(times):.2f} to {max(times):.2f})", flush=True)


if __name__ == "__main__":
    main()
