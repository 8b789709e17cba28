// A C++ program: containers, exceptions that pass through frames with MPI calls, static objects
// with destructors after MPI_Finalize, lambdas as reductions' helpers, std::thread.
// live: flags -pthread
// live: compare
#include <complex>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

struct Last {
  ~Last() {
    int flag = 0;
    MPI_Finalized(&flag);
    if (!flag) std::abort();
  }
} last;

class Comm {
 public:
  Comm() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~Comm() { MPI_Comm_free(&comm_); }
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

std::string receive_text(MPI_Comm comm, int source) {
  MPI_Status status;
  int length = 0;
  MPI_Probe(source, 0, comm, &status);
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string text(static_cast<std::size_t>(length), ' ');
  MPI_Recv(text.data(), length, MPI_CHAR, source, 0, comm, MPI_STATUS_IGNORE);
  if (text.empty()) throw std::runtime_error("empty");
  return text;
}

void longest(void* in, void* inout, int* length, MPI_Datatype*) {
  auto* a = static_cast<double*>(in);
  auto* b = static_cast<double*>(inout);
  for (int i = 0; i < *length; ++i) b[i] = std::max(a[i], b[i]);
}

void run() {
  const Comm comm;
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  const std::string mine = "rank " + std::to_string(check_rank);
  MPI_Request request;
  MPI_Isend(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, next, 0, comm, &request);
  const std::string text = receive_text(comm, previous);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(text == "rank " + std::to_string(previous), "'%s'", text.c_str());

  MPI_Isend(nullptr, 0, MPI_CHAR, next, 0, comm, &request);
  bool thrown = false;
  try {
    receive_text(comm, previous);
  } catch (const std::runtime_error& error) {
    thrown = std::string(error.what()) == "empty";
  }
  CHECK(thrown);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Op op;
  MPI_Op_create(longest, 1, &op);
  std::vector<double> values(10), most(10);
  std::iota(values.begin(), values.end(), static_cast<double>(check_rank));
  MPI_Allreduce(values.data(), most.data(), 10, MPI_DOUBLE, op, comm);
  MPI_Op_free(&op);
  CHECK(most[9] == check_size - 1 + 9, "%g", most[9]);

  const std::complex<double> z(check_rank, 1);
  std::complex<double> sum;
  MPI_Allreduce(&z, &sum, 1, MPI_CXX_DOUBLE_COMPLEX, MPI_SUM, comm);
  CHECK(sum.imag() == check_size);

  double squares = 0;
  std::thread([&] {
    squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  }).join();
  double total = 0;
  MPI_Reduce(&squares, &total, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  if (check_rank == 0) std::printf("total %.17g\n", total);
}

}  // namespace

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  run();
  return check_end();
}
