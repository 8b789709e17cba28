// parse_counters on mutated profiles. What is accepted must come out as a
// profile in every form.
#include <filesystem>
#include <stdexcept>

#include "analysis/call_profile.hpp"
#include "analysis/running_profile.hpp"
#include "base/error.hpp"
#include "driver.hpp"
#include "trace/counters_file.hpp"
#include "views/profile/call_profile.hpp"

namespace {

using namespace foretrace;

trace::CallCounters example() {
  trace::CallCounters counters;
  counters.info.ranks = 2;
  counters.info.program = "app";
  counters.info.mpi = "mpich";
  counters.info.functions = {"MPI_Send", "MPI_Recv", "MPI_Bcast"};
  for (std::uint32_t r = 0; r < 2; ++r) {
    trace::RankCounters rank;
    rank.rank.used = 1;
    rank.rank.state = r == 0 ? trace::RankState::running : trace::RankState::finalized;
    rank.rank.second_ticks = rank.rank.last_ticks = 1000;
    rank.rank.second_ns = 500;
    rank.rank.open_site = 1;
    trace::SiteRecord site;
    site.used = 1;
    site.depth = 2;
    site.frames = {0x1100, 0x1200};
    site.calls = 3;
    site.ticks = 300;
    rank.sites.push_back(site);
    trace::ObjectRecord object;
    object.used = 1;
    object.base = 0x1000;
    object.end = 0x2000;
    object.path[0] = 'a';
    rank.objects.push_back(object);
    trace::CommRecord comm;
    comm.used = 1;
    comm.size = 2;
    rank.comms.push_back(comm);
    trace::SizeRecord size;
    size.used = 1;
    size.direction = trace::Direction::sent;
    size.bin = 10;
    size.comm = 1;
    size.calls = 3;
    rank.sizes.push_back(size);
    trace::PeerRecord peer;
    peer.used = 1;
    peer.rank = 1 - r;
    rank.peers.push_back(peer);
    trace::WaitRecord wait;
    wait.used = 1;
    wait.rank = 1 - r;
    wait.site = trace::key_of(rank.sites[0]);
    rank.waits.push_back(wait);
    counters.ranks.push_back(rank);
  }
  return counters;
}

class CountersTarget {
 public:
  static constexpr const char* kName = "counters";

  static std::vector<std::string> seeds() {
    const std::string path =
        (std::filesystem::temp_directory_path() / "fuzz_counters.fprof").string();
    trace::write_counters(example(), path);
    const std::string bytes = fuzz::read_bytes(path);
    std::filesystem::remove(path);
    // Most of the head is empty: changes should meet what follows it as well.
    return {bytes, bytes, bytes.substr(0, 4096 + 256)};
  }

  static std::vector<std::string> words() {
    return {"FTPC",
            "FTPROF01",
            std::string(8, '\xff'),
            std::string(64, '\0'),
            std::string("\x01\0\0\0", 4),
            std::string("\xff\xff\xff\x7f", 4)};
  }

  // Whether the file was accepted.
  bool run(const std::string& bytes) {
    trace::CallCounters counters;
    try {
      counters = trace::parse_counters(bytes, "fuzz.fprof");
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.fprof: "))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
      return false;
    }
    const auto nowhere = [](const std::string& object, std::uint64_t offset) {
      return analysis::CallFrame{"", "", 0, object, offset, object};
    };
    const analysis::CallProfile profile = analysis::make_call_profile(counters, nowhere);
    analysis::running_of(counters, nowhere);
    views::render_call_profile_text(profile, {});
    views::render_call_profile_json(profile);
    views::render_call_profile_html(profile);
    return true;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(CountersTarget)
