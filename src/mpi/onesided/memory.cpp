#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mpi/core/block.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/onesided/state.hpp"

namespace foretrace::mpi {
namespace {

constexpr std::size_t kVectors = 512;  // runs in one system call; IOV_MAX is 1024

[[noreturn]] void no_access(int target) {
  end_run(3, "reading or writing memory of rank " + std::to_string(target) +
                 " is not permitted (needed for windows of MPI_Win_create and "
                 "MPI_Win_create_dynamic): allow process_vm_readv here (sysctl "
                 "kernel.yama.ptrace_scope=0, container option --cap-add=SYS_PTRACE), or use "
                 "MPI_Win_allocate");
}

// Moves `local` to or from the runs; false if the target has no such memory.
bool move_runs(int target_process, int target, std::byte* local, std::vector<iovec>& runs,
               std::uint64_t bytes, bool out) {
  std::size_t first = 0;
  while (bytes > 0) {
    iovec here{local, bytes};
    const long moved = out ? process_vm_writev(target_process, &here, 1, runs.data() + first,
                                               runs.size() - first, 0)
                           : process_vm_readv(target_process, &here, 1, runs.data() + first,
                                              runs.size() - first, 0);
    if (moved < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES)) no_access(target);
    if (moved <= 0) return false;
    auto done = static_cast<std::uint64_t>(moved);
    local += done;
    bytes -= done;
    while (first < runs.size() && done >= runs[first].iov_len) done -= runs[first++].iov_len;
    if (done > 0) {
      runs[first].iov_base = static_cast<std::byte*>(runs[first].iov_base) + done;
      runs[first].iov_len -= done;
    }
  }
  return true;
}

}  // namespace

void open_own_memory() {
  // Under Yama only ancestors may look into a process, unless it names others.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

Remote::Remote(Win& win, int target, std::uint64_t displacement, MPI_Count count,
               const Datatype& type)
    : win_(win), target_(target), count_(count), type_(type) {
  const Exposure exposure = win.state->exposure(target);
  reach_ = exposure.reach;
  const auto offset = win.flavor == MPI_WIN_FLAVOR_DYNAMIC
                          ? displacement
                          : displacement * static_cast<std::uint64_t>(exposure.disp_unit);
  if (reach_ == Reach::mapped)
    mapped_ = address_of(exposure.base) + offset;
  else if (target == win.comm->rank)
    mapped_ = reinterpret_cast<std::byte*>(exposure.base + offset);
  else
    address_ = exposure.base + offset;
}

std::byte* Remote::in_place() const {
  return mapped_ && (type_.dense || count_ == 0) ? mapped_ : nullptr;
}

bool Remote::read(std::byte* out, std::uint64_t bytes) const {
  return move(out, bytes, false);
}

bool Remote::write(const std::byte* in, std::uint64_t bytes) const {
  return move(const_cast<std::byte*>(in), bytes, true);
}

bool Remote::move(std::byte* local, std::uint64_t bytes, bool out) const {
  if (bytes == 0) return true;
  if (mapped_) {
    if (out)
      unpack(local, bytes, mapped_, count_, type_);
    else if (bytes == packed_bytes(count_, type_))
      pack(mapped_, count_, type_, local);
    else
      for_each_run(count_, type_, [&](MPI_Aint at, std::uint64_t length) {
        length = std::min(length, bytes);
        std::memcpy(local, mapped_ + at, length);
        local += length;
        bytes -= length;
      });
    return true;
  }
  const int process = process_of(win_.comm->group->members[static_cast<std::size_t>(target_)]);
  std::vector<iovec> runs;
  std::uint64_t gathered = 0;
  bool well = true;
  const auto flush = [&] {
    if (well && gathered > 0) well = move_runs(process, target_, local, runs, gathered, out);
    local += gathered;
    bytes -= gathered;
    gathered = 0;
    runs.clear();
  };
  const auto add = [&](MPI_Aint at, std::uint64_t length) {
    length = std::min(length, bytes - gathered);
    if (length == 0 || !well) return;
    runs.push_back({reinterpret_cast<void*>(address_ + static_cast<std::uintptr_t>(at)), length});
    gathered += length;
    if (runs.size() == kVectors) flush();
  };
  if (type_.dense)
    add(0, bytes);
  else
    for_each_run(count_, type_, add);
  flush();
  return well;
}

}  // namespace foretrace::mpi
