#!/usr/bin/env python3
"""Starts a launch of the characterisation program, and fresh launches after it.

    between.py PLAN.json PROGRAM ARGUMENTS...

`foretrace measure --launch` starts this in place of mpirun, so that what a model is made from and what it is judged by
are measured in turn: a machine's memory may be a tenth slower a minute later. What the fresh launches print goes into
the plan's folder, into NUMBER-OF-THE-LAUNCH.ANOTHER.txt.
"""

import json
import pathlib
import subprocess
import sys

from launches import environment, fresh_text, launcher


def main():
    plan = json.loads(pathlib.Path(sys.argv[1]).read_text())
    program = sys.argv[2:]
    result = subprocess.run([*launcher(plan["mpi"], plan["under"]), *program], env=environment())
    if result.returncode != 0:
        return result.returncode
    number = int(program[program.index("--launch") + 1])
    for i in range(plan["launches"]):
        text = fresh_text(pathlib.Path(plan["build"]), plan["mpi"], plan["points"], plan["blocks"],
                          plan["seed"] + plan["launches"] * number + i, plan["start"], plan["buffers"], plan["under"])
        pathlib.Path(plan["folder"], f"{number}.{i}.txt").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
