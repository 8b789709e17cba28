#!/usr/bin/env python3
"""How right Foretrace is: programs run for real, predicted in every way, and set side by side.

    tools/accuracy/accuracy.py [BUILD] [--minutes M] [--sets shared-memory,testbed] [--rounds N] [--docs PAGE.md]

For each setting (settings.py) the machine is measured first by `foretrace measure`; then each program
(program_list.py) runs in rounds: really, predicted, really, recorded and simulated, really, live. Every
round is kept in OUT/results.jsonl at once, and models in OUT/models: an interrupted run goes on where it
was, and --fresh starts over. OUT/index.html and, with --docs, the page's tables are written after each
setting; tables of settings that were not run stay in the page as they are. --minutes takes as many settings
and programs as fit, the most telling first.

`make accuracy` builds what is needed and calls this. Needs a machine on which nothing else runs.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import time
import tomllib

sys.dont_write_bytecode = True
import figures
import page
import runs
import smpi
import tables
from program_list import ROOT, SHARED, TESTBED, programs_of
from settings import SETTINGS, Failure, Place, call, why_not

# Of a --minutes run: what a setting has, at least, and what of it the model may take.
SLOT_S = 300
MODEL_SHARE = 0.5
ROUND_S = 8.0  # until something is known


def say(text):
    print(f"accuracy: {text}", flush=True)


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Results:
    """The rounds that were run: a line of JSON each."""

    def __init__(self, path):
        self.path = path
        self.rounds = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def add(self, one):
        self.rounds.append(one)
        with self.path.open("a") as file:
            file.write(json.dumps(one) + "\n")

    def known(self, setting, program):
        return sum(one["setting"] == setting.name and one["program"] == program.name for one in self.rounds)

    def gave_up(self, setting, program):
        """A program whose real run failed is not tried again."""
        return any(one["setting"] == setting.name and one["program"] == program.name
                   and "real" in one.get("failed", {}) for one in self.rounds)

    def to_do(self, setting, program, rounds):
        return 0 if self.gave_up(setting, program) else max(0, rounds - self.known(setting, program))


class Clock:
    """The time that is left: of --minutes, or by what the rounds so far took."""

    def __init__(self, minutes):
        self.begin = time.monotonic()
        self.limit = 60 * minutes if minutes else None
        self.taken = []

    def elapsed(self):
        return time.monotonic() - self.begin

    def left(self, rounds_to_do):
        guess = rounds_to_do * (statistics.mean(self.taken) if self.taken else ROUND_S)
        return min(guess, max(0, self.limit - self.elapsed())) if self.limit else guess

    def deadline(self, number, count):
        """When the number-th of count settings has to be done; None: whenever."""
        return self.limit * (number + 1) / count if self.limit else None


class Campaign:
    def __init__(self, options):
        self.options = options
        self.out = options.out
        self.tool = options.build / "bin/foretrace"
        self.results = Results(self.out / "results.jsonl")
        self.clock = Clock(options.minutes)
        self.notes = {}  # why a setting has no rows
        self.settings = self.choose()

    def choose(self):
        chosen = [setting for setting in SETTINGS if setting.set in self.options.sets
                  and self.options.setting in setting.name]
        possible = []
        for setting in chosen:
            why = why_not(setting)
            if why:
                self.notes[setting.name] = f"{setting.title}: left out: {why}"
                say(self.notes[setting.name])
            else:
                possible.append(setting)
        if self.clock.limit:
            possible = possible[:max(1, int(self.clock.limit // SLOT_S))]
        return possible

    def programs(self, setting):
        return [program for program in programs_of(setting.set) if self.options.only in program.name]

    def rounds_to_do(self):
        return sum(self.results.to_do(setting, program, self.options.rounds)
                   for setting in self.settings for program in self.programs(setting))

    def model(self, setting, deadline):
        """The setting's machine model, measured if it is not there."""
        path = self.out / "models" / f"{setting.name}.toml"
        if path.exists():
            return path
        path.parent.mkdir(exist_ok=True)
        words = [self.tool, "measure", "-n", setting.ranks, "--mpi", setting.mpi, "--name", setting.title, "-o", path]
        limit = 7200
        if setting.set == TESTBED:
            # All hosts share this machine's cores: more ranks than those are meant.
            words += ["--launch", " ".join(setting.launcher()), "--keep-invalid"]
        if deadline:
            budget = max(20, int(MODEL_SHARE * (deadline - self.clock.elapsed())))
            words += ["--budget", budget]
            limit = 4 * budget + 120
        if self.options.quick:
            words.append("--quick")
        say(f"{setting.name}: measuring the machine")
        try:
            call(*words, limit=limit)
        except Failure as failure:
            raise Failure(f"measure: {failure}") from None
        return path

    def smpi(self, setting, model):
        """SMPI on the setting's machine, or None. Over slow links its calibration takes minutes."""
        eager = tomllib.loads(model.read_text()).get("loggps", {}).get("S")
        if not smpi.available() or eager is None or (self.clock.limit and setting.set == TESTBED):
            return None
        say(f"{setting.name}: calibrating SMPI")
        try:
            return smpi.Smpi(self.out / "smpi" / setting.name, setting, eager)
        except Failure as failure:  # the others have their rows all the same
            say(f"{setting.name}: no SMPI: {failure}")
            return None

    def run_setting(self, setting, deadline):
        """Runs what is not known yet, until the deadline."""
        programs = [program for program in self.programs(setting)
                    if self.results.to_do(setting, program, self.options.rounds)]
        if not programs:
            return
        try:
            runs.build_tools(self.out, setting.mpi)
            with Place(setting):
                model = self.model(setting, deadline)
                peer = self.smpi(setting, model)
                for program in programs:
                    if deadline and self.clock.elapsed() > deadline:
                        return
                    self.run_program(setting, program, model, peer)
        except Failure as failure:  # of what a program needs; its own are rows
            self.notes[setting.name] = f"{setting.title}: not run: {failure}"
            say(self.notes[setting.name])

    def run_program(self, setting, program, model, peer):
        case = runs.Case(self.options.build, self.out, setting, program)
        runner = runs.Runner(self.tool, case, model.resolve(), peer, self.options.limit)
        line = tomllib.loads(model.read_text())["machine"].get("cache_line", 0)
        why = case.missing()
        if why:
            self.results.add({"setting": setting.name, "program": program.name, "round": 0, "real": [],
                              "failed": {"real": why}})
        while self.results.to_do(setting, program, self.options.rounds):
            begin = time.monotonic()
            load = os.getloadavg()[0]
            number = self.results.known(setting, program)
            self.results.add({"setting": setting.name, "program": program.name, "round": number, "load": load,
                              "cache_line": line, **runner.round()})
            self.clock.taken.append(time.monotonic() - begin)
        self.tell(setting, program)

    def tell(self, setting, program):
        row = figures.row_of([one for one in self.results.rounds
                              if (one["setting"], one["program"]) == (setting.name, program.name)])
        real = tables.seconds(row.real.median) if row.real else f"failed ({row.failed.get('real')})"
        errors = ", ".join(f"{tables.NAMES[way]} {tables.cell(row, way)}" for way in tables.ways_of([row]))
        say(f"{setting.name}, {program.name}: real {real}; {errors or 'no prediction'}; about "
            f"{duration(self.clock.left(self.rounds_to_do()))} left")

    def facts(self):
        """What stands above the tables."""
        cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
        loads = [one["load"] for one in self.results.rounds if "load" in one] or [0]
        version = call(self.tool, "--version").split()[-1]
        return [f"{datetime.date.today()}, Foretrace {version}, {os.cpu_count()} cores ({cpu[1].strip() if cpu else 'unknown'}).",
                f"Load average at the start of a round: {statistics.median(loads):.1f} in the middle, at most "
                f"{max(loads):.1f}, of which two and more are the runs' own.",
                f"{self.options.rounds} round{'s' * (self.options.rounds > 1)} of three real runs and one run of each way.",
                "Functions that measure calls INVALID are used (--allow-invalid).",
                *self.notes.values()]

    def write(self):
        rows = figures.rows_of(self.results.rounds)
        facts = self.facts()
        (self.out / "index.html").write_text(page.render(rows, facts), encoding="utf-8")
        if self.options.docs:
            text = self.options.docs.read_text()
            self.options.docs.write_text(tables.replace_between(text, tables.markdown(rows, facts, text)))
        return rows

    def run(self):
        say(f"{len(self.settings)} settings, {self.rounds_to_do()} rounds; results are kept in {self.out}")
        try:
            for number, setting in enumerate(self.settings):
                self.run_setting(setting, self.clock.deadline(number, len(self.settings)))
                self.write()
            for setting in self.settings if self.clock.limit else ():
                if setting.name not in self.notes:
                    self.run_setting(setting, self.clock.limit)
        except KeyboardInterrupt:
            say("interrupted; the same command goes on from here")
        rows = self.write()
        print(*tables.summaries(rows), sep="\n")
        say(f"{duration(self.clock.elapsed())}; open {self.out / 'index.html'}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve(), nargs="?", default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, help="results, models and page (BUILD/accuracy)")
    parser.add_argument("--minutes", type=float, default=0, help="end after about so many; 0: when all is done")
    parser.add_argument("--sets", default=f"{SHARED},{TESTBED}")
    parser.add_argument("--setting", default="", help="only settings whose name has this in it")
    parser.add_argument("--only", default="", help="only programs whose name has this in it")
    parser.add_argument("--rounds", type=int, help="of each program (5; 3 with --minutes)")
    parser.add_argument("--limit", type=float, help="seconds for one run (120; 20 with --minutes)")
    parser.add_argument("--quick", action="store_true", help="measure --quick")
    parser.add_argument("--fresh", action="store_true", help="forget results and models that are there")
    parser.add_argument("--docs", type=pathlib.Path, help="the page to write the tables into")
    options = parser.parse_args()
    options.sets = options.sets.split(",")
    wrong = [name for name in options.sets if name not in (SHARED, TESTBED)]
    if wrong:
        parser.error(f"--sets: expected {SHARED} or {TESTBED}, found '{wrong[0]}'")
    options.rounds = options.rounds or (3 if options.minutes else 5)
    options.limit = options.limit or (20 if options.minutes else 120)
    options.out = (options.out or options.build / "accuracy").resolve()
    if not (options.build / "bin/foretrace").exists():
        parser.error(f"{options.build}/bin/foretrace is missing: run make first")
    return options


def main():
    options = parse_arguments()
    if options.fresh:
        shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True, exist_ok=True)
    Campaign(options).run()


if __name__ == "__main__":
    main()
