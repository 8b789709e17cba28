"""A machine with other times within a node: predict and simulate agree on who stands where and on
every time, whoever says it; a recording holds where its ranks ran.

The machine: between nodes a message takes send 10 us, recv 100 us + 1 us for 1,000 bytes; within
a node 1 us, and 5 us + 0.1 us. A barrier of p ranks takes 50 p us, within a node 4 p us. Each
piece of time below follows from docs/theory.md.
"""

import json

import harness

MACHINE = """[machine]
name = "two paths"
time_unit = "us"
[loggps]
S = 100000
[[function]]
name = "send"
[[function.regime]]
c = 10
[[function]]
name = "recv"
[[function.regime]]
c = 100
k = 0.001
g = "d"
[[function]]
name = "irecv1"
[[function.regime]]
c = 7
[[function]]
name = "barrier"
[[function.regime]]
s = 50
f = "p"
[[function]]
name = "comm_create"
[[function.regime]]
c = 0
[path.node.loggps]
S = 4000
[[path.node.function]]
name = "comm_create"
[[path.node.function.regime]]
c = 0
[[path.node.function]]
name = "send"
[[path.node.function.regime]]
c = 1
[[path.node.function]]
name = "recv"
[[path.node.function.regime]]
c = 5
k = 0.0001
g = "d"
[[path.node.function]]
name = "irecv1"
[[path.node.function.regime]]
c = 0.5
[[path.node.function]]
name = "barrier"
[[path.node.function.regime]]
s = 4
f = "p"
"""


