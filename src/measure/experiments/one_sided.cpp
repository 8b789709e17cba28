// Windows are made on the pair, or on all ranks of a group: Open MPI 4.1 mixes up
// those of communicators that one MPI_Comm_split made. The target of a transfer
// waits in MPI for the origin's word that it is over: some libraries move data
// only while their target is in MPI, and MPICH 4.0 does not while it looks into
// its window in a loop.
#include <mpi.h>

#include <memory>

#include "measure/experiments/clock.hpp"
#include "measure/experiments/experiments.hpp"
#include "measure/experiments/kept.hpp"

namespace foretrace::measure {
namespace {

constexpr int kOver = 3;  // tag of the origin's word
constexpr std::uint64_t kLine = 64;

// A window of a group's members, open to all of them from its first use on.
class Window {
 public:
  Window(MPI_Comm comm, std::uint64_t bytes) : comm_(comm), bytes_(bytes) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    if (win_ == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(win_);
    MPI_Win_free(&win_);
  }

  void open() {
    if (win_ != MPI_WIN_NULL) return;
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes_), 1, MPI_INFO_NULL, comm_, &memory_, &win_);
    MPI_Win_lock_all(0, win_);
  }
  MPI_Win win() const { return win_; }
  char* memory() const { return memory_; }

 private:
  MPI_Comm comm_;
  std::uint64_t bytes_;
  MPI_Win win_ = MPI_WIN_NULL;
  char* memory_ = nullptr;
};

// One transfer and the flush that completes it, by rank 0 to or from rank 1.
template <class Transfer>
Experiment transfer(const char* name, const Group& pair, const std::shared_ptr<Window>& window,
                    std::uint64_t sent, std::uint64_t received, Buffers& buffers, Transfer call) {
  const bool origin = pair.rank == 0;
  const MPI_Comm comm = pair.comm;
  return {.functions = {name},
          .prepare =
              [=, &buffers] {
                window->open();
                buffers.next(origin ? sent : 0, origin ? received : 0);
                // What is fetched is freshly written, as what is sent is.
                if (!origin)
                  for (std::uint64_t i = 0; i < received; i += kLine) window->memory()[i] = 1;
                MPI_Win_sync(window->win());
              },
          .repeat =
              [=](std::int64_t entry, std::int64_t, Span* spans) {
                if (origin) {
                  call(window->win());
                  MPI_Win_flush(1, window->win());
                  spans[0] = {entry, now_ns()};
                  MPI_Send(nullptr, 0, MPI_CHAR, 1, kOver, comm);
                } else {
                  MPI_Recv(nullptr, 0, MPI_CHAR, 0, kOver, comm, MPI_STATUS_IGNORE);
                  MPI_Win_sync(window->win());
                }
              },
          .received = [=, &buffers]() -> const char* {
            return origin ? buffers.recv() : window->memory();
          }};
}

}  // namespace

std::vector<Experiment> one_sided_experiments(const Group& pair, std::uint64_t bytes,
                                              Buffers& buffers) {
  const auto window = std::make_shared<Window>(pair.comm, bytes);
  const int n = static_cast<int>(bytes);
  std::vector<Experiment> all{
      transfer("put", pair, window, bytes, 0, buffers,
               [=, &buffers](MPI_Win win) {
                 MPI_Put(buffers.send(), n, MPI_CHAR, 1, 0, n, MPI_CHAR, win);
               }),
      transfer("get", pair, window, 0, bytes, buffers, [=, &buffers](MPI_Win win) {
        MPI_Get(buffers.recv(), n, MPI_CHAR, 1, 0, n, MPI_CHAR, win);
      })};
  if (bytes % sizeof(double) == 0) {
    const int doubles = n / static_cast<int>(sizeof(double));
    all.push_back(
        transfer("accumulate", pair, window, bytes, 0, buffers, [=, &buffers](MPI_Win win) {
          MPI_Accumulate(buffers.send(), doubles, MPI_DOUBLE, 1, 0, doubles, MPI_DOUBLE, MPI_SUM,
                         win);
        }));
  }
  return all;
}

std::vector<Experiment> fence_experiments(const Group& group) {
  struct Fenced {
    Kept<MPI_Win> win{MPI_Win_free};
    double* memory = nullptr;
  };
  const auto fenced = std::make_shared<Fenced>();
  const MPI_Comm comm = group.comm;
  const auto make = [=](MPI_Win* made) {
    MPI_Win_allocate(sizeof(double), 1, MPI_INFO_NULL, comm, &fenced->memory, made);
    MPI_Win_fence(0, *made);
  };
  return {{{"win_fence"},
           [=] { fenced->win.get(make); },
           [=](std::int64_t entry, std::int64_t, Span* spans) {
             MPI_Win_fence(0, fenced->win.get(make));
             spans[0] = {entry, now_ns()};
           }}};
}

}  // namespace foretrace::measure
