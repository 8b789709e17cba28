// Traces as text, mutated: each becomes a trace that is read without damage and
// is the same text again when it is written, or an Error.
#include <unistd.h>

#include <cstdio>

#include "base/error.hpp"
#include "driver.hpp"
#include "formats/formats.hpp"

namespace {

using namespace foretrace;

class TextTarget {
 public:
  static constexpr const char* kName = "text";

  std::vector<std::string> seeds() const {
    const std::string head =
        "foretrace-trace 1\ninfo {\"ranks\":2,\"clock\":\"virtual\"}\nrank 0\n"
        "name \"MPI_Call\"\ncomm 0 0 1\nsite 16 \"/bin/application\"\n";
    return {head +
                "send MPI_Call compute=5 enter=5 leave=9 wait=1 site=1 to=1 to_bytes=8\n"
                "isend MPI_Call enter=9 leave=9 request=1 mode=ready to=1 to_tag=3\n"
                "complete MPI_Call enter=9 leave=20 done=1;2,1,5,8,cancelled\nrank 1\n",
            head +
                "collective MPI_Call collective=bcast bytes=8 root=1\n"
                "collective MPI_Call collective=alltoallv bytes=8 counts=2x8,0,4\nmark MPI_Call "
                "value=2.5\n"
                "call MPI_Call count=3 bytes=7 to=0\nrank 1\nname \"x\"\naborted x code=-3\nin x\n",
            "foretrace-trace 1\ninfo {\"ranks\":1,\"clock\":\"cpu\"}\nincomplete\nrank 0\n"
            "name \"a b\"\nname \"a b\"\ncomm 0 0\ninit 1 compute=1000001\n"
            "irecv 0 request=4 any_source=1 any_tag=1\nfinalize 1 steps=1e300\n"};
  }

  std::vector<std::string> words() const {
    return {"18446744073709551615",
            "2305843009213693951",
            "4611686018427387903",
            "9223372036854775807",
            "-1",
            "=",
            "\n",
            " ",
            "\"",
            "\\x",
            "rank 1\n",
            "name \"\"\n",
            "comm 1 1\n",
            "request=0 ",
            "taken=7 ",
            "enter=9 leave=9 ",
            "0x7ff8000000000001",
            "probe 0 ",
            "in 0\n"};
  }

  bool run(const std::string& data) {
    write(text_, data);
    try {
      formats::read_text(text_, trace_);
    } catch (const Error&) {
      clean_up();
      return false;
    }
    const std::string once = text_again();
    write(text_, once);
    formats::read_text(text_, trace_);
    if (text_again() != once) throw std::runtime_error("the text changes when it is read again");
    clean_up();
    return true;
  }

 private:
  static void write(const std::string& path, const std::string& data) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << data;
  }
  std::string text_again() const {
    trace::TraceReader reader(trace_);
    formats::write_text(reader, text_);
    if (!reader.damage().empty()) throw std::runtime_error("the trace is damaged");
    return fuzz::read_bytes(text_);
  }
  void clean_up() const {
    std::remove(text_.c_str());
    std::remove(trace_.c_str());
  }

  std::string text_ = "fuzz-" + std::to_string(::getpid()) + ".txt";
  std::string trace_ = "fuzz-" + std::to_string(::getpid()) + ".text.ftr";
};

}  // namespace

FORETRACE_FUZZ_MAIN(TextTarget)