# Rank 0 sends to rank 2.
NODE = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  static char data[1000];
  MPI_Comm node;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(data, 1000, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(data, 1000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  if (rank == 0) printf("%d ranks here\n", size);
  MPI_Comm_free(&node);
  return MPI_Finalize();
}
"""


def send(to, size=1000, tag=0):
    return {"op": "send", "comm": 0, "to": to, "tag": tag, "bytes": size}


def recv(source, size=1000, tag=0):
    return {"op": "recv", "comm": 0, "from": source, "tag": tag, "bytes": size}


def meet(comm):
    return {"op": "barrier", "comm": comm, "bytes": 0}


class Paths(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.machine = self.write("machine.toml", MACHINE)

    def schedule(self, programs, comms=()):
        ranks = len(programs)
        data = {"ranks": ranks, "comms": [list(range(ranks)), *comms], "programs": programs}
        return [harness.test_program("run_schedule"), self.write("run.json", json.dumps(data))]

    def simulated(self, trace, *options, name="out.ftr", status=0):
        predicted = self.directory / name
        result = self.foretrace("simulate", trace, "--machine", self.machine, "--compute", "none",
                                "-o", predicted, *options, status=status)
        return predicted, result.err

    def predicted(self, command, *options, ranks=4, name="predict.ftr"):
        trace = self.directory / name
        self.foretrace("predict", "-n", ranks, "--machine", self.machine, "--compute", "none",
                       "-o", trace, *options, "--", *command)
        return trace

    def leaves(self, trace):
        """By rank the leave times of its calls, in us."""
        return [[fields["leave"] / 1e6 for kind, name, fields in events
                 if kind in ("send", "recv", "collective", "irecv", "complete")
                 and name != "MPI_Comm_create_group"]
                for events in self.events(trace)]

    # Rank 0 sends to 1 and to 2; then those of each node meet, then all do.
    PROGRAMS = [[send(1), send(2), meet(1), meet(0)],
                [recv(0), meet(1), meet(0)],
                [recv(0), meet(2), meet(0)],
                [meet(2), meet(0)]]
    PAIRS = [[0, 1], [2, 3]]

    def test_two_nodes_by_hand(self):
        command = self.schedule(self.PROGRAMS, self.PAIRS)
        trace = self.record(4, command)
        predicted, said = self.simulated(trace, "--ranks-per-node", 2)
        self.assertEqual(said, "")
        # Rank 1 has its message at 5.1; rank 2's was sent at 1 and is there at 102. The pairs
        # meet in 8, all in 200 after the last of them.
        times = [[1, 11, 19, 310], [5.1, 19, 310], [102, 110, 310], [110, 310]]
        self.assertEqual(self.leaves(predicted), times)
        self.assertEqual(self.leaves(self.predicted(command, "--ranks-per-node", 2)), times)

    def test_whoever_says_it(self):
        trace = self.record(4, self.schedule(self.PROGRAMS, self.PAIRS))
        block, _ = self.simulated(trace, "--ranks-per-node", 2)
        nodes = self.write("nodes.txt", "b\nb\na\na\n")
        for words in (("--placement", "block", "--ranks-per-node", 2), ("--placement", nodes)):
            other, said = self.simulated(trace, *words, name="other.ftr")
            self.assertEqual(said, "")
            self.assert_same_ticks(block, other)
        # A predicted run says where its ranks stood.
        again, said = self.simulated(block, name="again.ftr")
        self.assertIn("as in the recorded run (4 ranks on 2 nodes)", said)
        self.assert_same_ticks(block, again)

    def test_recorded_on_one_host(self):
        command = self.schedule(self.PROGRAMS, self.PAIRS)
        trace = self.record(4, command)
        one, said = self.simulated(trace)
        self.assertIn("ranks share nodes as in the recorded run (4 ranks on 1 node)", said)
        # Rank 1 comes to its pair's barrier at 5.1, rank 2 at 1 + 5.1.
        self.assertEqual(self.leaves(one)[0], [1, 2, 13.1, 30.1])
        self.assert_same_ticks(one, self.predicted(command))
        self.assert_same_ticks(one, self.simulated(trace, "--ranks-per-node", 4, name="o.ftr")[0])

    def test_live_ranks_share_a_node(self):
        """As they do where they run; so MPI_Comm_split_type has it, and so do their times."""
        source = self.write("node.c", NODE)
        program = self.directory / "node"
        self.ok(harness.run([f"mpicc.{harness.mpi}", source, "-o", program]))
        for options, ranks, note in (((), 4, "all ranks share a node, as they do on this machine"),
                                     (("--ranks-per-node", 2), 2, "")):
            with self.subTest(options=options):
                live = self.directory / "live.ftr"
                result = self.foretrace("simulate", "-n", 4, "--machine", self.machine, "--compute", "none",
                                        *options, "-o", live, "--", program)
                self.assertIn(f"{ranks} ranks here\n", result.out)
                self.assertIn(note, result.err)
                times = [[leave for leave in rank if leave > 0] for rank in self.leaves(live)]
                # 1 us for the send, 5.1 to receive; or 10 and 101, from one node to the other.
                self.assertEqual(times[0][0], 1 if ranks == 4 else 10)
                predicted = self.leaves(self.predicted([program], *options))
                self.assertEqual(times, [[leave for leave in rank if leave > 0] for rank in predicted])

    def test_a_replay_says_who_shared_memory(self):
        source = self.write("node.c", NODE)
        program = self.directory / "node"
        self.ok(harness.run([f"mpicc.{harness.mpi}", source, "-o", program]))
        trace = self.record(4, [program])
        note = "MPI_Comm_split_type joined the ranks that shared memory where this was recorded"
        self.assertIn(note, self.simulated(trace, "--ranks-per-node", 2)[1])
        self.assertIn(note, self.simulated(trace, "--network", "flow", "--topology", "ring:4", name="f.ftr")[1])
        self.assertNotIn(note, self.simulated(trace, "--ranks-per-node", 4, name="one.ftr")[1])
        self.assertNotIn(note, self.simulated(trace, name="as.ftr")[1])

    def test_posted_and_from_anybody(self):
        """Posting a receive from anybody takes the outer path's irecv1; a wait the message's."""
        programs = [
            [{"op": "irecv", "comm": 0, "from": 1, "tag": 1, "bytes": 8, "request": 1},
             {"op": "irecv", "comm": 0, "from": 1, "any": "source", "tag": 2, "bytes": 8, "request": 2},
             {"op": "irecv", "comm": 0, "from": 2, "tag": 3, "bytes": 8, "request": 3},
             {"op": "wait", "requests": [1, 2, 3]}],
            [send(0, 8, 1), send(0, 8, 2)], [send(0, 8, 3)], []]
        command = self.schedule(programs)
        trace = self.record(4, command)
        simulated, _ = self.simulated(trace, "--ranks-per-node", 2)
        self.assertEqual(self.leaves(simulated)[0][:3], [0.5, 7.5, 14.5])
        self.assert_same_ticks(simulated, self.predicted(command, "--ranks-per-node", 2))

    def test_thresholds(self):
        """5,000 bytes wait for their receiver within a node alone."""
        programs = [[send(1, 5000), send(2, 5000)],
                    [send(3, 8), recv(0, 5000)], [recv(0, 5000)], [recv(1, 8)]]
        command = self.schedule(programs)
        trace = self.record(4, command)
        simulated, _ = self.simulated(trace, "--ranks-per-node", 2)
        # Rank 1 receives from 10 on: T_ssend is the path's send.
        self.assertEqual(self.leaves(simulated)[0], [11, 21])
        self.assert_same_ticks(simulated, self.predicted(command, "--ranks-per-node", 2))

    def test_loggps_takes_the_path(self):
        trace = self.record(4, self.schedule([[send(1)], [recv(0)], [], []]))
        options = ("--network", "loggps", "--loggps", "L=50us,os=3us,or=4us,g=0,G=1ns,S=none")
        apart, _ = self.simulated(trace, *options, "--ranks-per-node", 1)
        self.assertEqual(self.leaves(apart)[1], [3 + 50 + 0.999 + 4])
        # Within the node: o_s = 1, o_r = T_recv(1) = 5.0001, no L, 0.1 ns for each byte.
        together, _ = self.simulated(trace, *options, "--ranks-per-node", 2)
        self.assertAlmostEqual(self.leaves(together)[1][0], 1 + 0.0999 + 5.0001, places=6)

    def test_wrong_words(self):
        trace = self.record(2, self.schedule([[send(1)], [recv(0)]]))
        for words, status, said in (
                (("--placement", "block"), 2, "--ranks-per-node N, or a topology"),
                (("--placement", "nowhere"), 2, "no such file"),
                (("--network", "flow", "--topology", "ring:4?latency=1us&bandwidth=1GB/s",
                  "--ranks-per-node", 2), 2, "write ranks_per_node=2 into it"),
                (("--ranks-per-node", 0), 2, "--ranks-per-node"),
                (("--placement", self.write("short.txt", "a\n")), 1, "short.txt:2")):
            with self.subTest(words=words):
                self.assertIn(said, self.simulated(trace, *words, status=status)[1])
        goal = self.write("p.goal", "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n")
        _, said = self.simulated(goal)
        self.assertIn("nothing says which ranks share one: taken as none", said)
        self.assertIn("does not say on which nodes",
                      self.simulated(goal, "--placement", "recorded", status=2)[1])


if __name__ == "__main__":
    harness.main()
