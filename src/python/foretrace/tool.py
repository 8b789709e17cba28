"""What the command foretrace does, with its answers as objects. Options are the command's own: compute="none"
is --compute none, network="loggps" --network loggps; underscores are dashes, True is an option without a value."""

import json
import os
import shutil
import subprocess
import tempfile

from ._library import PREFIX, Error, needed
from .trace import Trace


def _tool():
    own = PREFIX / "bin" / "foretrace"
    return os.fspath(own) if own.exists() else shutil.which("foretrace") or "foretrace"


def _words(options):
    for name, value in options.items():
        option = ("-" if len(name) == 1 else "--") + name.replace("_", "-")
        if value is None or value is False:
            continue
        yield option
        if value is not True:
            values = value if isinstance(value, (list, tuple)) else [value]
            yield from (os.fspath(each) if isinstance(each, os.PathLike) else str(each) for each in values)


def _path_of(thing):
    return thing.path if hasattr(thing, "path") else os.fspath(thing)


def _run(*words):
    done = subprocess.run([_tool(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said = [line.removeprefix("foretrace: ") for line in done.stderr.splitlines()]
    if done.returncode != 0:
        raise Error("\n".join(said) or f"foretrace {' '.join(words)} ended with status {done.returncode}")
    return done.stdout, said


class Simulation:
    """What a simulation predicted."""

    def __init__(self, told, notes, output):
        self.told = told                    # all of it, as `foretrace simulate --json` prints it
        self.time = told["time"]            # seconds
        self.ranks = told["ranks"]
        self.states = told["states"]        # seconds by state, over all ranks
        self.notes = notes                  # what the prediction does not know
        self.output = output                # the predicted trace, if it was asked for

    def __repr__(self):
        return f"<foretrace.Simulation: {self.time:g} s on {self.ranks} ranks>"

    def per_rank(self):
        """Seconds of each rank, as a pandas frame."""
        return needed("pandas", "Simulation.per_rank").DataFrame(self.told["per_rank"]).set_index("rank")

    def trace(self):
        if self.output is None:
            raise Error("give simulate() an output to get the predicted trace")
        return Trace(self.output)


def simulate(what, machine=None, output=None, **options):
    """Predicts `what`: a trace, a file that `foretrace simulate` takes, or, with n=RANKS, a program and its
    arguments as a list. `machine` is a Machine, a file or a name."""
    words = list(_words({"machine": None if machine is None else _path_of(machine), **options}))
    if not isinstance(what, (list, tuple)):
        out, notes = _run("simulate", _path_of(what), *words, *_words({"output": output}), "--json")
        return Simulation(json.loads(out), notes, output)
    # A program prints where the command prints: its result is told by its trace.
    with tempfile.TemporaryDirectory(prefix="foretrace-") as folder:
        trace = os.fspath(output) if output is not None else os.path.join(folder, "live.ftr")
        _, notes = _run("simulate", *words, "-o", trace, "--", *map(str, what))
        return Simulation(report(trace), notes, output)


def report(trace, **options):
    """What `foretrace report --json` tells of a trace: times by state and rank, speed-up, utilisation."""
    return json.loads(_run("report", _path_of(trace), *_words(options), "--json")[0])


def results(path, **options):
    """What studies kept, as a pandas frame: one row for each point, or each launch with launches=True."""
    pandas = needed("pandas", "results")
    return pandas.DataFrame(json.loads(_run("results", os.fspath(path), *_words(options), "--json")[0]))
