#!/usr/bin/env python3
"""booksim.py FORETRACE CURVES.csv: latency over load beside BookSim2's curves.

CURVES.csv has one line a run: topology, k, n, packet_flits, vcs, buffer_flits, allocation, offered,
status, packet_latency. Prints each curve's differences, and the load at which the latency is three
times that without load, on both sides by interpolation.
"""

import collections
import csv
import json
import subprocess
import sys

def expression(row):
    k, n = int(row["k"]), int(row["n"])
    if row["topology"] == "fattree":
        return f"fattree:{k},{n}"
    return f"{row['topology']}:" + "x".join([str(k)] * n)


def crossing(points, level):
    """Where latency passes `level`, between the points of a rising curve."""
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if y0 < level <= y1:
            # Latency grows like 1 / (saturation - load): straight in its inverse.
            return x0 + (x1 - x0) * (1 / y0 - 1 / level) / (1 / y0 - 1 / y1)
    return None


def main():
    tool, path = sys.argv[1:3]
    curves = collections.OrderedDict()
    for row in csv.DictReader(open(path)):
        curves.setdefault((row["case"], row["vcs"], row["allocation"]), []).append(row)
    worst = 0
    for key, rows in curves.items():
        stable = [r for r in rows if r["status"] == "stable"]
        loads = [r["offered"] for r in stable]
        first = stable[0]
        command = [tool, "traffic", expression(first), "--vcs", first["vcs"], "--buffer", first["buffer_flits"],
                   "--packet", first["packet_flits"], "--allocation", first["allocation"],
                   "--load", ",".join(loads), "--json"]
        curve = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        saturation = curve["saturation"]
        texts = []
        for row, point in zip(stable, curve["points"]):
            if not point["stable"]:
                texts.append(f"{row['offered']}: saturated")
                continue
            error = point["latency"] / float(row["packet_latency"]) - 1
            texts.append(f"{row['offered']}: {100 * error:+.1f} %")
            if float(row["offered"]) <= 0.9 * saturation:
                worst = max(worst, abs(error))
        theirs = crossing([(float(r["offered"]), float(r["packet_latency"])) for r in rows
                           if r["packet_latency"]], 3 * float(first["packet_latency"]))
        if theirs is None:
            unstable = [float(r["offered"]) for r in rows if r["status"] != "stable"]
            shown = f"{float(loads[-1])} to {min(unstable)}"
        else:
            shown = f"{theirs:.3f}"
        print(" ".join(key), "  ".join(texts))
        print(f"    saturation {saturation:.3f}, BookSim {shown}", flush=True)
    print(f"largest difference up to 90 % of saturation: {100 * worst:.2f} %")


if __name__ == "__main__":
    main()
