"""Foretrace's traces, machine models, simulations and results in Python.

    import foretrace
    trace = foretrace.Trace("run.ftr")
    trace.frame("name", "enter", "leave")
    foretrace.Machine("cray-t3d").times("bcast", ranks=16, bytes=[8, 64, 512])
    foretrace.simulate("run.ftr", machine="cray-t3d").time

docs/python.md tells more. Times of traces are whole picoseconds, those of models and results seconds.
"""

from ._library import Error
from .machine import Machine, machines
from .tool import Simulation, report, results, simulate
from .trace import Trace

__all__ = ["Error", "Machine", "Simulation", "Trace", "machines", "report", "results", "simulate"]
