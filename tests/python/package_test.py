"""The Python package, against what the command prints of the same traces, models and simulations.

    package_test.py --mpi openmpi|mpich --build BUILD
"""

import json
import os
import pathlib
import subprocess
import sys
import tracemalloc
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import harness  # noqa: E402

# What a field has where a line of text leaves it out.
USUAL = {"to": -1, "from": -1, "root": -1, "count": 1}
DEFINITIONS = ("foretrace-trace", "info", "incomplete", "name", "comm", "site", "in")
# As it is, with what a call completes.
BY_HAND = """foretrace-trace 1
info {"ranks":3,"clock":"virtual"}
rank 0
name "MPI_Isend"
name "MPI_Waitall"
name "MPI_Send"
comm 0 0 1 2
isend MPI_Isend enter=10 leave=11 request=1 to=1 to_tag=7 to_bytes=800
isend MPI_Isend enter=11 leave=12 request=2 to=2 to_tag=7 to_bytes=80
complete MPI_Waitall enter=12 leave=40 done=1;2
send MPI_Send enter=50 leave=60 to=1 to_tag=7 to_bytes=8
rank 1
name "MPI_Irecv"
name "MPI_Wait"
name "MPI_Recv"
comm 0 0 1 2
irecv MPI_Irecv enter=5 leave=6 request=1 from_bytes=1000 any_source=1 from_tag=7
complete MPI_Wait enter=20 leave=35 wait=3 done=1,0,7,800
recv MPI_Recv enter=36 leave=70 from=0 from_tag=7 from_bytes=8
rank 2
"""


def plain(value):
    return value.item() if hasattr(value, "item") else value


