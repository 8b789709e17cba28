/* Graphs and distributed graphs. */
#include "check.h"

/* Node i has edges to i + 1 and i - 1 in a ring of n nodes. */
static void ring(int n) {
  int index[64], edges[128], got_index[64], got_edges[128], nodes, count, status;
  for (int i = 0; i < n; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + 1) % n;
    edges[2 * i + 1] = (i + n - 1) % n;
  }
  MPI_Comm comm;
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &comm));
  CHECK((comm == MPI_COMM_NULL) == (check_rank >= n), "");
  if (comm == MPI_COMM_NULL) return;
  MPI_Topo_test(comm, &status);
  CHECK_EQUAL(status, MPI_GRAPH);
  MPI_Graphdims_get(comm, &nodes, &count);
  CHECK_EQUAL(nodes, n);
  CHECK_EQUAL(count, 2 * n);
  MPI_Graph_get(comm, n, 2 * n, got_index, got_edges);
  CHECK(!memcmp(index, got_index, n * sizeof(int)), "index");
  CHECK(!memcmp(edges, got_edges, 2 * n * sizeof(int)), "edges");
  for (int i = 0; i < n; ++i) {
    MPI_Graph_neighbors_count(comm, i, &count);
    CHECK_EQUAL(count, 2);
    MPI_Graph_neighbors(comm, i, 2, got_edges);
    CHECK(got_edges[0] == (i + 1) % n && got_edges[1] == (i + n - 1) % n, "of %d", i);
  }
  MPI_Comm_free(&comm);
}

static int compare(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

/* Rank 0 knows all edges: i to i + 1 and to 0, weighted by 10 i + place. */
static void distributed(int weighted) {
  int nodes[64], degrees[64], targets[128], weights[128];
  const int n = check_rank == 0 ? check_size : 0;
  for (int i = 0; i < n; ++i) {
    nodes[i] = i;
    degrees[i] = 2;
    targets[2 * i] = (i + 1) % check_size;
    targets[2 * i + 1] = 0;
    weights[2 * i] = 10 * i;
    weights[2 * i + 1] = 10 * i + 1;
  }
  MPI_Comm comm;
  int* given = !weighted ? MPI_UNWEIGHTED : n ? weights : MPI_WEIGHTS_EMPTY;
  CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, nodes, degrees, targets, given, MPI_INFO_NULL,
                                 0, &comm));
  int status, in, out, has;
  MPI_Topo_test(comm, &status);
  CHECK_EQUAL(status, MPI_DIST_GRAPH);
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &has);
  CHECK_EQUAL(in, check_rank == 0 ? check_size + 1 : 1);
  CHECK_EQUAL(out, 2);
  CHECK_EQUAL(!has, !weighted);
  int sources[128], in_weights[128], destinations[4], out_weights[4];
  CHECK_OK(MPI_Dist_graph_neighbors(comm, in, sources, weighted ? in_weights : MPI_UNWEIGHTED, out,
                                    destinations, weighted ? out_weights : MPI_UNWEIGHTED));
  if (weighted) {
    for (int i = 0; i < in; ++i) CHECK_EQUAL(in_weights[i] / 10, sources[i]);
    for (int i = 0; i < out; ++i) {
      const int expected = out_weights[i] % 10 ? 0 : (check_rank + 1) % check_size;
      CHECK_EQUAL(destinations[i], expected);
    }
  }
  qsort(sources, in, sizeof(int), compare);
  if (check_rank > 0) CHECK_EQUAL(sources[0], check_rank - 1);
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Dist_graph_neighbors_count(copy, &in, &out, &has);
  CHECK_EQUAL(out, 2);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
}

static void adjacent(void) {
  const int left = (check_rank + check_size - 1) % check_size,
            right = (check_rank + 1) % check_size;
  int from[] = {left, right}, to[] = {right, left}, weights[] = {3, 4}, got[2], got_weights[2];
  MPI_Comm comm;
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights,
                                          MPI_INFO_NULL, 0, &comm));
  int to_got[2], to_weights[2], in, out, has;
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &has);
  CHECK(in == 2 && out == 2 && has, "%d %d %d", in, out, has);
  CHECK_OK(MPI_Dist_graph_neighbors(comm, 2, got, got_weights, 2, to_got, to_weights));
  CHECK(got[0] == left && got[1] == right && to_got[0] == right && to_got[1] == left, "order");
  CHECK(got_weights[1] == 4 && to_weights[0] == 3, "weights");
  MPI_Comm_free(&comm);
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to,
                                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &has);
  CHECK(in == 1 && out == 1 && !has, "%d %d %d", in, out, has);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ring(check_size);
  if (check_size > 3) ring(check_size - 1);
  distributed(0);
  distributed(1);
  adjacent();
  int number, index[] = {1}, edge[] = {99};
  MPI_Comm comm;
  CHECK_CLASS(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &number), MPI_ERR_TOPOLOGY);
  if (!known_defect("openmpi")) {
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edge, 0, &comm) != MPI_SUCCESS,
          "an edge to 99");
  }
  return check_end();
}
