"""Traces as arrays: the library writes straight into NumPy's memory, so there is one copy."""

import ctypes
import json
import operator
import os

from ._library import ArgumentError, Error, call, close, needed


class Trace:
    """A trace of any format that Foretrace reads. It is read once when it is opened, and once for each
    call that asks for arrays; nothing but what was asked for is kept."""

    def __init__(self, path):
        self._handle = None
        self.path = os.fspath(path)
        self._handle = call("trace_open", os.fsencode(self.path))
        told = json.loads(call("trace_description", self._handle))
        self.info = told["info"]                # ranks, clock, program, machine, ...
        self.ranks = self.info["ranks"]
        self.complete = told["complete"]        # the run reached its end, and nothing is damaged
        self.names = told["names"]              # of functions, phases and marks
        self.comms = told["comms"]              # members by world rank
        self.sites = [tuple(site) for site in told["sites"]]  # file and offset of a call
        self.kinds = told["kinds"]
        self.collectives = told["collectives"]
        self.damage = told["damage"]
        self.notes = told["notes"]              # of a prediction, and what a file of another format does not tell

    def close(self):
        if self._handle is not None:
            close("trace_close", self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def __repr__(self):
        return f"<foretrace.Trace {self.path!r}: {self.ranks} ranks, {self.rows()} events, clock {self.info['clock']}>"

    def _open(self):
        if self._handle is None:
            raise Error(f"{self.path}: the trace was closed")
        return self._handle

    def _rank(self, rank):
        if rank is None:
            return -1
        try:
            number = operator.index(rank)
        except TypeError:
            raise ArgumentError(f"rank: expected a whole number, found {rank!r}") from None
        if not 0 <= number < self.ranks:
            raise IndexError(f"expected a rank below {self.ranks}, found {rank}")
        return number

    @staticmethod
    def columns(table="events"):
        """The columns of a table, with their types."""
        return dict(line.split() for line in call("columns", table.encode()).decode().splitlines())

    def rows(self, table="events", rank=None):
        return call("trace_rows", self._open(), table.encode(), self._rank(rank))

    def arrays(self, *names, table="events", rank=None):
        """Columns, all if none is named, as a dictionary of NumPy arrays. Times are picoseconds."""
        numpy = needed("numpy", "Trace.arrays")
        known = self.columns(table)
        for name in names:
            if name not in known:
                raise KeyError(f"{name!r} is no column of {table}; there are {', '.join(known)}")
        names = names or tuple(known)
        rows = self.rows(table, rank)
        arrays = {name: numpy.empty(rows, known[name]) for name in names}
        count = len(arrays)
        labels = (ctypes.c_char_p * count)(*(name.encode() for name in arrays))
        places = (ctypes.c_void_p * count)(*(array.ctypes.data for array in arrays.values()))
        call("trace_fill", self._open(), table.encode(), self._rank(rank), labels, places, count)
        return arrays

    def __getitem__(self, name):
        return self.arrays(name)[name]

    def frame(self, *names, table="events", rank=None):
        """The same as a pandas frame; kinds, names and collectives are categories."""
        pandas = needed("pandas", "Trace.frame")
        columns = self.arrays(*names, table=table, rank=rank)
        for name, texts in (("kind", self.kinds), ("name", self.names), ("collective", self.collectives)):
            if table == "events" and name in columns:
                columns[name] = pandas.Categorical.from_codes(columns[name], texts)
        return pandas.DataFrame(columns, copy=False)

    def messages(self):
        """Every message that was sent and received: from whom to whom, tag, bytes, when it was sent, its
        receive was posted and it was received, and the rows of both events."""
        numpy = needed("numpy", "Trace.messages")
        pandas = needed("pandas", "Trace.messages")
        ends = self.arrays(table="ends")
        sent = numpy.flatnonzero(ends["sent"])
        received = numpy.flatnonzero(~ends["sent"])
        _, of_sent, of_received = numpy.intersect1d(ends["message"][sent], ends["message"][received],
                                                    assume_unique=True, return_indices=True)
        order = numpy.argsort(of_sent)
        sent, received = sent[of_sent[order]], received[of_received[order]]
        return pandas.DataFrame({
            "from": ends["rank"][sent], "to": ends["rank"][received], "tag": ends["tag"][received],
            "bytes": ends["bytes"][sent], "sent": ends["at"][sent], "posted": ends["posted"][received],
            "received": ends["at"][received], "sent_event": ends["event"][sent],
            "received_event": ends["event"][received]}, copy=False)
