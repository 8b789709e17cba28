"""SimGrid's SMPI beside Foretrace: calibrated by the procedure that its authors publish, on the same machine.

smpi/calibration.c measures what SimGrid's calibration program measures. `fit` makes of it what its script
makes (shared break points; a straight line in each segment): os and or, the times of MPI_Send and MPI_Recv,
ois, that of MPI_Isend, and factors for latency and bandwidth of the link, so that half a round trip is
os + latency + bytes / bandwidth + or. Above the eager limit a send lasts as long as its transfer, and os and
or are 0. Programs are compiled by smpicc and smpicxx, and run by smpirun. Uses nothing of Foretrace but the
eager limit, which SimGrid's procedure asks its user for.
"""

import bisect
import dataclasses
import math
import pathlib
import re
import shutil
import statistics

from program_list import ROOT, SHARED
from settings import Failure, call

HERE = pathlib.Path(__file__).resolve().parent
CALLS = ("PingPong_Send", "PingPong_Recv", "Isend", "Recv")
MOST_SEGMENTS = 6  # on each side of the eager limit
OUTLIERS = 0.1  # of the calls of one size, at each end: SimGrid's outliers_threshold


def available():
    return all(shutil.which(tool) for tool in ("smpicc", "smpicxx", "smpirun"))


def read_times(text):
    """{function: {bytes: the mean of the calls that are no outliers}}"""
    times = {}
    for line in text.splitlines():
        function, size, _, seconds = line.split(",")
        times.setdefault(function, {}).setdefault(int(size), []).append(float(seconds))

    def middle(values):
        cut = int(OUTLIERS * len(values))
        return statistics.mean(sorted(values)[cut:len(values) - cut])

    return {function: {size: middle(values) for size, values in sorted(sizes.items())}
            for function, sizes in times.items()}


def line_through(points):
    """(at 0, for each byte) of the straight line with the least relative squares, neither below 0."""
    weighted = [(1 / max(y, 1e-12) ** 2, x, y) for x, y in points]
    w = sum(weight for weight, _, _ in weighted)
    wx, wy = sum(weight * x for weight, x, _ in weighted), sum(weight * y for weight, _, y in weighted)
    wxx, wxy = sum(weight * x * x for weight, x, _ in weighted), sum(weight * x * y for weight, x, y in weighted)
    spread = w * wxx - wx * wx
    slope = (w * wxy - wx * wy) / spread if spread > 1e-9 * w * wxx else 0
    base = (wy - slope * wx) / w
    if slope < 0:
        return wy / w, 0
    if base < 0:
        return 0, wxy / wxx
    return base, slope


def misfit(points):
    base, slope = line_through(points)
    return sum(((base + slope * x) / y - 1) ** 2 for x, y in points)


def segments(sizes, curves):
    """The first size of each segment: as many as Bayes' criterion allows, the same for all curves."""
    count = len(sizes)
    if count < 3:
        return sizes[:1]
    cost = {(i, j): sum(misfit([(x, curve[x]) for x in sizes[i:j]]) for curve in curves)
            for i in range(count) for j in range(i + 3, count + 1)}
    best = [{j: (cost[0, j], [0]) for j in range(3, count + 1)}]  # with one segment more each
    while len(best) < MOST_SEGMENTS:
        options = {j: [(before[0] + cost[i, j], before[1] + [i]) for i, before in best[-1].items() if (i, j) in cost]
                   for j in range(3, count + 1)}
        best.append({j: min(each) for j, each in options.items() if each})
    values = count * len(curves)

    def criterion(made):
        return values * math.log(max(made[0], 1e-12) / values) + len(made[1]) * (2 * len(curves) + 1) * math.log(values)

    chosen = min((each[count] for each in best if count in each), key=criterion)
    return [sizes[i] for i in chosen[1]]


@dataclasses.dataclass
class Fit:
    parameters: dict  # {SMPI's name: value}
    latency: float    # of the link, s, and
    bandwidth: float  # B/s: what the factors belong to; the bandwidth is also what messages share


