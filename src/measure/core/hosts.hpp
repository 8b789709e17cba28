// Hosts: which ranks measure together where they run on several hosts. No MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::measure {

// Before the names of what was measured between ranks of one node, where others were
// measured between two: "node/send", "node/sync_threshold".
inline constexpr const char* kNodePrefix = "node/";

// Before all of it, of what was measured with data that nobody had written since it was sent last:
// "untouched/node/send".
inline constexpr const char* kUntouchedPrefix = "untouched/";

// By rank the number of its host.
using Hosts = std::vector<std::int32_t>;

// Whether there are two paths: several hosts, and several ranks on that of rank 0.
bool has_two_paths(const Hosts& hosts);
// Ranks in the order in which they take part between hosts: one of each host in turn, rank
// 0 first. On one host: by rank.
std::vector<int> spread_order(const Hosts& hosts);
// The ranks of rank 0's host, by rank.
std::vector<int> first_host(const Hosts& hosts);
// Rank 0 and the last one of another host; on one host the last.
std::vector<int> outer_pair(const Hosts& hosts);
// "0 0 1 1".
std::string text_of(const Hosts& hosts);

}  // namespace foretrace::measure