class Package(harness.TestCase):
    def text_of(self, trace):
        """Each event's fields, by the text format's names; completions as (request, from, tag, bytes, cancelled)."""
        self.foretrace("convert", trace, self.directory / "as.txt")
        rank, events = -1, []
        for line in (self.directory / "as.txt").read_text().splitlines():
            words = line.split()
            if words[0] == "rank":
                rank = int(words[1])
            elif words[0] not in DEFINITIONS:
                fields = dict(word.split("=", 1) for word in words[2:])
                events.append({"rank": rank, "kind": words[0], "name": words[1], **fields})
        return events

    def assert_same(self, trace):
        with foretrace.Trace(trace) as opened:
            arrays, modes = opened.arrays(), ("standard", "synchronous", "buffered", "ready")
            done = opened.frame(table="completions")
            text = self.text_of(trace)
            self.assertEqual(opened.rows(), len(text))
            for number, event in enumerate(text):
                got = {name: plain(array[number]) for name, array in arrays.items()}
                got["kind"] = opened.kinds[got["kind"]]
                self.assertEqual((got["rank"], got["kind"]), (event["rank"], event["kind"]))
                if not event["name"].isdigit():
                    self.assertEqual(opened.names[got["name"]], event["name"])
                for name in ("compute", "wait", "to", "to_tag", "from", "from_tag", "root", "request", "taken",
                             "any_source", "any_tag", "count"):
                    self.assertEqual(int(got[name]), int(event.get(name, USUAL.get(name, 0))), (number, name, event))
                if opened.info["clock"] != "cpu":
                    self.assertEqual((got["enter"], got["leave"]), (int(event.get("enter", 0)), int(event.get("leave", 0))))
                self.assertEqual(modes[got["mode"]], event.get("mode", "standard"))
                if "collective" in event:
                    self.assertEqual(opened.collectives[got["collective"]], event["collective"])
                for name in ("to_bytes", "from_bytes", "bytes"):
                    self.assertEqual(got[name], int(event.get(name, 0)))
                self.assertEqual(got["comm"] >= 0, event["kind"] in opened.kinds[3:8] + ["collective", "icollective", "probe"]
                                 or (event["kind"] == "call" and ("to" in event or "bytes" in event)), event)
                self.assertEqual(got["site"] >= 0, "site" in event)
                said = [each.split(",") for each in event.get("done", "").split(";") if each]
                mine = done[done.event == number]
                self.assertEqual([str(request) for request in mine.request], [each[0] for each in said])
                self.assertEqual(list(mine.cancelled), ["cancelled" in each for each in said])
                for row, each in zip(mine.itertuples(index=False), said):
                    if len(each) >= 4:
                        self.assertEqual([row[3], row.tag, row.bytes], [int(word) for word in each[1:4]])
            return opened.info

    def test_traces_are_what_the_text_says(self):
        life = [harness.paper_program("life"), "--rows", 23, "--cols", 21, "--iters", 3]
        odd = [harness.test_program("odd_forms"), "wildcards_waitsome"]
        for trace in (self.record(3, life), self.predict(3, life), self.predict(3, odd, name="odd.ftr")):
            with self.subTest(trace=trace.name):
                self.assertEqual(self.assert_same(trace)["program"].split()[0].split("/")[-1],
                                 "odd_forms" if trace.name == "odd.ftr" else "life")

    def test_messages_are_joined(self):
        trace = self.predict(3, [harness.paper_program("life"), "--rows", 23, "--cols", 21, "--iters", 3])
        with foretrace.Trace(trace) as opened:
            messages, events = opened.messages(), opened.frame()
            told = json.loads(self.foretrace("report", trace, "--json").out)
            self.assertEqual((len(messages), messages.bytes.sum()), (told["messages"], told["message_bytes"]))
            sends, receives = events.iloc[messages.sent_event], events.iloc[messages.received_event]
            self.assertEqual(list(sends["to"]), list(messages["to"]))
            self.assertEqual(list(receives["from"]), list(messages["from"]))
            self.assertTrue((messages.sent <= messages.received).all())
            # As MPI has it: messages of one pair and tag do not overtake each other.
            for _, pair in messages.groupby(["from", "to", "tag"]):
                self.assertTrue(pair.received.is_monotonic_increasing)

    def test_posted_messages_and_other_formats(self):
        text = self.write("hand.txt", BY_HAND)
        self.assert_same(text)
        with foretrace.Trace(text) as opened:
            self.assertEqual(opened.messages().values.tolist(),
                             # from to tag bytes sent posted received, rows
                             [[0, 1, 7, 800, 10, 5, 35, 0, 5], [0, 1, 7, 8, 50, 36, 70, 3, 6]])
            self.assertEqual(opened.rows(rank=2), 0)
            self.assertEqual(opened.arrays("leave", rank=1)["leave"].tolist(), [6, 35, 70])
            self.assertEqual(opened.comms, [[0, 1, 2]])

    def test_models_and_simulations_are_the_commands(self):
        machine = foretrace.Machine("cray-t3d")
        for function in machine.functions:
            said = json.loads(self.foretrace("calc", "cray-t3d", function, "--ranks", "2,7,128", "--bytes",
                                             "0,8,4096", "--json").out)
            for bound in ("min", "avg", "max"):
                mine = machine.times(function, ranks=[each["ranks"] for each in said],
                                     bytes=[each["bytes"] for each in said], bound=bound)
                self.assertEqual(mine.tolist(), [each[bound] for each in said])
        self.assertEqual(machine.times("MPI_Barrier", ranks=2), machine.times("barrier", ranks=[2])[0])
        self.assertEqual(machine.times("bcast", ranks=[[2], [4]], bytes=[8, 16, 32]).shape, (2, 3))
        trace = self.record(3, [harness.paper_program("life"), "--rows", 23, "--cols", 21, "--iters", 3])
        predicted = self.directory / "p.ftr"
        mine = foretrace.simulate(trace, machine=machine, compute="none", network="loggps", output=predicted)
        said = json.loads(self.foretrace("simulate", trace, "--machine", "cray-t3d", "--compute", "none", "--network",
                                         "loggps", "--json").out)
        self.assertEqual((mine.time, mine.states), (said["time"], said["states"]))
        self.assertEqual(list(mine.per_rank().time), [each["time"] for each in said["per_rank"]])
        with mine.trace() as again:
            self.assertEqual(again["enter"].max() * 1e-12, mine.time)
            self.assertEqual(foretrace.report(again)["time"], mine.time)
        live = foretrace.simulate([harness.paper_program("life"), "--iters", 2], n=3, machine=machine, compute="none")
        self.assertEqual((live.ranks, live.time > 0), (3, True))

    def test_an_array_is_one_copy(self):
        goal = self.write("many.goal", "num_ranks 2\nrank 0 { repeat 40000 { send 8b to 1 } }\n"
                                       "rank 1 { repeat 40000 { recv 8b from 0 } }\n")
        trace = self.directory / "many.ftr"
        self.foretrace("simulate", goal, "--machine", "cray-t3d", "-o", trace)
        with foretrace.Trace(trace) as opened:
            opened.frame("leave", rank=0)  # pandas itself takes memory at first
            for take, share in ((opened.arrays, 1), (opened.frame, 1)):
                tracemalloc.start()
                taken = take("enter", "leave", "bytes")
                _, most = tracemalloc.get_traced_memory()
                tracemalloc.stop()
                own = 3 * 8 * opened.rows()
                self.assertGreater(opened.rows(), 80000)
                self.assertLess(most, share * own + 100_000, take)
                del taken

    def test_without_numpy_it_says_so(self):
        code = ("import sys; sys.modules['numpy'] = sys.modules['pandas'] = None\n"
                "import foretrace; trace = foretrace.Trace(sys.argv[1]); print(trace.rows(), trace.names[0])\n"
                "print(foretrace.simulate('x.goal', machine='cray-t3d').time)\n"
                "trace.arrays()")
        self.write("hand.txt", BY_HAND)
        self.write("x.goal", "num_ranks 1\nrank 0 { calc 1s }\n")
        done = subprocess.run([sys.executable, "-c", code, "hand.txt"], cwd=self.directory, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGE}, timeout=60)
        self.assertEqual(done.stdout, "7 MPI_Isend\n1.0\n", done.stderr)
        self.assertIn("ImportError: foretrace: Trace.arrays needs the module numpy, which this Python does not have; "
                      "install it (Debian: python3-numpy", done.stderr)

    def test_what_is_wrong_is_said(self):
        trace = foretrace.Trace(self.write("hand.txt", BY_HAND))
        machine = foretrace.Machine("cray-t3d")
        self.write("broken.ftr", b"no trace")
        for wrong, kind, said in (
                (lambda: foretrace.Trace(self.directory / "none.ftr"), foretrace.Error, "none.ftr: cannot open"),
                (lambda: foretrace.Trace(self.directory / "broken.ftr"), foretrace.Error, "broken.ftr"),
                (lambda: trace.arrays("entered"), KeyError, "'entered' is no column of events; there are rank,"),
                (lambda: trace.arrays(table="event"), foretrace.Error, "there is no table event"),
                (lambda: trace.arrays(rank=3), IndexError, "expected a rank below 3, found 3"),
                (lambda: machine.times("nonsense"), foretrace.Error, "'nonsense' is not in the machine model"),
                (lambda: trace.arrays(rank=0.5), ValueError, "rank: expected a whole number, found 0.5"),
                (lambda: machine.times("send", ranks=0), ValueError, "ranks: expected whole numbers from 1 to 67108864, found 0"),
                (lambda: machine.times("send", ranks=[2, 2.5]), ValueError, "ranks: expected whole numbers from 1 to 67108864, found 2.5"),
                (lambda: machine.times("send", ranks="2"), ValueError, "found '2'"),
                (lambda: machine.times("send", bytes=-1), ValueError, "bytes: expected whole numbers from 0 to 9223372036854775807, found -1"),
                (lambda: machine.times("send", bytes=[8, -0.5]), ValueError, "found -0.5"),
                (lambda: machine.times("send", bytes=float("nan")), ValueError, "found nan"),
                (lambda: machine.times("send", bytes=1e300), ValueError, "found 1e+300"),
                (lambda: machine.times("send", bound="mean"), ValueError, "bound: expected min, avg or max, found 'mean'"),
                (lambda: foretrace.Machine("cray-t4d"), foretrace.Error, "there is no machine 'cray-t4d'; there are "),
                (lambda: foretrace.simulate(trace.path, machine="none"), foretrace.Error, "no machine of that name"),
                (lambda: foretrace.simulate(trace.path, machine="cray-t3d", nonsense=3), foretrace.Error, "--nonsense")):
            with self.assertRaises(kind) as raised:
                wrong()
            self.assertIn(said, str(raised.exception))
        trace.close()
        with self.assertRaisesRegex(foretrace.Error, "the trace was closed"):
            trace.rows()
        # A file that another one has replaced meanwhile.
        whole = self.directory / "whole.ftr"
        self.foretrace("convert", trace.path, whole)
        with foretrace.Trace(whole) as opened:
            self.assertEqual(opened["leave"].size, 7)


if __name__ == "__main__":
    build = pathlib.Path(sys.argv[sys.argv.index("--build") + 1]).resolve()
    PACKAGE = str(build / "lib" / "foretrace" / "python")
    sys.path.insert(0, PACKAGE)
    import foretrace
    harness.main()
