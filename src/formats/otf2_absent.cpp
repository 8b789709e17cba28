// Where Foretrace was built without the OTF2 library.
#include "base/error.hpp"
#include "formats/formats.hpp"

namespace foretrace::formats {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw Error(path + ": this foretrace was built without OTF2; install its library (Debian: " +
              "libopen-trace-format2-dev) and build again");
}

}  // namespace

Notes write_otf2(trace::TraceReader&, const std::string& path, const trace::TellPlace&) {
  refuse(path);
}

Notes read_otf2(const std::string& from, const std::string&) {
  refuse(from);
}

}  // namespace foretrace::formats
