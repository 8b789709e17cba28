// What a program says of itself (include/foretrace.h), posted to the simulator.
#include <bit>
#include <cstdio>
#include <cstring>

#include "../include/foretrace.h"
#include "base/program_clock.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/threads.hpp"
#include "shared/context.hpp"
#include "shared/heap.hpp"

namespace foretrace::mpi {

using trace::EventKind;

// The name's number; the simulator knows it then, too.
std::uint32_t Line::annotation_name(const char* name) {
  const auto [number, is_new] = annotations_.name(name);
  if (is_new) {
    Record definition;
    definition.posting = Posting::name;
    definition.list_count = static_cast<std::uint32_t>(std::strlen(name));
    definition.list = heap::allocate(definition.list_count + 1);
    std::memcpy(SharedMemory::at<char>(definition.list), name, definition.list_count);
    flush_call();
    tell(definition);
  }
  return number;
}

void Line::annotate(EventKind kind, std::uint32_t name, double value) {
  stop_work();
  settle_work();
  ++calls_;
  Record event;
  event.kind = static_cast<std::uint8_t>(kind);
  event.name = kOwnNames + name;
  event.payload = std::bit_cast<std::uint64_t>(value);
  post(event);
  begin_work();
  if (measuring_) resume_work();
}

void Line::phase_begin(const char* name) {
  if (!slot_) return;
  const std::uint32_t number = annotation_name(name);
  annotations_.begin(number, logging_);
  if (logging_) annotate(EventKind::phase_begin, number, 0);
}

void Line::phase_end(const char* name) {
  if (!slot_) return;
  const std::uint32_t number = annotation_name(name);
  if (annotations_.end(number, logging_)) annotate(EventKind::phase_end, number, 0);
}

void Line::mark(const char* name, double value) {
  if (!slot_ || !logging_) return;
  annotate(EventKind::mark, annotation_name(name), value);
}

bool Line::kernel_begin(const char* name, double key) {
  if (!slot_ || !sampler_.samples()) return true;
  stop_work();
  const compute::KernelSampler::Answer answer =
      sampler_.begin(name, key, {work_->compute, work_->steps}, calls_);
  work_->compute += answer.work.cpu;
  work_->steps += answer.work.steps;
  if (measuring_) resume_work();
  return answer.runs;
}

void Line::kernel_end(const char* name) {
  if (!slot_ || !sampler_.samples()) return;
  stop_work();
  sampler_.end(name, {work_->compute, work_->steps}, calls_);
  if (measuring_) resume_work();
}

// The call that switches is logged itself.
void Line::set_logging(bool on) {
  logging_next_ = on;
  if (on) logging_ = true;
}

void Line::complain_of_phases() const {
  const std::string complaint = annotations_.complaint();
  if (!complaint.empty())
    std::fprintf(stderr, "foretrace: rank %d: %s\n", rank_, complaint.c_str());
}

}  // namespace foretrace::mpi

namespace {

using foretrace::mpi::line;

// Any thread may say something.
struct InLibrary {
  InLibrary() {
    foretrace::mpi::enter_library();
    if (line.is_open()) line.take_over();
  }
  ~InLibrary() { foretrace::mpi::leave_library(); }
  InLibrary(const InLibrary&) = delete;
  InLibrary& operator=(const InLibrary&) = delete;

 private:
  foretrace::program_clock::Real own_;
};

// Before MPI_Init and after MPI_Finalize there is nobody to tell.
constexpr foretrace_hooks kHooks = {
    sizeof(foretrace_hooks),
    [](double steps) {
      // Not those of a function that MPI calls.
      if (line.is_open() && !foretrace::mpi::in_call()) line.add_steps(steps);
    },
    [](const char* name) {
      const InLibrary entered;
      line.phase_begin(name);
    },
    [](const char* name) {
      const InLibrary entered;
      line.phase_end(name);
    },
    [](const char* name, double value) {
      const InLibrary entered;
      line.mark(name, value);
    },
    [](const char* name, double key) {
      const InLibrary entered;
      return line.kernel_begin(name, key) ? 1 : 0;
    },
    [](const char* name) {
      const InLibrary entered;
      line.kernel_end(name);
    },
};

}  // namespace

// For libforetrace-blocks.a.
extern "C" __attribute__((visibility("default"))) void foretrace_count_blocks(
    foretrace::compute::BlockCounter counter) {
  foretrace::compute::add_block_counter(counter);
}

extern "C" __attribute__((visibility("default"))) const foretrace_hooks*
foretrace_get_hook_table() {
  return &kHooks;
}
