// Finds deadlocks on the target that today's MPI hides: ranks that wait in a
// rendezvous for each other. A rank that has waited for long tells world rank
// 0 for whom; rank 0, once it waits itself, looks for a cycle that stands
// still.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>

#include "base/cpu_clock.hpp"
#include "capture/predict/piggyback.hpp"
#include "capture/session/own_comm.hpp"
#include "capture/session/session.hpp"
#include "capture/session/start_up.hpp"

namespace foretrace::capture {
namespace {

constexpr int kReportTag = 3;
constexpr std::int32_t kNobody = -1;
constexpr std::int32_t kNotBlocked = -2;
constexpr std::int64_t kLongWaitNs = 1'000'000'000;
// A cycle counts if no report has come for this long.
constexpr std::int64_t kStandstillNs = 5'000'000'000;

std::string describe_partner(bool sends, std::int32_t peer, std::int32_t tag, std::uint64_t bytes) {
  if (peer < 0) return " for others";
  std::string text =
      (sends ? " to rank " : " for rank ") + std::to_string(peer) + " (tag " + std::to_string(tag);
  if (bytes > 0) text += ", " + std::to_string(bytes) + " bytes";
  return text + ")";
}

}  // namespace

void Piggyback::watch(const Blocked& blocked) {
  const std::int64_t now = monotonic_ns();
  if (!watching_) {
    watching_ = true;
    blocked_since_ns_ = now;
    return;
  }
  if (now - blocked_since_ns_ < kLongWaitNs) return;
  const bool changed = blocked.peer != reported_peer_ || blocked.tag != reported_tag_;
  if (!reported_ || changed) {
    reported_ = true;
    reported_peer_ = blocked.peer;
    reported_tag_ = blocked.tag;
    Report report;
    report.rank = rank_.value;
    report.peer = blocked.peer.valid() ? blocked.peer.value : kNobody;
    report.tag = blocked.tag;
    report.rendezvous = blocked.rendezvous ? 1 : 0;
    report.eager = blocked.eager ? 1 : 0;
    report.meets = blocked.meets ? 1 : 0;
    report.synchronous = blocked.synchronous ? 1 : 0;
    report.bytes = blocked.bytes;
    std::strncpy(report.call, blocked.call, sizeof report.call - 1);
    std::strncpy(report.place, session.place().c_str(), sizeof report.place - 1);
    send_report(report);
  }
  if (rank_.value == 0) {
    take_reports();
    look_for_deadlock();
  }
}

void Piggyback::end_report() {
  watching_ = false;
  if (!reported_) return;
  reported_ = false;
  Report report;
  report.rank = rank_.value;
  report.peer = kNotBlocked;
  send_report(report);
}

void Piggyback::send_report(const Report& report) {
  static_assert(sizeof(Report) <= sizeof(Outgoing::bytes));
  if (rank_.value != 0) {
    send_small(&report, sizeof report, WorldRank(0), kReportTag);
    return;
  }
  reports_[0] = report;
  reports_changed_ns_ = monotonic_ns();
}

void Piggyback::take_reports() {
  for (;;) {
    int waiting = 0;
    MPI_Status status;
    PMPI_Iprobe(MPI_ANY_SOURCE, kReportTag, own_comm, &waiting, &status);
    if (!waiting) return;
    Report report;
    PMPI_Recv(&report, sizeof report, MPI_BYTE, status.MPI_SOURCE, kReportTag, own_comm,
              MPI_STATUS_IGNORE);
    reports_[static_cast<std::size_t>(status.MPI_SOURCE)] = report;
    reports_changed_ns_ = monotonic_ns();
  }
}

void Piggyback::look_for_deadlock() {
  if (monotonic_ns() - reports_changed_ns_ < kStandstillNs) return;
  const auto peer_of = [this](std::int32_t rank) {
    const Report& report = reports_[static_cast<std::size_t>(rank)];
    return report.rank < 0 ? kNotBlocked : report.peer;
  };
  // Everybody waits for at most one other: following the peers from each rank
  // ends, or comes back to where it began.
  const auto ranks = static_cast<std::int32_t>(reports_.size());
  for (std::int32_t start = 0; start < ranks; ++start) {
    std::vector<std::int32_t> path;
    std::int32_t at = start;
    while (at >= 0 && std::ranges::find(path, at) == path.end()) {
      path.push_back(at);
      at = peer_of(at);
    }
    if (at == start) report_deadlock(path);
  }
  // If everybody has been waiting for so long, nobody is left who could end it.
  std::vector<std::int32_t> all(reports_.size());
  std::iota(all.begin(), all.end(), 0);
  if (std::ranges::none_of(all, [&](std::int32_t rank) { return peer_of(rank) == kNotBlocked; }))
    report_deadlock(all);
}

void Piggyback::report_deadlock(const std::vector<std::int32_t>& cycle) {
  std::string text;
  bool rendezvous = false;
  bool eager = false;
  bool meets = false;
  bool synchronous = false;
  for (const std::int32_t rank : cycle) {
    const Report& report = reports_[static_cast<std::size_t>(rank)];
    rendezvous = rendezvous || report.rendezvous != 0;
    eager = eager || report.eager != 0;
    meets = meets || report.meets != 0;
    synchronous = synchronous || report.synchronous != 0;
    text += "foretrace:   rank " + std::to_string(rank) + " waits in " + report.call +
            describe_partner(report.rendezvous != 0 || report.eager != 0 || report.synchronous != 0,
                             report.peer, report.tag, report.bytes) +
            (report.place[0] != 0 ? std::string(" at ") + report.place : "") + "\n";
  }
  text.insert(0, eager   ? "foretrace: the program does not go on under this machine's MPI:\n"
                 : meets ? "foretrace: the program does not go on under predict:\n"
                         : "foretrace: the program deadlocks on the target machine:\n");
  if (eager)
    text +=
        "foretrace: messages of that size are buffered on the target (they are shorter than S in "
        "the machine model), but not here, where predict needs the program to come through. Run "
        "it live: foretrace simulate -n RANKS.\n";
  else if (meets)
    text +=
        "foretrace: where sends may wait for their receivers (S in the machine model, or MPI_Ssend "
        "in the program) predict lets all ranks of a collective meet, as MPI allows: a program "
        "that "
        "does not call its collectives in the same order everywhere may stop anywhere. Run it "
        "live, "
        "where ranks wait only for what they need: foretrace simulate -n RANKS.\n";
  else if (rendezvous)
    text +=
        "foretrace: sends of that size are rendezvous there (S in the machine model): they do not "
        "return before the receive is posted. Post receives first, or use MPI_Sendrecv.\n";
  else if (synchronous)
    text +=
        "foretrace: synchronous sends (MPI_Ssend) do not return before the receive is posted, on "
        "any machine. Post receives first, or use MPI_Sendrecv.\n";
  std::fputs(text.c_str(), stderr);
  end_program();
}

}  // namespace foretrace::capture
