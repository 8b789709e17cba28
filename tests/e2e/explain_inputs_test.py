"""What explain makes of runs that are not plain: receives from any source, sub-communicators, messages
without a byte, threads, runs that did not come to their end. docs/explain.md (Limits) says it."""

import json

import harness

SOURCE = harness.SOURCE / "tests/e2e/programs/explained.c"
NETWORKS = {"datasheet": [], "loggps": ["--network", "loggps"]}

# One rank writes 50,000 bytes four times, each after 200 steps.
WRITES = r"""
#include <mpi.h>
#include "foretrace.h"
static char data[50000];
int main(int argc, char **argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int i = 0; i < 4; ++i) {
    FORETRACE_COMPUTE(200);
    MPI_File_write_at(file, i * sizeof data, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  MPI_Finalize();
}
"""
# 2,000 steps of a microsecond on each rank.
STEPS_BEFORE_BARRIERS = r"""
#include <foretrace.h>
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 20; ++i) {
    FORETRACE_COMPUTE(100);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""
# Where all wait for all: barriers, unless it is compiled with NO_BARRIERS, and calls that cost as
# much as one.
MEETINGS = r"""
#include <mpi.h>
#include "foretrace.h"
#ifdef NO_BARRIERS
#define MPI_Barrier(comm) (void)comm
#endif
static void work(int rank, int round) { FORETRACE_COMPUTE(rank == round % 3 ? 2000 : 500); }
int main(int argc, char **argv) {
  int rank, *data;
  MPI_Comm comm = MPI_COMM_WORLD, other;
  MPI_Win window;
  MPI_File file;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Win_allocate(sizeof *data, sizeof *data, MPI_INFO_NULL, comm, &data, &window);
  MPI_File_open(comm, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int round = 0; round < 4; ++round) {
    work(rank, round);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Barrier(comm);
    work(rank, round + 1);
    MPI_File_sync(file);
    MPI_Ibarrier(comm, &request);
    work(rank, round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    work(rank, round + 2);
    MPI_Comm_dup(comm, &other);
    MPI_Comm_free(&other);
    work(rank, round);
    MPI_Barrier(comm);
    work(rank, round + 1);
  }
  MPI_File_close(&file);
  MPI_Win_free(&window);
  MPI_Finalize();
}
"""
# As somebody writes it by hand: no function has a class.
DISK = """
[machine]
name = "disk"
time_unit = "us"
[compute]
step = 1e-6
""" + "".join(f'[[function]]\nname = "{name}"\n[[function.regime]]\nc = {c}\nk = {k}\ng = "d"\n'
              for name, c, k in (("file_open", 50.0, 0.0), ("file_close", 20.0, 0.0), ("file_write_at", 100.0, 0.01)))


class ExplainInputs(harness.TestCase):
    def recorded(self, what, status=0):
        program = self.directory / "explained"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-g", f"-I{harness.SOURCE / 'include'}", SOURCE, "-o", program,
                             "-lpthread"]))
        trace = self.directory / f"{what}.ftr"
        result = harness.foretrace("record", "-n", 4, "-o", trace, "--", program, what)
        self.assertEqual(result.status == 0, status == 0, str(result))
        return trace

    def explain(self, trace, *words, status=0):
        return self.foretrace("explain", trace, "--machine", harness.T3D, "--compute", "annotated", *words, status=status)

    def explained(self, trace, *words, status=0):
        """The explanation, after what must hold of each: it is that of the simulated run, every picosecond of
        the run lies on the critical path, and the findings bring what they promise."""
        said = json.loads(self.explain(trace, *words, "--json", status=status).out)
        simulated = self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "annotated", *words,
                                   "--json", status=status)
        self.assertEqual(said["time"], json.loads(simulated.out)["time"])
        self.assertAlmostEqual(said["critical_path"]["length"], said["time"], delta=1e-13)
        self.assertEqual(set(said["sensitivity"]) & set("LoG"), set("LoG"))
        for one in said["findings"]:
            if one["check"] and not one["estimated"]:
                alone = self.explain(trace, *words, *one["check"].split(), "--json", status=status)
                self.assertEqual(json.loads(alone.out)["predicted_time"], one["predicted_time"], one["check"])
        return said

    def test_wildcards(self):
        trace = self.recorded("wildcards")
        for network, words in NETWORKS.items():
            with self.subTest(network=network):
                said = self.explained(trace, *words)
                self.assertIn("receives from any source (3) get the messages that they got in the run",
                              " ".join(said["notes"]))
                # Whoever comes first: the first receive waits for the quickest rank.
                said = self.explained(trace, *words, "--wildcards", "arrival")
                self.assertNotIn("from any source", " ".join(said["notes"]))
                refused = self.explain(trace, *words, "--wildcards", "arrival", "--nonblocking", "MPI_Recv", status=2)
                self.assertIn("calls can only be changed where it is known which messages meet", refused.err)

    def test_subcommunicators(self):
        trace = self.recorded("subcommunicators")
        for network, words in NETWORKS.items():
            with self.subTest(network=network):
                said = self.explained(trace, *words)
                best = said["findings"][0]
                self.assertEqual((best["kind"], best["function"], best["ranks"]), ("imbalance", "MPI_Barrier", [3]))
                # Only rank 1 shares its communicator.
                self.assertEqual([wait["ranks"] for wait in said["waits"] if wait["kind"] == "wait at barrier"], [[1]])

    def test_messages_without_a_byte(self):
        trace = self.recorded("empty")
        for network, words in NETWORKS.items():
            with self.subTest(network=network):
                said = self.explained(trace, *words)
                self.assertEqual(said["critical_path"]["bytes"], 0)
                self.assertEqual(said["sensitivity"]["G"]["slope"], 0)
                self.assertGreater(said["sensitivity"]["L"]["slope"], 0)

    def test_threads(self):
        trace = self.recorded("threads")
        for network, words in NETWORKS.items():
            with self.subTest(network=network):
                self.explained(trace, *words)

    def test_files(self):
        """By hand: 50 + 4 x (200 + 100 + 500) + 20 = 3270 us, of which 800 are computed and nothing is a network's."""
        trace = self.record(1, [self.compile(WRITES, "writes"), self.directory / "file"])
        model = self.write("disk.toml", DISK)
        for network, words in NETWORKS.items():
            with self.subTest(network=network):
                said = json.loads(self.foretrace("explain", trace, "--machine", model, "--compute", "annotated", "--json",
                                                 *words, *(["--loggps", "L=2us,o=1us,g=0,G=1ns"] if words else [])).out)
                self.assertEqual(said["time"], 3270e-6)
                self.assertEqual((said["headline"]["communication"], said["headline"]["files"]), (3270e-6, 800e-6))
                self.assertEqual((said["bounds"]["ideal_network"], said["bounds"]["no_files"]), (3270e-6, 800e-6))
                self.assertEqual((said["critical_path"]["files"], said["critical_path"]["compute"]), (2470e-6, 800e-6))
                self.assertEqual((said["efficiency"]["transfer"], said["efficiency"]["files"]), (1, 800 / 3270))
                first = said["findings"][0]
                self.assertEqual((first["kind"], first["function"], first["gain"], first["elsewhere"]),
                                 ("files", "MPI_File_write_at", 2470e-6, True))

    def test_only_barriers_are_removed(self):
        """Without barriers it takes as long as the program that has none, to which nothing else is a barrier."""
        traces = []
        for name, text in (("meetings", MEETINGS), ("without", "#define NO_BARRIERS\n" + MEETINGS)):
            traces.append(self.record(3, [self.compile(text, name), self.directory / "file"], name=f"{name}.ftr"))
        for words in ([], ["--network", "loggps"], ["--network", "flow", "--topology", "crossbar:3"],
                      ["--collectives", "algorithm"]):
            with self.subTest(words=words):
                said, none = (self.explained(trace, *words) for trace in traces)
                self.assertIn("no barriers", [one["kind"] for one in said["findings"]])
                self.assertNotIn("no barriers", [one["kind"] for one in none["findings"]])
                for trace, told in zip(traces, ("36 calls changed", "nothing to change")):
                    result = self.explain(trace, *words, "--remove-barriers", "--json")
                    self.assertIn(f"--remove-barriers: {told}\n", result.err)
                    self.assertEqual(json.loads(result.out)["predicted_time"], none["time"])

    def test_steps_before_barriers_alone(self):
        """They count without the barriers as well, and nobody says that there are none."""
        trace = self.record(2, [self.compile(STEPS_BEFORE_BARRIERS, "steps")])
        result = self.explain(trace, "--remove-barriers", "--json")
        self.assertNotIn("no FORETRACE_COMPUTE seen", result.err)
        self.assertEqual(json.loads(result.out)["predicted_time"], 0.002)

    def test_incomplete(self):
        trace = self.recorded("incomplete", status=1)
        for network, words in NETWORKS.items():
            with self.subTest(network=network):
                said = self.explained(trace, *words, status=1)
                for rank in range(4):
                    self.assertRegex(" ".join(said["notes"]), rf"rank {rank}'s trace ends at event \d+ \(the run did not")


if __name__ == "__main__":
    harness.main()
