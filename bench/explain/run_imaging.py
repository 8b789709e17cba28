#!/usr/bin/env python3
"""The imaging programs on hosts of a testbed: what explain promises for their own fixes, and what these bring.

    run_imaging.py BUILD [--out FOLDER] [--hosts 2] [--rate 1gbit] [--runs 5] [--budget 60]

The machine is measured on the testbed (tools/testbed, root), the program recorded there before and after
the fix, and both are run plainly, in turns. Times are from the end of the barrier after MPI_Init to the
last rank's MPI_Finalize.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/accuracy"))

import runs  # noqa: E402
from runs import call  # noqa: E402
from settings import TESTBED, Place, Setting  # noqa: E402

# Program, its arguments, and its own remedy for what explain finds first.
CASES = [("registration", "--rows 4000 --cols 3000 --spacing 50 --iters 3", "--reply late"),
         ("registration", "--rows 4000 --cols 3000 --spacing 50 --iters 3 --reply late --imbalance 200", "--share weighted"),
         ("compositing", "--rows 256 --cols 256 --spheres 256 --frames 8 --imbalance 100", "--split lines")]


class Bench:
    def __init__(self, options, setting, folder):
        self.options, self.setting, self.folder = options, setting, folder
        self.clock = runs.build_tools(folder, setting.mpi) / "clock.so"
        self.tool = pathlib.Path(options.build).resolve() / "bin/foretrace"
        self.model = folder / "testbed.toml"

    def measure(self):
        if not self.model.exists():
            call(self.tool, "measure", "-n", self.setting.ranks, "--mpi", self.setting.mpi, "-o", self.model,
                 "--launch", " ".join(self.setting.launcher()), "--keep-invalid", "--budget", self.options.budget,
                 limit=4 * self.options.budget + 120)

    def explained(self, words):
        """By network."""
        trace = self.folder / "run.ftr"
        trace.unlink(missing_ok=True)
        call(*self.setting.captured(self.tool, "record", "-o", trace), *words, limit=60, folder=self.folder)
        said, found = self.folder / "said.json", {}
        # A short measurement may leave the hosts' topology out.
        for network in ("datasheet", "flow") if "[topology]" in self.model.read_text() else ("datasheet",):
            call(self.tool, "explain", trace, "--machine", self.model, "--allow-invalid", "--network", network,
                 "-o", said)
            found[network] = json.loads(said.read_text())
        return found

    def real(self, words):
        clock = self.folder / "clock"
        clock.unlink(missing_ok=True)
        call(*self.setting.launcher(), "env", f"LD_PRELOAD={self.clock}", f"ACCURACY_CLOCK={clock}",
             *words, limit=60, folder=self.folder)
        return runs.real_seconds(clock.read_text())

    def check(self, program, arguments, remedy):
        words = [pathlib.Path(self.options.build).resolve() / "programs/openmpi" / program, *arguments.split()]
        mended = [*words, *remedy.split()]
        before, after = self.explained(words), self.explained(mended)
        times = ([], [])
        for _ in range(self.options.runs):
            for into, command in zip(times, (words, mended)):
                into.append(self.real(command))
        print(f"{program} {arguments}; remedy: {remedy}")
        for network, was in before.items():
            first = was["findings"][0]
            now = after[network]["time"]
            print(f"  {network}: {was['time'] * 1e3:.1f} ms; first: {first['kind']} at {first['place'] or first['function']}, "
                  f"promised {-first['gain'] / was['time']:+.1%}; remedy predicted {now / was['time'] - 1:+.1%}")
        was, now = (statistics.median(some) for some in times)
        print(f"  measured: {was * 1e3:.1f} ms, with the remedy {now * 1e3:.1f} ms ({now / was - 1:+.1%}); "
              f"from {min(times[0]) * 1e3:.1f} to {max(times[0]) * 1e3:.1f}, and from {min(times[1]) * 1e3:.1f} to "
              f"{max(times[1]) * 1e3:.1f} ms; load {os.getloadavg()[0]:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--out", help="keeps the model here, and takes the one that is there")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--budget", type=int, default=60, help="seconds to measure the machine")
    options = parser.parse_args()
    setting = Setting(TESTBED, "openmpi", options.hosts, options.hosts, options.rate)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.out or scratch).resolve()
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        with Place(setting):
            bench = Bench(options, setting, folder)
            bench.measure()
            for case in CASES:
                bench.check(*case)


if __name__ == "__main__":
    main()
