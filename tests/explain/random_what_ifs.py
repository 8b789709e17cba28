#!/usr/bin/env python3
"""What-ifs on random schedules: the graph, a fresh simulation and reference.py must agree.

    random_what_ifs.py EXPLAIN_SCHEDULE [--count N] [--first SEED]

explain_schedule compares each what-if of the graph with a simulation of the edited operations. Here
the run time without each single wait is computed a third time, by the equations of reference.py.
On networks other than the data sheet the critical path alone is checked, by explain_schedule.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sim"))

import random_networks  # noqa: E402
import random_schedules  # noqa: E402
import reference  # noqa: E402

# How many of the waits of a schedule are computed by the reference.
MOST_WAITS = 3


class Waitless(reference.Replay):
    """A replay in which one call need not wait."""

    def __init__(self, machine, schedule, chosen):
        super().__init__(machine, schedule)
        self.chosen = chosen

    def leave(self, at):
        fresh = at not in self.leaves
        leave = super().leave(at)
        if fresh and at == self.chosen:
            leave -= self.waits[at]
            self.leaves[at] = leave
        return leave


def time_without(machine, schedule, chosen):
    replay = Waitless(machine, schedule, chosen)
    return max(finish for finish, _ in replay.run())


def check(seed, machine, schedule, found):
    exact = reference.Machine(machine)
    parsed = reference.Schedule(schedule)
    if time_without(exact, parsed, None) != found["time"] and not exact.doubtful:
        sys.exit(f"seed {seed}: another time without any edit")
    if not found["fixed"]:
        sys.exit(f"seed {seed}: the data sheet's graph is not fixed")
    waits = random.Random(seed).sample(found["waits"], min(MOST_WAITS, len(found["waits"])))
    for rank, call, time in waits:
        # MPI_Init is the engine's first call.
        expected = time_without(exact, parsed, (rank, call - 1))
        if expected != time and not exact.doubtful:
            sys.exit(f"seed {seed}, rank {rank}, call {call}: expected {expected}, found {time}")
    return len(waits)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("explain_schedule")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.count)
    cases = []
    for seed in seeds:
        rng = random.Random(seed)
        cases.append((random_schedules.random_machine(rng),
                      random_schedules.Generator(rng).schedule()))
    networks = [random_networks.random_case(seed, None) for seed in seeds[: options.count // 5]]
    lines = "".join(json.dumps({"machine": m, "schedule": s}) + "\n" for m, s in cases)
    lines += "".join(json.dumps(case) + "\n" for case in networks)
    found = subprocess.run([options.explain_schedule], input=lines, text=True, check=False,
                           stdout=subprocess.PIPE)
    results = [json.loads(line) for line in found.stdout.splitlines()]
    if found.returncode != 0:
        sys.exit(f"seed {options.first + len(results)} fails")
    waits = sum(check(seed, machine, schedule, result)
                for seed, (machine, schedule), result in zip(seeds, cases, results))
    single = sum(len(result["waits"]) for result in results if result != "deadlock")
    print(f"{len(cases)} schedules, {single} single waits against a simulation, {waits} of them against the "
          f"reference; {len(networks)} on other networks")
    if waits < options.count:
        sys.exit("too few waits were compared")


if __name__ == "__main__":
    main()
