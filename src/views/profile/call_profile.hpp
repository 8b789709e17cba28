// Views of a profile of MPI calls (analysis/call_profile.hpp): text for the
// terminal, JSON, and a page that needs nothing else. Computes nothing.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/call_profile.hpp"

namespace foretrace::views {

struct CallProfileText {
  std::size_t top = 10;        // lines of a table; the rest is summed up
  std::size_t max_ranks = 16;  // more ranks than these are shown as min, mean, max
};

std::string render_call_profile_text(const analysis::CallProfile& profile,
                                     const CallProfileText& options);
std::string render_call_profile_json(const analysis::CallProfile& profile);
std::string render_call_profile_html(const analysis::CallProfile& profile);

// Of a run with more ranks than cores (CallProfile::shares_cores): a sentence without its full
// stop.
std::string warning_of_cores();
// "sent", "received", "collective"; empty for none.
const char* name_of(trace::Direction direction);
// The rank whose messages were waited for: "3", or "several".
std::string sender_text(const analysis::SenderTotal& of);
// "halo.c:37 exchange < main.c:12 main"; "not known" without frames.
std::string format_frames(const std::vector<analysis::CallFrame>& frames);

}  // namespace foretrace::views
