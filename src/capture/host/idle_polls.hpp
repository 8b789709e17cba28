// Idle polls: an MPI library that waits calls its progress engine again and
// again, and keeps its core from the ranks that have something to do. Here the
// function that it calls when it found nothing is directed to one that gives the
// core away once that has gone on for a while. So every wait of every MPI
// function is covered, and none is changed. What counts is the polls within one call.
//
// MPICH over UCX looks for messages by ucp_worker_progress, Open MPI calls
// sched_yield when it found none, as do MPICH's older devices. Knows nothing
// else of MPI.
#pragma once

#include <atomic>

namespace foretrace::capture {

// Directs the idle polls of all MPI libraries that are loaded to us. Can be
// called again; false if no library polls in a way that we know.
bool redirect_idle_polls();

// Whether polls that find nothing give the core away. False at first.
void set_idle_naps(bool on);

// Naps stay short where others wait for this rank to go on, `soon`; nullptr: nobody can.
void keep_naps_short(const std::atomic<bool>* soon);

// The program's call is over, and with it the row of polls in it: a program that polls,
// call by call, may have other things to do, and keeps its core as it would without us.
void end_idle_row();

// As long as it lives the calling thread's polls are none of the program's: the library keeps the
// core. For looks of ours, that are over at once or give it away themselves.
class OwnPolls {
 public:
  OwnPolls();
  ~OwnPolls();
  OwnPolls(const OwnPolls&) = delete;
  OwnPolls& operator=(const OwnPolls&) = delete;
};

}  // namespace foretrace::capture
