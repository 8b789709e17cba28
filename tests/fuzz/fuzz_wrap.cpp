// Templates of `wrap`, mutated: what is accepted becomes a source for both sets
// of functions, or an Error with its place.
#include <array>
#include <stdexcept>
#include <string_view>

#include "../wrap/functions.hpp"
#include "base/error.hpp"
#include "driver.hpp"
#include "wrap/generate.hpp"
#include "wrap/template.hpp"

namespace {

using namespace foretrace;

class WrapTarget {
 public:
  static constexpr const char* kName = "wrap";

  static std::vector<std::string> seeds() {
    return {
        "static double seconds[@functions];\n%for f in wrapped\n\"@f\",\n%end\n"
        "%wrap all - MPI_Wtime\n  double t = PMPI_Wtime();\n  %call\n"
        "  seconds[@index] += PMPI_Wtime() - t;\n%end\n%finalize\nprint(@rank, @size);\n%end\n",
        "%language c++\n%init\nbegin();\n%end\n%wrap sends + receives\n%if has @peer and not (in "
        "/^MPI_I/ or returns double)\n  f(@bytes, @peer, @tag);\n%elif mpi mpich\n%else\n"
        "  @result = 1;\n%end\n%call\n%end\n",
        "%% comment\n%for f in collectives & nonblocking, MPI_S?nd*\n%for g in sends\n@f @g "
        "@@function\n%end\n%end\n%wrap MPI_Barrier\nx(@arguments);\n%call\n%end\n"};
  }
  static std::vector<std::string> words() {
    return {"%wrap ", "%call\n",  "%end\n",  "%init\n",     "%finalize\n", "%for f in ",
            "%if ",   "%elif ",   "%else\n", "%language ",  "%%",          "has ",
            "in ",    "returns ", "mpi ",    "openmpi",     "not ",        "and ",
            "or ",    "(",        ")",       "@function",   "@index",      "@bytes",
            "@peer",  "@result",  "@@",      "@",           "all",         "wrapped",
            "sends",  "MPI_Send", "MPI_*",   "/MPI_[A-Z]/", "/(a|b)*c/",   " - ",
            " + ",    " & ",      ",",       "\n",          "\r\n",        "\xff",
            "*/",     "\"",       "\\\n",    "conversions"};
  }

  // Whether the template was accepted.
  bool run(const std::string& text) {
    try {
      const wrap::Template parsed = wrap::parse_template(text, "fuzz.wrap");
      const wrap::Source source = wrap::generate(parsed, "mpich", wrap::kFunctions, "fuzz.c", true);
      if (source.functions < 0 || source.functions > static_cast<int>(wrap::kFunctions.size()))
        throw std::runtime_error("wraps more functions than there are");
      if (source.text.find("int MPI_Init(int *argc, char ***argv)\n") == std::string::npos)
        throw std::runtime_error("MPI_Init is not wrapped");
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.wrap:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
      return false;
    }
    return true;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(WrapTarget)
