// Archives of OTF2 of which one file is mutated: each becomes a trace that is read without
// damage, or an Error. The first byte of a case says which file the rest is.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/error.hpp"
#include "driver.hpp"
#include "formats/formats.hpp"
#include "trace/damage.hpp"

namespace {

using namespace foretrace;
namespace fs = std::filesystem;

const std::string kArchive = FORETRACE_SOURCE_DIR "/tests/formats/data/otf2-small/";
constexpr const char* kFiles[] = {"small.otf2", "small.def", "small/0.evt", "small/1.def"};

class Otf2Target {
 public:
  static constexpr const char* kName = "otf2";

  Otf2Target() {
    fs::remove_all(folder_);
    fs::copy(kArchive, folder_, fs::copy_options::recursive);
  }
  ~Otf2Target() { fs::remove_all(folder_); }

  std::vector<std::string> seeds() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < std::size(kFiles); ++i)
      all.push_back(static_cast<char>('0' + i) + fuzz::read_bytes(kArchive + kFiles[i]));
    return all;
  }

  std::vector<std::string> words() const {
    return {std::string(8, '\xff'), std::string(4, '\0'), "\x0c", "\x0d", "\x17"};
  }

  bool run(const std::string& data) {
    if (data.empty()) return false;
    const std::string file = kFiles[static_cast<unsigned char>(data[0]) % std::size(kFiles)];
    put(file, data.substr(1));
    bool accepted = false;
    try {
      formats::read_otf2(folder_ + "/small.otf2", trace_);
      accepted = true;
    } catch (const Error&) {
    }
    if (accepted) {
      trace::TraceReader reader(trace_);
      trace::look_through(reader);
      if (!reader.damage().empty()) throw std::runtime_error("the trace is damaged");
    }
    std::remove(trace_.c_str());
    put(file, fuzz::read_bytes(kArchive + file));
    return accepted;
  }

 private:
  void put(const std::string& file, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + file, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string folder_ = "fuzz-otf2-" + std::to_string(::getpid());
  std::string trace_ = "fuzz-" + std::to_string(::getpid()) + ".otf2.ftr";
};

}  // namespace

FORETRACE_FUZZ_MAIN(Otf2Target)
