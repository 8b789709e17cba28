// Paraver's and ALOG's text, mutated: each becomes a trace that is read without damage, or an
// Error with its place.
#include <unistd.h>

#include <cstdio>

#include "base/error.hpp"
#include "driver.hpp"
#include "formats/formats.hpp"
#include "trace/damage.hpp"

namespace {

using namespace foretrace;

class FormatsTarget {
 public:
  static constexpr const char* kName = "formats";

  std::vector<std::string> seeds() const {
    return {
        "#Paraver (01/01/1970 at 00:00):90_ns:1(2):1:2(1:1,1:1),2\nc:1:1:2:1:2\nc:1:2:1:2\n"
        "1:1:1:1:1:0:10:1\n2:1:1:1:1:10:50000003:31\n2:1:1:1:1:12:50000003:0\n"
        "2:1:1:1:1:20:50000001:3\n3:1:1:1:1:20:20:2:1:2:1:15:40:800:7\n2:1:1:1:1:22:50000001:0\n"
        "2:2:1:2:1:15:50000001:4\n2:2:1:2:1:16:50000001:0\n2:2:1:2:1:30:50000001:6\n"
        "2:2:1:2:1:41:50000001:0\n2:1:1:1:1:50:50000001:6\n2:1:1:1:1:51:50000001:0\n"
        "2:1:1:1:1:60:50000002:7:50100001:8:50100002:8:50100003:1:50100004:1\n"
        "2:1:1:1:1:61:50000002:0\n2:2:1:2:1:60:50000002:7:50100004:1\n2:2:1:2:1:62:50000002:0\n"
        "2:1:1:1:1:70:60000019:5\n2:1:1:1:1:71:60000019:0\n",
        "-1 0 0 0 0 0 Upshot\n-3 0 0 2 0 0\n-13 0 5 6 0 0 red MPI_Recv\n1 1 0 0 0 7 start "
        "broadcast\n2 1 0 0 0 9 end broadcast\n5 0 0 0 0 9 x\n6 0 0 0 0 12 y\n3 0 0 0 0 14 mark\n"};
  }

  std::vector<std::string> words() const {
    return {"9223372036854775807",
            "-1",
            ":",
            "\n",
            " ",
            "50000001",
            "50000002:13",
            "3:1:1:1:1",
            "50100004:2",
            "c:1:3:2:2:1",
            "2:1:1:2:1",
            "start ",
            "end ",
            "-13 0 1 2 0 0 blue a\n"};
  }

  bool run(const std::string& data) {
    const bool paraver = data.starts_with("#");
    const std::string& path = paraver ? prv_ : alog_;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << data;
    bool accepted = false;
    try {
      if (paraver)
        formats::read_paraver(path, trace_);
      else
        formats::read_alog(path, trace_);
      accepted = true;
    } catch (const Error&) {
    }
    if (accepted) {
      trace::TraceReader reader(trace_);
      trace::look_through(reader);
      if (!reader.damage().empty()) throw std::runtime_error("the trace is damaged");
    }
    std::remove(path.c_str());
    std::remove(trace_.c_str());
    return accepted;
  }

 private:
  std::string prv_ = "fuzz-" + std::to_string(::getpid()) + ".prv";
  std::string alog_ = "fuzz-" + std::to_string(::getpid()) + ".alog";
  std::string trace_ = "fuzz-" + std::to_string(::getpid()) + ".formats.ftr";
};

}  // namespace

FORETRACE_FUZZ_MAIN(FormatsTarget)
