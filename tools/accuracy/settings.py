"""Where programs run: 2 and 16 ranks in shared memory under each MPI, and the testbed's hosts under Open MPI."""

import dataclasses
import os
import subprocess

from program_list import ROOT, SHARED, TESTBED

TESTBED_TOOL = ROOT / "tools/testbed"
MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
RATES = {"10mbit": "10 Mbit/s", "100mbit": "100 Mbit/s", "1gbit": "1,000 Mbit/s"}
LINKS = {"10mbit": 1.25e6, "100mbit": 12.5e6, "1gbit": 125e6}
# How often a pattern is repeated there: some tenths of a second to two seconds.
TIMES = {"10mbit": 2, "100mbit": 10, "1gbit": 60}


# Connections between hosts are made in MPI_Init, which no time counts: each takes milliseconds where hosts
# share two cores, and no way predicts them.
PRECONNECT = ("--mca", "mpi_preconnect_mpi", "1")


class Failure(Exception):
    """A command that did not do its work; the text says which and why."""


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                OPENBLAS_NUM_THREADS="1")


def call(*words, limit=120, folder=None):
    """What the command printed, errors included; its whole group ends with it."""
    words = [str(word) for word in words]
    process = subprocess.Popen(words, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, text=True,
                               errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        text, _ = process.communicate(timeout=limit)
    except BaseException as stop:
        os.killpg(process.pid, 9)
        process.communicate()
        if isinstance(stop, subprocess.TimeoutExpired):
            raise Failure(f"more than {limit:.0f} s") from None
        raise
    if process.returncode != 0:
        lines = [line for line in text.splitlines() if line.strip()]
        told = next((line for line in lines if line.startswith("foretrace:")), lines[-1] if lines else "no output")
        raise Failure(f"status {process.returncode}: {told[:200]}")
    return text


@dataclasses.dataclass(frozen=True)
class Setting:
    set: str
    mpi: str
    ranks: int
    hosts: int = 0
    rate: str = ""

    @property
    def name(self):
        if self.set == SHARED:
            return f"{SHARED}-{self.mpi}" + (f"-{self.ranks}" if self.ranks > 2 else "")
        return f"{TESTBED}-{self.hosts}x{self.ranks // self.hosts}-{self.rate}"

    @property
    def title(self):
        if self.set == SHARED:
            return f"{self.ranks} ranks in shared memory, {MPI_NAMES[self.mpi]}"
        each = self.ranks // self.hosts
        return f"testbed: {self.hosts} hosts, {each} rank{'s' if each > 1 else ''} each, {RATES[self.rate]}"

    @property
    def bandwidth(self):
        """Of a host's link, in bytes a second; None where ranks share memory."""
        return LINKS.get(self.rate)

    @property
    def networks(self):
        """Those that a recording is simulated on."""
        return ("datasheet", "loggps") if self.set == SHARED else ("datasheet", "loggps", "flow", "packet", "auto")

    def launcher(self):
        """The words that start the ranks of a plain run."""
        if self.set == SHARED:
            return [f"mpirun.{self.mpi}", "-n", str(self.ranks)]
        return [str(TESTBED_TOOL), "--name", "accuracy", "run", "-n", str(self.ranks), *PRECONNECT, "--"]

    def captured(self, tool, command, *options):
        """`foretrace record` or `predict` of what follows, under the setting's launcher."""
        own = [str(tool), command, "--mpi", self.mpi, *map(str, options)]
        return [*own, "-n", str(self.ranks), "--"] if self.set == SHARED else [*self.launcher(), *own, "--"]


# The most telling first: where time is short, the later ones are left out.
SETTINGS = (
    Setting(SHARED, "openmpi", 2),
    Setting(TESTBED, "openmpi", 4, 4, "100mbit"),
    Setting(SHARED, "mpich", 2),
    Setting(TESTBED, "openmpi", 8, 8, "100mbit"),
    Setting(TESTBED, "openmpi", 8, 4, "100mbit"),
    Setting(TESTBED, "openmpi", 4, 4, "1gbit"),
    Setting(TESTBED, "openmpi", 4, 4, "10mbit"),
    Setting(TESTBED, "openmpi", 8, 8, "1gbit"),
    Setting(TESTBED, "openmpi", 8, 8, "10mbit"),
    Setting(TESTBED, "openmpi", 8, 4, "1gbit"),
    Setting(TESTBED, "openmpi", 8, 4, "10mbit"),
    Setting(TESTBED, "openmpi", 16, 8, "100mbit"),
    Setting(SHARED, "openmpi", 16),
    Setting(SHARED, "mpich", 16),
)


class Place:
    """What a setting needs to be there: on the testbed, its hosts. Use it in a `with`."""

    def __init__(self, setting):
        self.setting = setting

    def __enter__(self):
        if self.setting.set == TESTBED:
            self.testbed("down")
            self.testbed("up", "--hosts", self.setting.hosts, "--rate", self.setting.rate)

    def __exit__(self, *_):
        if self.setting.set == TESTBED:
            self.testbed("down")

    @staticmethod
    def testbed(*words):
        return call(TESTBED_TOOL, "--name", "accuracy", *words)


def why_not(setting):
    """Why this machine cannot host the setting, or nothing."""
    if setting.set == SHARED:
        enough = os.cpu_count() >= setting.ranks
        return "" if enough else f"it needs {setting.ranks} cores, and this machine has {os.cpu_count()}"
    told = subprocess.run([TESTBED_TOOL, "check"], capture_output=True, text=True, check=False)
    return told.stderr.strip() if told.returncode else ""
