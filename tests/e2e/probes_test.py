"""Probes wait for their messages, alike in all three ways: the rank that probes goes on with what it
does for the message only once the message has been sent. So do looks at a request
(MPI_Request_get_status), until it is complete."""

import harness

PROGRAM = r"""
#include <mpi.h>
#include <foretrace.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, there = 0, data[4] = {0};
  const int way = argv[1][0], any = argv[2][0] == 'a';
  MPI_Status status;
  MPI_Message message;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 3; ++round) {
    const int tag = any ? MPI_ANY_TAG : 5;
    if (rank == 1) {
      FORETRACE_COMPUTE(2000);
      MPI_Send(data, 4, MPI_INT, 0, 5, MPI_COMM_WORLD);
    } else if (rank == 0) {
      if (way == 'p') MPI_Probe(1, tag, MPI_COMM_WORLD, &status);
      if (way == 'm') MPI_Mprobe(1, tag, MPI_COMM_WORLD, &message, &status);
      for (there = 0; way == 'i' && !there;) MPI_Iprobe(1, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
      for (there = 0; way == 'l' && !there;) MPI_Improbe(1, tag, MPI_COMM_WORLD, &there, &message, &status);
      FORETRACE_COMPUTE(2000);
      if (way == 'm' || way == 'l') MPI_Mrecv(data, 4, MPI_INT, &message, &status);
      else MPI_Recv(data, 4, MPI_INT, 1, 5, MPI_COMM_WORLD, &status);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""

STATUSES = r"""
#include <mpi.h>
#include <foretrace.h>
enum { kSends = 3 };
static MPI_Request requests[kSends + 2];
static MPI_Status status;
static void until_done(int way, MPI_Request *request) {
  for (int flag = 0; !flag;)
    if (way == 'g') MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
    else MPI_Test(request, &flag, &status);
}
int main(int argc, char **argv) {
  int rank, in[2] = {0}, out[2000] = {0};
  const int way = argv[1][0];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request often;
  MPI_Recv_init(in, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &often);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&often);
    FORETRACE_COMPUTE(100 + 400 * (rank == round % 2));
    for (int i = 0; i < kSends; ++i)
      MPI_Isend(out, i == 1 ? 2000 : 1, MPI_INT, 1 - rank, i == 0 ? 1 : 2, MPI_COMM_WORLD, &requests[i]);
    until_done(way, &often);
    if (in[0] != 0) return 1;
    FORETRACE_COMPUTE(50);
    MPI_Wait(&often, &status);
    MPI_Irecv(out, 2000, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[kSends]);
    MPI_Irecv(in, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[kSends + 1]);
    for (int i = 0; i < kSends + 2; ++i) until_done(way, &requests[i]);
    FORETRACE_COMPUTE(10);
    MPI_Waitall(kSends + 2, requests, MPI_STATUSES_IGNORE);
    MPI_Iallreduce(&rank, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    until_done(way, &requests[0]);
    if (in[0] != 1) return 2;
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Isend(in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &requests[1]);
    until_done(way, &requests[1]);
    if (way == 'g') MPI_Request_free(&requests[1]);  /* told, and freed without a wait */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    in[0] = 0;
    out[0] = 0;
  }
  MPI_Request_free(&often);
  MPI_Finalize();
  return 0;
}
"""

# Rank 0 looks until rank 1, which sleeps meanwhile, has sent. Then it looks 1,000 times for what nobody sends.
IN_VAIN = r"""
#include <mpi.h>
#include <unistd.h>
static void look(int mixed, MPI_Request *request, int *flag) {
  int there;
  if (mixed) MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  MPI_Test(request, flag, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv) {
  int rank, flag = 0, data = 0;
  const int mixed = argv[1][0] == 'm', threads = argc > 2;
  MPI_Request request;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &rank);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    usleep(20000);
    MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    while (!flag) look(mixed, &request, &flag);
    MPI_Irecv(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000; ++i) look(mixed, &request, &flag);
    MPI_Send(&data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""
# Rank 0 looks 100 times for what nobody sends, lets another thread send, and does both again.
JOINED = r"""
#include <mpi.h>
#include <pthread.h>
static void *deliver(void *data) {
  MPI_Send(data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  return data;
}
int main(int argc, char **argv) {
  int rank, flag, data = 0;
  MPI_Request request;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &rank);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Irecv(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
  for (int time = 0; time < 2; ++time) {
    if (rank == 1) {
      MPI_Recv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      continue;
    }
    pthread_t thread;
    for (int i = 0; i < 100; ++i) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    pthread_create(&thread, 0, deliver, &time);
    pthread_join(thread, 0);
  }
  if (rank == 0) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""
# Seven times 10 ms of work and a look at what was posted; then a wait for it. Or one that cares.
IGNORED = r"""
#include <mpi.h>
#include <foretrace.h>
#include <string.h>
static double in[2], out[2];
int main(int argc, char **argv) {
  int rank, flag = 0, count = 1;
  const int way = argv[1][0], cares = argc > 2;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (way == 'c') MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests);
  if (way == 'm' && rank == 0) MPI_Isend(out, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, requests);
  if (way == 'm' && rank == 1) MPI_Irecv(in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, requests);
  if (way == 'p' && rank == 0) MPI_Send_init(out, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, requests);
  if (way == 'p' && rank == 1) MPI_Recv_init(in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, requests);
  if (way == 'p') MPI_Start(requests);
  if (way == 'a') {
    count = 2;
    MPI_Irecv(in, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 7; ++i) {
    FORETRACE_COMPUTE(10000);
    for (flag = 0; cares && !flag;) MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
    if (cares && i == 0) {
      FORETRACE_COMPUTE(10);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (cares) continue;
    if (count == 1) MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
    else MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
  }
  FORETRACE_COMPUTE(10);
  if (count == 1) MPI_Wait(requests, MPI_STATUS_IGNORE);
  else MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  if (way == 'p') MPI_Request_free(requests);
  MPI_Finalize();
  return 0;
}
"""
# Rank 0 works in pieces of 1 ms until it finds rank 1's message, which is sent after 10 ms, and then
# does what is left of 20 pieces. Here the message is there before the first piece.
PIECES = r"""
#include <mpi.h>
#include <foretrace.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static double in[2], out[2];
int main(int argc, char **argv) {
  int rank, flag = 0, done = 0, count = 1, index = 2, indices[2] = {2, 2};
  const int way = argv[1][0];
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Message message;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    FORETRACE_COMPUTE(10000);
    if (way == 'c') MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests);
    else MPI_Send(out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    if (strchr("ys", way)) FORETRACE_COMPUTE(5000);
    if (strchr("ays", way)) MPI_Send(out, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    fclose(fopen(argv[2], "w"));
    if (way == 'c') MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
  }
  if (way == 'c') MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests);
  if (strchr("tays", way)) MPI_Irecv(in, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, requests);
  if (strchr("ays", way)) MPI_Irecv(in + 1, 1, MPI_DOUBLE, MPI_ANY_SOURCE, ++count, MPI_COMM_WORLD, requests + 1);
  /* Live, rank 1 may have to wait for its turn. */
  for (int i = 0; i < 3000 && access(argv[2], F_OK) != 0; ++i) usleep(1000);
  while (!flag) {
    FORETRACE_COMPUTE(1000);
    ++done;
    if (way == 'p') MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    else if (way == 'm') MPI_Improbe(1, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    else if (way == 'a') MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
    else if (way == 'y') MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
    else if (way == 's') MPI_Testsome(count, requests, &flag, indices, MPI_STATUSES_IGNORE);
    else MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
  }
  if (way == 'y' && (index != 0 || requests[0] != MPI_REQUEST_NULL)) return 1;
  if (way == 's' && (flag != 1 || indices[0] != 0 || requests[0] != MPI_REQUEST_NULL)) return 1;
  printf("found after %d\n", done);
  if (way == 'p') MPI_Recv(in, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (way == 'm') MPI_Mrecv(in, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
  for (; done < 20; ++done) FORETRACE_COMPUTE(1000);
  MPI_Waitall(way == 'c' || way == 't' ? 1 : 2, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
"""
# Rank 1's message is sent after 2.5 ms, rank 2's after 50.5; here both are there at first, rank 2's before. Rank 0
# works in pieces of 1 ms, and looks for both: "p" by a probe of anybody, "t" by a test for each.
FROM_BOTH = r"""
#include <mpi.h>
#include <foretrace.h>
#include <stdio.h>
#include <unistd.h>
static void await(const char *file) {
  for (int i = 0; i < 3000 && access(file, F_OK) != 0; ++i) usleep(1000);
}
int main(int argc, char **argv) {
  double data[3] = {0};
  int rank, flag, left = 2, done = 0;
  const int probes = argv[1][0] == 'p';
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) {
    if (rank == 1) await(argv[3]);
    FORETRACE_COMPUTE(rank == 1 ? 2500 : 50500);
    MPI_Send(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    fclose(fopen(argv[rank == 1 ? 2 : 3], "w"));
    MPI_Finalize();
    return 0;
  }
  for (int i = 0; !probes && i < 2; ++i) MPI_Irecv(data + i, 1, MPI_DOUBLE, i + 1, 0, MPI_COMM_WORLD, requests + i);
  await(argv[2]);
  while (left > 0) {
    FORETRACE_COMPUTE(1000);
    ++done;
    for (int i = 0; i < (probes ? 1 : 2); ++i) {
      if (!probes && requests[i] == MPI_REQUEST_NULL) continue;
      if (probes) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &status);
      else MPI_Test(requests + i, &flag, &status);
      if (!flag) continue;
      printf("%d after %d\n", status.MPI_SOURCE, done);
      --left;
      if (probes) MPI_Recv(data, 1, MPI_DOUBLE, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
"""
# Rank 1 receives what rank 0 sends when it has looked at that five times: "m" by a message, "c" by a
# collective. "o": with MPI_Pcontrol(0), work and then looks alone.
LOOKED_AT = r"""
#include <mpi.h>
#include <foretrace.h>
#include <stdio.h>
#include <unistd.h>
static double in[100], out[100];
static int none[2];
int main(int argc, char **argv) {
  const int way = argv[1][0];
  int rank, flag = 0, found = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (way == 'o') MPI_Pcontrol(0);
  if (rank == 1) {
    if (way == 'o') FORETRACE_COMPUTE(10000);
    else MPI_Recv(in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == 'm') MPI_Recv(in, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == 'c') {
      MPI_Ialltoallv(out, none, none, MPI_DOUBLE, in, none, none, MPI_DOUBLE, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (way == 'o') MPI_Send(out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
  }
  if (way == 'm') MPI_Isend(out, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  if (way == 'c') MPI_Ialltoallv(out, none, none, MPI_DOUBLE, in, none, none, MPI_DOUBLE, MPI_COMM_WORLD, &request);
  if (way == 'o') {
    MPI_Irecv(in, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    FORETRACE_COMPUTE(1000);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Pcontrol(1);
    MPI_Finalize();
    return 0;
  }
  for (int i = 0; i < 5; ++i) {
    usleep(2000);
    if (argc > 2) FORETRACE_COMPUTE(1000);
    if (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    found += flag;
  }
  printf("found %d times\n", found);
  MPI_Send(out, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  if (!flag) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""
LONG = """
[machine]
ranks = 2
[compute]
step = 1e-6
[[function]]
name = "isend1"
[[function.regime]]
c = 1e-6
[[function]]
name = "recv"
[[function.regime]]
c = 5e-2
[[function]]
name = "recvmin"
[[function.regime]]
c = 3e-6
[[function]]
name = "allreduce"
[[function.regime]]
c = 5e-2
[[function]]
name = "test"
[[function.regime]]
c = 2e-6
"""
LOOKS = """
[machine]
ranks = 2
[[function]]
name = "send"
[[function.regime]]
c = 1e-5
[[function]]
name = "test"
[[function.regime]]
c = 2e-5
[[function]]
name = "iprobe"
[[function.regime]]
c = 3e-5
"""


class Probes(harness.TestCase):
    def setUp(self):
        super().setUp()
        source, self.program = self.write("probes.c", PROGRAM), self.directory / "probes"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-O1", f"-I{harness.SOURCE / 'include'}", source, "-o", self.program]))

    def live(self, command, options=(), name="live.ftr"):
        trace = self.directory / name
        self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "--compute", "annotated", *options, "-o", trace,
                       "--", *command)
        return trace

    def three_ways(self, *arguments):
        command = [self.program, *arguments]
        predicted = self.predict(2, command)
        simulated = self.simulate(self.record(2, command))
        self.assert_same_ticks(predicted, simulated)
        return predicted

    def test_the_wait_is_the_probes(self):
        for way in "pm":
            for tag in ("named", "any"):
                with self.subTest(way=way, tag=tag):
                    trace = self.three_ways(way, tag)
                    self.assert_same_ticks(trace, self.live([self.program, way, tag]))
                    probes = [fields for kind, _, fields in self.events(trace)[0] if kind == "probe"]
                    # The other rank computes 2000 steps of 1 us first.
                    self.assertEqual([probes[0]["enter"], probes[0]["wait"]], [0, 2_000_000_000])

    def test_looks_that_find_it(self):
        """How often they look differs; the run takes as long."""
        for way in "il":
            with self.subTest(way=way):
                ends = [self.events(self.three_ways(each, "named"))[0][-1][2]["enter"] for each in (way, "m")]
                self.assertEqual(*ends)

    def test_looks_at_requests(self):
        """Those who are told that a request is complete go on as those who complete it by MPI_Test:
        under predict and replay, and live."""
        source, program = self.write("statuses.c", STATUSES), self.directory / "statuses"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-O1", f"-I{harness.SOURCE / 'include'}", source, "-o", program]))
        ends = {}
        for way in "tg":
            with self.subTest(way=way):
                command = [program, way]
                trace = self.predict(2, command)
                # How often they look differs.
                ends[way] = [[events[-1][2]["enter"] for events in self.events(each)]
                             for each in (trace, self.simulate(self.record(2, command)), self.live(command))]
                self.assertEqual(ends[way][0], ends[way][1])
        self.assertEqual(ends["g"], ends["t"])
        completed = [call for kind, call, _ in self.events(trace)[0] if kind == "complete"]
        self.assertEqual(completed, (["MPI_Request_get_status"] * 8 + ["MPI_Wait"]) * 3)

    def looking(self, run):
        """The trace of a run in which rank 0 had the core for some time before the message came."""
        for _ in range(5):
            trace = run()
            calls = [fields.get("count", 1) for kind, _, fields in self.events(trace)[0] if kind == "call"]
            if sum(calls) > 2500:
                break
        return trace

    def test_looks_in_vain(self):
        """A row of them is waiting if it ends by finding something, else each takes its time."""
        source, program = self.write("in_vain.c", IN_VAIN), self.directory / "in_vain"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-O1", source, "-o", program]))
        machine = self.write("looks.toml", LOOKS)
        ways = (["plain"], ["MPI_Test"], 20_000_000), (["mixed"], ["MPI_Iprobe", "MPI_Test"], 50_000_000)
        # A program that may have threads, as all of mpi4py's, and makes its calls from one.
        ways += tuple(([*way, "threads"], names, cost) for way, names, cost in ways)
        for way, names, cost in ways:
            predicted = self.looking(lambda: self.predict(2, [program, *way], machine, compute="measured"))
            recorded = self.looking(lambda: self.record(2, [program, *way]))
            for trace in (predicted, self.simulate(recorded, machine, compute="measured"),
                          self.simulate(predicted, machine, compute="measured", name="again.ftr")):
                with self.subTest(way=way, trace=trace.name):
                    events = self.events(trace)[0]
                    posts = [i for i, (kind, _, _) in enumerate(events) if kind == "irecv"]
                    found, sent = ([kind for kind, _, _ in events].index(kind) for kind in ("complete", "send"))
                    waiting, working = events[posts[0] + 1:found], events[posts[1] + 1:sent]
                    for row in (waiting, working):
                        self.assertEqual(sorted({call for _, call, _ in row}), names)
                    # The row that waits: most looks take nothing and compute nothing.
                    looks = sum(fields.get("count", 1) for _, _, fields in waiting)
                    taken = sum(fields["leave"] - fields["enter"] + fields.get("compute", 0)
                                for _, _, fields in waiting)
                    # Under predict the first one waits for the sender, which is behind.
                    if trace.name == "simulate.ftr":
                        self.assertGreater(looks, 100)
                        self.assertLess(taken, looks * cost / len(names) / 3)
                    self.assertEqual(events[found][2]["enter"] - events[found - 1][2]["leave"],
                                     events[found][2].get("compute", 0))
                    # The row that works: each its own time, and what was computed.
                    computed = sum(fields.get("compute", 0) for _, _, fields in [*working, events[sent]])
                    self.assertEqual(sum(fields.get("count", 1) for _, _, fields in working), 1000 * len(names))
                    self.assertEqual(events[sent][2]["enter"] - events[posts[1]][2]["leave"], 1000 * cost + computed)
            ends = [[events[-1][2]["enter"] for events in self.events(each)]
                    for each in (predicted, self.directory / "again.ftr")]
            self.assertEqual(*ends)

    def test_looks_that_nobody_cares_for(self):
        """A program that looks between pieces of its work, and waits in the end whatever it saw, does
        not wait where the transfer happened to be over here: that takes 50 ms there."""
        program = self.compile(IGNORED)
        machine = self.write("long.toml", LONG)
        # Work and looks: 7 (10 ms + 2 us) + 10 us; a message is posted in 1 us, and completed in 3.
        for way, end in (("message", 70_028_000_000), ("persistent", 70_028_000_000),
                         ("all", 70_028_000_000), ("collective", 70_024_000_000)):
            command = [program, way]
            predicted = self.predict(2, command, machine)
            recorded = self.record(2, command)
            for trace in (predicted, self.simulate(recorded, machine)):
                with self.subTest(way=way, trace=trace.name):
                    events = self.events(trace)[1]
                    self.assertEqual([call for kind, call, _ in events if kind == "complete"],
                                     ["MPI_Waitall" if way == "all" else "MPI_Wait"])
                    self.assertEqual(sum(fields.get("count", 1) for kind, call, fields in events
                                         if kind == "call" and call.startswith("MPI_Test")), 7)
                    self.assertEqual(events[-1][2]["enter"], end)
            live = self.directory / "live.ftr"
            self.foretrace("simulate", "-n", 2, "--machine", machine, "--compute", "annotated", "-o", live, "--", *command)
            # There one look finds it, and takes no time of its own.
            self.assertEqual(self.events(live)[1][-1][2]["enter"], end - 2_000_000)

    def test_works_until_it_is_there(self):
        """As live: what is there too early here is not found before it is there on the target."""
        program = self.compile(PIECES)
        machine = self.write("long.toml", LONG.replace("5e-2", "1e-4"))
        # Sent at 10 ms, there at 10.1 ms; a probe finds it when it is sent.
        for way, pieces in (("test", 11), ("all", 11), ("collective", 11), ("y: any", 11), ("some", 11), ("probe", 10), ("mprobe", 10)):
            with self.subTest(way=way):
                predicted = self.predict(2, [program, way, self.directory / f"{way}.1"], machine)
                self.assertEqual(self.result.out, f"found after {pieces}\n")
                events = self.events(predicted)[0]
                # All of it is work: 20 pieces, and some microseconds in calls.
                self.assertEqual(events[-1][2]["enter"] // 1_000_000_000, 20)
                self.assertEqual([self.events(each)[0][-1][2]["enter"]
                                  for each in (predicted, self.simulate(predicted, machine, name="again.ftr"))],
                                 2 * [events[-1][2]["enter"]])
                live = self.foretrace("simulate", "-n", 2, "--machine", machine, "--compute", "annotated", "--",
                                      program, way, self.directory / f"{way}.2")
                self.assertIn(f"found after {pieces}\n", live.out)

    def test_works_until_each_is_there(self):
        """In the order of the target, and whatever else was looked at since the last piece."""
        program = self.compile(FROM_BOTH)
        machine = self.write("long.toml", LONG.replace("5e-2", "1e-4").replace("ranks = 2", "ranks = 3"))
        for way in ("probe", "tests"):
            with self.subTest(way=way):
                self.predict(3, [program, way, *(self.directory / f"{way}.{rank}" for rank in (1, 2))], machine)
                self.assertEqual(self.result.out, "1 after 3\n2 after 51\n")

    def test_looks_wait_for_nobody(self):
        """Where MPI has completed here what waits for another rank on the target."""
        program = self.compile(LOOKED_AT)
        machine = self.write("strict.toml", LONG.replace("5e-2", "1e-4") + "[loggps]\nS = 64\n")
        for command in ([program, "message", "work"], [program, "message"], [program, "collective", "work"],
                        [program, "collective"]):
            with self.subTest(command=command[1:]):
                self.predict(2, command, machine, limit=20)
                self.assertEqual(self.result.out, "found 0 times\n")
        trace = self.predict(2, [program, "off"], machine, limit=20)
        self.assertEqual(self.events(trace)[0][-1][2]["enter"] // 1_000_000_000, 10)

    def test_looks_that_somebody_cares_for(self):
        """Another call comes before the next look: the program used what it found."""
        program = self.compile(IGNORED)
        machine = self.write("long.toml", LONG)
        command = [program, "message", "cares"]
        for trace in (self.predict(2, command, machine), self.simulate(self.record(2, command), machine)):
            with self.subTest(trace=trace.name):
                events = self.events(trace)[1]
                found = next(i for i, (kind, _, _) in enumerate(events) if kind == "complete")
                self.assertEqual((events[found][1], events[found + 1][1]), ("MPI_Testall", "MPI_Barrier"))
                self.assertEqual(events[found][2]["leave"], 50_000_000_000)

    def test_a_second_thread_ends_the_row(self):
        source, program = self.write("joined.c", JOINED), self.directory / "joined"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-O1", "-pthread", source, "-o", program]))
        machine = self.write("looks.toml", LOOKS)
        predicted = self.predict(2, [program], machine, compute="none")
        for trace in (predicted, self.simulate(self.record(2, [program]), machine, compute="none")):
            with self.subTest(trace=trace.name):
                # 100 looks of 20 us, a send of 10 us, and again.
                sends = [fields["enter"] for kind, _, fields in self.events(trace)[0] if kind == "send"]
                self.assertEqual(sends, [2_000_000_000, 4_010_000_000])

    def test_on_a_network(self):
        """A recording, and the trace of a live run, replayed."""
        options = ("--network", "loggps", "--loggps", "L=10us,o=1us,g=0,G=1ns,S=65536")
        for way in "pm":
            with self.subTest(way=way):
                live = self.live([self.program, way, "any"], options)
                for trace in (self.record(2, [self.program, way, "any"]), live):
                    again = self.directory / "again.ftr"
                    self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "annotated", *options, "-o", again)
                    self.assert_same_ticks(live, again)


if __name__ == "__main__":
    harness.main()
