// What a program says of itself while it runs: phases, marks, and MPI_Pcontrol; and that it left.
#include <algorithm>
#include <cstdio>

#include "capture/session/own_comm.hpp"
#include "capture/session/session.hpp"
#include "trace/exit_name.hpp"

namespace foretrace::capture {

using trace::EventKind;

// The number that `annotations_` gives the name; the trace knows it then, too.
std::uint32_t Session::annotation_number(const char* name) {
  const auto [number, is_new] = annotations_.name(name);
  if (is_new) annotation_ids_.push_back(writer_.define_name(name));
  return number;
}

void Session::annotate(EventKind kind, const char* name, std::uint32_t annotation, double value) {
  settle_found();
  end_row();
  computation_.count_sleep_aside();
  may_be_idle_ = false;
  begin_event(thread_->event, kind, annotation_ids_[annotation], name);
  thread_->counts.clear();
  thread_->event.value = value;
  close();
}

// What it computed after its last call counts. A thread that is in a call has not ended by itself.
void Session::leave() {
  look_at_the_end();
  if (first_thread_.in_event || !waiting_.empty()) return;
  const Inside inside;
  if (!inside) return;
  settle_found();
  end_row();
  computation_.count_sleep_aside();
  may_be_idle_ = false;
  begin_event(thread_->event, EventKind::finalize, writer_.define_name(trace::kExitName),
              trace::kExitName);
  thread_->counts.clear();
  close();
  piggyback.show_waiting();
  writer_.close();
  active_ = false;
}

void Session::phase_begin(const char* name) {
  Inside inside;
  if (!inside) return;
  const std::uint32_t number = annotation_number(name);
  annotations_.begin(number, logging_);
  if (logging_) annotate(EventKind::phase_begin, name, number, 0);
}

void Session::phase_end(const char* name) {
  Inside inside;
  if (!inside) return;
  const std::uint32_t number = annotation_number(name);
  if (annotations_.end(number, logging_)) annotate(EventKind::phase_end, name, number, 0);
}

void Session::mark(const char* name, double value) {
  Inside inside;
  if (!inside || !logging_) return;
  annotate(EventKind::mark, name, annotation_number(name), value);
}

bool Session::kernel_begin(const char* name, double key) {
  Inside inside;
  return !inside || computation_.kernel_begin(name, key);
}

void Session::kernel_end(const char* name) {
  Inside inside;
  if (inside) computation_.kernel_end(name);
}

void Session::set_logging(bool on) {
  settle_found();
  end_row();
  write_pending();
  logging_ = on;
}

// Collective. One line, however many ranks did the same.
void Session::complain_of_phases() const {
  const std::string complaint = annotations_.complaint();
  const int rank = comms.world_rank().value;
  int concerned = complaint.empty() ? 0 : 1;
  int first = complaint.empty() ? comms.world_size() : rank;
  PMPI_Allreduce(MPI_IN_PLACE, &concerned, 1, MPI_INT, MPI_SUM, own_comm);
  PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, own_comm);
  if (first != rank) return;
  std::string others;
  if (concerned > 1)
    others = " (and " + std::to_string(concerned - 1) + (concerned == 2 ? " other)" : " others)");
  std::fprintf(stderr, "foretrace: rank %d%s: %s\n", rank, others.c_str(), complaint.c_str());
}

}  // namespace foretrace::capture
