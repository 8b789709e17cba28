"""One round of one program in one setting: real runs, and every way's prediction, one after the other."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import figures
import program_list
from program_list import ROOT
from settings import TIMES, Failure, call

HERE = pathlib.Path(__file__).resolve().parent
import run_apps  # noqa: E402  (tests/apps, by program_list)

SAMPLES = 100
RECORDINGS = 3  # a round: the first is simulated, the interval is of all


def compiler(mpi):
    return f"mpicc.{mpi}"


def build_tools(folder, mpi):
    """The patterns and the clock, for that MPI."""
    target = pathlib.Path(folder, "tools", mpi)
    target.mkdir(parents=True, exist_ok=True)
    for name, words in (("patterns", ["-O1"]), ("clock.so", ["-O1", "-shared", "-fPIC"])):
        source = (HERE / name).with_suffix(".c")
        if not (target / name).exists() or (target / name).stat().st_mtime < source.stat().st_mtime:
            call(compiler(mpi), *words, source, "-o", target / name, "-ldl")
    return target


class Case:
    """A program in a setting: how it is called, and what lies in its folder."""

    def __init__(self, build, folder, setting, program):
        self.setting = setting
        self.program = program
        self.tools = pathlib.Path(folder, "tools", setting.mpi).resolve()
        self.app = program.app(setting.mpi) if program.kind == "debian" else None
        if program.kind == "ours":
            self.words = [build / "programs" / setting.mpi / program.words[0], *program.words[1:]]
        elif program.kind == "pattern":
            times = str(TIMES.get(setting.rate))
            self.words = [self.tools / "patterns", *(
                str(max(1, 2 * word // setting.ranks)) if isinstance(word, int) else word.replace("@TIMES@", times)
                for word in program.words)]
        else:
            self.words = self.app.command if self.app else []

    def missing(self):
        """Why it cannot run here, or nothing."""
        if self.program.kind == "debian":
            if not self.app:
                return f"Debian has none for {self.setting.mpi}"
            return "" if program_list.debian.installed(self.app) else f"not installed: {self.app.package}"
        return "" if os.access(self.words[0], os.X_OK) else f"not built: {self.words[0]}"

    def prepare(self, folder):
        if self.app:
            run_apps.prepare(self.app, self.setting.ranks, folder)


# Functions that `measure` calls INVALID are used: what that costs shall be seen.
ALLOW = "--allow-invalid"


def real_seconds(text):
    """Of what the clock wrote: from the end of the barrier after MPI_Init, which the first rank sees,
    to the last rank's MPI_Finalize."""
    times = [tuple(map(float, line.split())) for line in text.splitlines() if not line.startswith("lines")]
    return max(end for _, end in times) - min(begin for begin, _ in times)


def lines_of(text):
    """Seconds that a cache line took from core to core before and after the run; zeros: nobody looked."""
    found = re.search(r"^lines (\S+) (\S+)$", text, re.M)
    return [float(found[1]), float(found[2])] if found else [0, 0]


def predicted_seconds(text):
    found = re.search(r"predicted time (\S+) s", text)
    if not found:
        raise Failure("no predicted time was printed")
    return float(found[1])


def interval(text):
    found = re.search(r"90 % from (\S+) s to (\S+) s", text)
    return (float(found[1]), float(found[2])) if found else None


class Runner:
    """Runs rounds. `model`: the machine model of the setting, which has the topology of its hosts. `smpi`: SMPI on that
    machine, or None."""

    def __init__(self, tool, case, model, smpi, limit):
        self.tool, self.case, self.model, self.smpi, self.limit = tool, case, model, smpi, limit

    def call(self, *words):
        """In a folder of its own, with the program's files."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            self.case.prepare(pathlib.Path(folder))
            return call(*words, limit=self.limit, folder=folder)

    def real(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            clock = pathlib.Path(folder, "clock")
            lines = pathlib.Path(folder, "lines")
            lines.write_bytes(bytes(4096))
            watch = [f"ACCURACY_LINES={lines}"] if self.case.setting.set == program_list.SHARED else []
            self.call(*self.case.setting.launcher(), "env", f"LD_PRELOAD={self.case.tools / 'clock.so'}",
                      f"ACCURACY_CLOCK={clock}", *watch, *self.case.words)
            text = clock.read_text() if clock.exists() else ""
            if sum(not line.startswith("lines") for line in text.splitlines()) != self.case.setting.ranks:
                raise Failure("not every rank called MPI_Init and MPI_Finalize")
            return real_seconds(text), lines_of(text)

    def predict(self, trace):
        setting = self.case.setting
        self.call(*setting.captured(self.tool, "predict", "--machine", self.model, ALLOW, "-o", trace), *self.case.words)
        # Under a launcher of its own it prints no time.
        return json.loads(call(self.tool, "report", trace, "--json"))["time"]

    def live(self, trace, network):
        setting = self.case.setting
        return predicted_seconds(self.call(
            self.tool, "simulate", "-n", setting.ranks, "--mpi", setting.mpi, "--machine", self.model, ALLOW,
            "--network", network, "-o", trace, "--", *self.case.words))

    def simulate(self, traces, network):
        """The time of the first, and the interval of all by the way that states one."""
        stated = network == figures.stated_way(self.case.setting.networks)
        words = [self.tool, "simulate", *(traces if stated else traces[:1]), "--machine", self.model, ALLOW,
                 "--network", network]
        if stated:
            words += ["--samples", SAMPLES]
        text = call(*words, limit=self.limit)
        return predicted_seconds(text), interval(text)

    def round(self):
        """What figures.py calls a round, less its names."""
        done, failed = {"real": [], "lines": []}, {}

        def attempt(way, run):
            try:
                return run()
            except (Failure, OSError, subprocess.SubprocessError) as failure:
                failed[way] = str(failure)
                return None

        def real():
            if "real" not in failed:
                run = attempt("real", self.real)
                if run:
                    done["real"].append(run[0])
                    done["lines"].append(run[1])

        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            trace = pathlib.Path(folder, "run.ftr")
            real()
            if "real" in failed:  # nothing to compare with
                return {**done, "failed": failed}
            done["predict"] = attempt("predict", lambda: self.predict(trace))
            real()
            traces = [pathlib.Path(folder, f"record{i}.ftr") for i in range(RECORDINGS)]
            recorded = attempt("record", lambda: [
                self.call(*self.case.setting.captured(self.tool, "record", "-o", each), *self.case.words)
                for each in traces])
            for network in self.case.setting.networks if recorded is not None else ():
                simulated = attempt(network, lambda network=network: self.simulate(traces, network))
                if simulated:
                    done[network] = simulated[0]
                    if simulated[1]:
                        done["low"], done["high"] = simulated[1]
            real()
            for way, network in figures.LIVE.items():
                if network in self.case.setting.networks:
                    done[way] = attempt(way, lambda network=network: self.live(trace, network))
            if self.smpi and self.case.program.kind != "debian":  # nothing that was not compiled for it runs under it
                done["smpi"] = attempt("smpi", lambda: self.smpi.seconds(self.case.program, self.case.words, self.limit))
        if "record" in failed:
            failed.update({network: failed["record"] for network in self.case.setting.networks})
        done = {key: value for key, value in done.items() if value is not None}
        return {**done, "failed": failed} if failed else done
