"""Runs Foretrace and keeps what comes out, so that a run that is stopped goes on where it was.

Traces and databases lie in the folder of the page; what is there already is not run again.
"""

import csv
import ctypes
import json
import os
import pathlib
import signal
import subprocess

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
SOURCE = pathlib.Path(__file__).resolve().parents[2]


def end_with_us():
    """In a child: SIGTERM when this script ends in whatever way, so that nothing runs on without it."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Workshop:
    def __init__(self, build, folder, mpi, measures=True):
        self.build, self.folder, self.mpi, self.measures = build, folder, mpi, measures
        self.programs = build / "programs" / mpi
        self.tool = build / "bin/foretrace"
        folder.mkdir(parents=True, exist_ok=True)
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", LC_ALL="C")

    def run(self, *words, limit=600):
        """What a command prints. CalledProcessError with its standard error if it fails."""
        words = [str(word) for word in words]
        done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=limit,
                              preexec_fn=end_with_us)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: status {done.returncode}: {done.stderr.strip()[-400:]}")
        return done.stdout

    def foretrace(self, *words, **options):
        return self.run(self.tool, *words, **options)

    def program(self, command):
        """The words of "NAME --option ..."."""
        name, *words = command.split()
        return [self.programs / name, *words]

    def study(self, name, text):
        """The rows of a study, from its database. It runs what is missing there."""
        path = self.folder / f"{name}.toml"
        path.write_text(text)
        self.foretrace("study", path, "-o", f"{name}.db", limit=1200)
        return json.loads(self.foretrace("results", f"{name}.db", "--json", "--where", "kind <> 'record'"))

    def trace(self, name, *words):
        """A trace that `words` make with -o; made once."""
        path = self.folder / f"{name}.ftr"
        if not path.exists():
            unfinished = self.folder / f"{name}.new.ftr"
            before, _, after = [str(word) for word in words], None, None
            at = before.index("--") if "--" in before else len(before)
            self.foretrace(*before[:at], "-o", unfinished, *before[at:])
            unfinished.rename(path)
        return path

    def live(self, name, ranks, machine, command, compute="annotated", *more):
        return self.trace(name, "simulate", "-n", ranks, "--machine", machine, "--compute", compute, *more, "--",
                          *self.program(command))

    def report(self, trace):
        return json.loads(self.foretrace("report", trace, "--json"))

    def drawn(self, trace, width=220):
        return self.foretrace("timeline", trace, "--width", width)

    def calls(self, trace, name):
        """By rank: the durations of the calls of an MPI function, or of "COMPUTE" between calls, in seconds."""
        path = trace.with_suffix(".csv")
        if not path.exists():
            self.foretrace("convert", trace, path)
        durations, since, left = {}, {}, {}
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                rank, time = int(row["Process"]), float(row["Timestamp (ns)"]) * 1e-9
                if not row["Name"].startswith("MPI_"):
                    continue
                if row["Event Type"] == "Enter":
                    since[rank] = time
                    if name == "COMPUTE" and time > left.get(rank, time):
                        durations.setdefault(rank, []).append(time - left[rank])
                else:
                    if row["Name"] == name:
                        durations.setdefault(rank, []).append(time - since[rank])
                    left[rank] = time
        return durations
