"""The arithmetic of the accuracy table: rounds of runs in, plain figures out. Runs nothing, draws nothing.

A round is what was run one after the other for one program in one setting:
  {"setting", "program", "round", "real": [seconds], "WAY": seconds, "low": s, "high": s, "failed": {WAY: why},
   "cache_line": s of the model, "lines": [[s, s]] of each real run, before and after it; 0 or left out: not known}
"""

import dataclasses
import statistics

LIVE = {"live": "datasheet", "live auto": "auto"}  # the network of each
WAYS = ("predict", "datasheet", "loggps", "flow", "packet", "auto", *LIVE, "smpi")


def quantile(values, share):
    """Between the two nearest of the sorted values."""
    values = sorted(values)
    at = share * (len(values) - 1)
    below = int(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (at - below) * (values[above] - values[below])


@dataclasses.dataclass
class Real:
    """Of the real runs of a row."""
    median: float
    first: float  # quartile
    third: float
    count: int

    @property
    def scatter(self):
        """Half of what lies between the quartiles, as a share of the median."""
        return (self.third - self.first) / 2 / self.median


@dataclasses.dataclass
class Row:
    """One program in one setting."""
    setting: str
    program: str
    real: Real | None
    predicted: dict  # way: the median of its times
    errors: dict     # way: relative to the real median
    failed: dict     # way or "real": why
    interval: tuple | None  # 90 % of the prediction, by its own account
    inside: tuple | None    # real runs within it, of how many
    known_states: int  # real runs of which it is known in which state they found the machine
    # Of the real runs that found the machine in the state of its model:
    same_real: Real | None
    same_errors: dict


STATES = 2  # times of a cache line by more than this factor apart are of two states, as for `measure`


def known_states(one):
    """Of a round, [(real run, what a cache line took, as a multiple of the model's time)] where both are known."""
    model = one.get("cache_line", 0)
    return [(run, [line / model for line in lines]) for run, lines in zip(one.get("real", []), one.get("lines", []))
            if model > 0 and min(lines) > 0]


def same_state(one):
    """The real runs of a round that found the machine, before and after, as the model has it."""
    return [run for run, lines in known_states(one) if all(1 / STATES <= line <= STATES for line in lines)]


def real_of(runs):
    return Real(statistics.median(runs), quantile(runs, 0.25), quantile(runs, 0.75), len(runs)) if runs else None


def errors_of(predicted, real):
    return {way: time / real.median - 1 for way, time in predicted.items()} if real else {}


def row_of(rounds):
    """The row that these rounds of one program in one setting make."""
    runs = [seconds for one in rounds for seconds in one.get("real", [])]
    real = real_of(runs)
    same = real_of([run for one in rounds for run in same_state(one)])
    failed = {}
    for one in rounds:
        failed.update(one.get("failed", {}))
    predicted = {}
    for way in WAYS:
        times = [one[way] for one in rounds if way in one]
        if times:
            predicted[way] = statistics.median(times)
    errors = errors_of(predicted, real)
    interval = interval_of(rounds)
    inside = (sum(interval[0] <= run <= interval[1] for run in runs), len(runs)) if interval and runs else None
    return Row(rounds[0]["setting"], rounds[0]["program"], real, predicted, errors, failed, interval, inside,
               sum(len(known_states(one)) for one in rounds), same, errors_of(predicted, same))


def stated_way(ways):
    """The way whose interval is taken, of those that a setting has: the network that users are told to take."""
    return "auto" if "auto" in ways else "datasheet"


def interval_of(rounds):
    """That of the round whose recording is the middle one (the earlier of two)."""
    way = stated_way(rounds[0])
    stated = sorted((one for one in rounds if "low" in one and way in one), key=lambda one: one[way])
    return (stated[(len(stated) - 1) // 2]["low"], stated[(len(stated) - 1) // 2]["high"]) if stated else None


def rows_of(rounds):
    """One row for each program in each setting, in the order in which they first stand."""
    groups = {}
    for one in rounds:
        groups.setdefault((one["setting"], one["program"]), []).append(one)
    return [row_of(group) for group in groups.values()]


@dataclasses.dataclass
class Summary:
    """Errors of one way over rows."""
    rows: int
    mean: float
    median: float
    worst: float
    program: str  # the worst one
    failed: int   # rows of which it has no time


def of_same_state(rows):
    """The rows by those real runs alone that found the machine in the state of its model."""
    return [dataclasses.replace(row, real=row.same_real, errors=row.same_errors) for row in rows if row.same_real]


def summary(rows, way):
    """Of the rows that have a real time; None if the way has none of them."""
    rows = [row for row in rows if row.real]
    known = [row for row in rows if way in row.errors]
    if not known:
        return None
    sizes = [abs(row.errors[way]) for row in known]
    worst = max(known, key=lambda row: abs(row.errors[way]))
    return Summary(len(known), statistics.mean(sizes), statistics.median(sizes), max(sizes), worst.program,
                   sum(way in row.failed and way not in row.errors for row in rows))


def nearer(rows, way, than):
    """(rows in which the way is nearer to the real runs than the other one, of how many that have both)"""
    both = [row for row in rows if row.real and way in row.errors and than in row.errors]
    return sum(abs(row.errors[way]) < abs(row.errors[than]) for row in both), len(both)


def scatter(rows):
    """The mean scatter of the real runs, or None."""
    shares = [row.real.scatter for row in rows if row.real]
    return statistics.mean(shares) if shares else None


def coverage(rows):
    """(real runs within the stated intervals, of how many)."""
    counted = [row.inside for row in rows if row.inside]
    return sum(inside for inside, _ in counted), sum(count for _, count in counted)
