"""A function that the machine's model calls INVALID: all three ways refuse a run that needs it, or say what they take
in its place, in the same words."""

import harness

PROGRAM = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  double in[100] = {0}, out[100] = {0};
  int rank;
  MPI_Request both[2];
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(in, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(out, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  if (rank == 0) MPI_Send(out, 100, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(in, 100, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 100, MPI_DOUBLE, 1 - rank, 2, in, 100, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(in, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Ibcast(in, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD, &both[0]);
  MPI_Wait(&both[0], MPI_STATUS_IGNORE);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
"""
REFUSED = ("send", "recv", "recvmin", "isend1", "isend2", "irecv1", "irecv2", "sendrecv", "bcast", "ibcast1",
           "comm_dup", "comm_rank")
REPLACED = ("isendoverlap", "irecvoverlap", "gap")
UNUSED = ("ssend", "allreduce", "ireduce1", "comm_split", "comm_size", "file_read_at")


def machine(invalid=None):
    text = '[machine]\nname = "m"\ntime_unit = "us"\n'
    for i, name in enumerate(REFUSED + REPLACED + UNUSED):
        text += f'[[function]]\nname = "{name}"\n'
        text += "valid = false\n" if name == invalid else ""
        text += f"[[function.regime]]\nc = {i + 1}\n"
    return text


class Invalid(harness.TestCase):
    def runs(self, name, *options):
        """Of each way: its status, and what it says of INVALID functions."""
        model = self.write("m.toml", machine(name))
        common = ["--machine", model, "--compute", "none", *options]
        ways = (["simulate", *common, self.trace], ["simulate", "-n", 2, *common, "--", *self.command],
                ["predict", "-n", 2, *common, "-o", self.directory / "p.ftr", "--", *self.command])
        found = []
        for way in ways:
            (self.directory / "p.ftr").unlink(missing_ok=True)
            result = harness.foretrace(*way)
            lines = [line for line in result.err.splitlines() if "INVALID" in line]
            told = "predicted time" in result.out + result.err
            found.append((result.status, told, lines))
        return found

    def setUp(self):
        super().setUp()
        self.command = [self.compile(PROGRAM)]
        self.trace = self.record(2, self.command)

    def test_all_ways_say_the_same(self):
        for name in REFUSED + REPLACED + UNUSED:
            with self.subTest(function=name):
                found = self.runs(name)
                self.assertEqual(found[0], found[1])
                self.assertEqual(found[0], found[2])
                status, told, lines = found[0]
                self.assertEqual((status, told), (1, False) if name in REFUSED else (0, True))
                self.assertEqual(len(lines), name not in UNUSED)
                for line in lines:
                    self.assertEqual(line.count(name + " ("), 1, line)

    def test_allowed(self):
        for name in ("irecv2", "ibcast1", "comm_rank"):
            with self.subTest(function=name):
                for status, told, lines in self.runs(name, "--allow-invalid"):
                    self.assertEqual((status, told, len(lines)), (0, True, 1))
                    self.assertIn(name + " (", lines[0])

    def test_validate_finds_out(self):
        """What such a function does to the prediction is what it is asked for: it needs no --allow-invalid."""
        model = self.write("m.toml", machine("irecv2"))
        said = self.foretrace("validate", "-n", 2, "--runs", 1, "--machine", model, "--", *self.command).out
        self.assertEqual(said.count("note: INVALID in the machine model, and used all the same: irecv2 ("), 2, said)


if __name__ == "__main__":
    harness.main()
