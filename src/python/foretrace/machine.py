"""Machine models: what a call takes there."""

import json
import os

from ._library import PREFIX, ArgumentError, Error, call, close, needed, whole

_MODELS = PREFIX / "share" / "foretrace" / "machines"
_MOST_RANKS = 1 << 26
_MOST_BYTES = (1 << 63) - 1


def machines():
    """The names of the models that come with Foretrace."""
    return sorted(path.stem for path in _MODELS.glob("*.toml"))


class Machine:
    """A machine model: a file, or the name of one that comes with Foretrace."""

    def __init__(self, name):
        self._handle = None
        path = os.fspath(name)
        if not os.path.exists(path) and os.sep not in path:
            if path not in machines():
                raise Error(f"there is no machine {path!r}; there are {', '.join(machines())}")
            path = os.fspath(_MODELS / f"{path}.toml")
        self.path = path
        self._handle = call("machine_open", os.fsencode(path))
        told = json.loads(call("machine_description", self._handle))
        self.name, self.ranks, self.functions = told["name"], told["ranks"], told["functions"]
        self.info = told

    def __del__(self):
        if self._handle is not None:
            close("machine_close", self._handle)

    def __repr__(self):
        return f"<foretrace.Machine {self.name!r}: {len(self.functions)} functions>"

    def times(self, function, ranks=2, bytes=0, bound="avg"):
        """Seconds of a function, such as "bcast" or "MPI_Bcast". Ranks and bytes may be numbers or arrays, which
        are broadcast against each other; the answer has their shape."""
        numpy = needed("numpy", "Machine.times")
        shape_of_ranks, shape_of_bytes = numpy.broadcast_arrays(
            whole("Machine.times", "ranks", ranks, 1, _MOST_RANKS), whole("Machine.times", "bytes", bytes, 0, _MOST_BYTES))
        if bound not in ("min", "avg", "max"):
            raise ArgumentError(f"Machine.times: bound: expected min, avg or max, found {bound!r}")
        function = function.lower()[4:] if function.lower().startswith("mpi_") else function
        each_ranks = numpy.ascontiguousarray(shape_of_ranks, numpy.int64)
        each_bytes = numpy.ascontiguousarray(shape_of_bytes, numpy.uint64)
        seconds = numpy.empty(shape_of_ranks.shape, numpy.float64)
        call("machine_times", self._handle, function.encode(), bound.encode(), each_ranks.ctypes.data,
             each_bytes.ctypes.data, seconds.ctypes.data, seconds.size)
        return seconds if seconds.shape else float(seconds)