def fit(times, eager, bandwidth=None):
    """Of what read_times gives. `eager`: the first size of a rendezvous. `bandwidth`: of the link in B/s;
    where it is not known, that of the longest messages."""
    sizes = [size for size in times["PingPong_Send"] if all(size in times[each] for each in CALLS)]
    half = {size: (times["PingPong_Send"][size] + times["PingPong_Recv"][size]) / 2 for size in sizes}
    sides = [[size for size in sizes if (size >= eager) == above] for above in (False, True)]
    starts = [start for side in sides
              for start in segments(side, [half, times["Isend"], times["PingPong_Send"], times["Recv"]])]
    starts[0] = 0
    lines = {name: [] for name in ("smpi/os", "smpi/ois", "smpi/or")}
    transfers = []
    for i, start in enumerate(starts):
        here = sizes[bisect.bisect_left(sizes, start):
                     bisect.bisect_left(sizes, starts[i + 1]) if i + 1 < len(starts) else None]

        def line(curve, here=here):
            return line_through([(size, curve[size]) for size in here])

        none = {size: 0 for size in here}
        send, recv = (times["PingPong_Send"], times["Recv"]) if start < eager else (none, none)
        under_way = {size: max(half[size] - send[size] - recv[size], 1e-9) for size in here}
        transfers.append(line(under_way))
        for name, (a, b) in (("smpi/os", line(send)), ("smpi/ois", line(times["Isend"])), ("smpi/or", line(recv))):
            lines[name].append(f"{start}:{a:.9g}:{b:.9g}")
    latency = max(transfers[0][0], 1e-9)
    slopes = [max(slope, 1e-15) for _, slope in transfers]  # a factor cannot be infinite
    bandwidth = bandwidth or 1 / slopes[-1]
    lines["smpi/lat-factor"] = [f"{start}:{base / latency:.9g}" for start, (base, _) in zip(starts, transfers)]
    lines["smpi/bw-factor"] = [f"{start}:{1 / (slope * bandwidth):.9g}" for start, slope in zip(starts, slopes)]
    made = {name: ";".join(each) for name, each in lines.items()}
    made["smpi/async-small-thresh"] = made["smpi/send-is-detached-thresh"] = str(eager)
    for name, function in (("smpi/wtime", "Wtime"), ("smpi/iprobe", "Iprobe"), ("smpi/test", "Test")):
        made[name] = f"{times[function][1]:.9g}"
    return Fit(made, latency, bandwidth)


def platform(fitted, hosts):
    """A star: each host has a link to the switch and one from it. The route's latency is that of two links."""
    settings = "\n".join(f'    <prop id="{name}" value="{value}"/>' for name, value in fitted.parameters.items())
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config>
{settings}
  </config>
  <cluster id="machine" prefix="node" suffix="" radical="0-{hosts - 1}" speed="1Gf" bw="{fitted.bandwidth:.9g}Bps"
           lat="{fitted.latency / 2:.9g}s" sharing_policy="SPLITDUPLEX"/>
</platform>
"""


class Smpi:
    """SMPI on the machine of a setting, its files in `folder`."""

    def __init__(self, folder, setting, eager):
        self.folder, self.setting = pathlib.Path(folder).resolve(), setting
        self.folder.mkdir(parents=True, exist_ok=True)
        self.platform = self.folder / "platform.xml"
        if not self.platform.exists():
            self.calibrate(eager)

    def calibrate(self, eager):
        binary, target = self.folder / "calibration", self.folder / "calibration.csv"
        call(f"mpicc.{self.setting.mpi}", "-O2", HERE / "smpi/calibration.c", "-o", binary)
        # A pass sends 1.8 GB: over the testbed's links one has to do.
        call(*self.setting.launcher(), binary, target, 5 if self.setting.set == SHARED else 1, limit=3600)
        fitted = fit(read_times(target.read_text()), eager, self.setting.bandwidth)
        self.platform.write_text(platform(fitted, self.setting.hosts or self.setting.ranks))

    def compiled(self, program):
        """By SMPI's compilers, with the options of the usual build."""
        own = program.kind == "ours"
        name = program.words[0] if own else "patterns"
        binary = self.folder / name
        if not binary.exists():
            source = next(ROOT.glob(f"programs/*/{name}.cpp")) if own else HERE / "patterns.c"
            words = ["smpicxx", "-std=c++20", "-O3", "-DNDEBUG", f"-I{ROOT / 'programs'}", f"-I{ROOT / 'include'}"]
            call(*(words if own else ["smpicc", "-O1"]), source, "-o", binary, limit=300)
        return binary

    def seconds(self, program, words, limit):
        """What SMPI says that the program takes."""
        nodes = self.setting.hosts or self.setting.ranks
        hosts = self.folder / "hosts"
        hosts.write_text("".join(f"node{rank * nodes // self.setting.ranks}\n" for rank in range(self.setting.ranks)))
        selector = {"openmpi": "ompi", "mpich": "mpich"}[self.setting.mpi]
        settings = {"smpi/host-speed": "1Gf", "smpi/coll-selector": selector, "smpi/display-timing": "yes"}
        text = call("smpirun", "-np", self.setting.ranks, "-platform", self.platform, "-hostfile", hosts,
                    *(f"--cfg={name}:{value}" for name, value in settings.items()), self.compiled(program), *words[1:],
                    limit=limit, folder=self.folder)
        found = re.search(r"Simulated time: (\S+) seconds", text)
        if not found:
            raise Failure("SMPI printed no simulated time")
        return float(found[1])
