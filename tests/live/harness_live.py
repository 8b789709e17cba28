"""What the tests of `foretrace simulate -- PROGRAM` share, on top of tests/e2e/harness.py."""

import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import harness  # noqa: E402

# What simulate adds to the program's standard output.
OURS = re.compile(r"(predicted|serial) time ")


def said(result):
    """The program's own lines of standard output."""
    return [line for line in result.out.splitlines() if not OURS.match(line)]


class TestCase(harness.TestCase):
    def live_command(self, ranks, command, machine=harness.T3D, compute="annotated",
                     name="live.ftr", options=()):
        return [harness.build / "bin" / "foretrace", "simulate", "-n", ranks, "--machine", machine,
                "--compute", compute, *options, "-o", self.directory / name, "--", *command]

    def live(self, ranks, command, status=0, limit=60, **how):
        """Runs it; the trace's path. self.result is the ended command."""
        rest = {key: how.pop(key) for key in ("env", "text_in") if key in how}
        self.result = self.ok(harness.run(self.live_command(ranks, command, **how), limit=limit,
                                          cwd=self.directory, **rest), status)
        return self.directory / how.get("name", "live.ftr")

    def report(self, trace):
        return json.loads(self.foretrace("report", trace, "--json").out)


def processes_with(text):
    """Process ids whose command line holds `text`; zombies have none."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if text.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found
