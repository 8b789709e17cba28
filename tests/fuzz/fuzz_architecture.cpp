// parse_description and elaborate on mutated descriptions. What is accepted has entities, and links
// between them.
#include <stdexcept>

#include "architecture/elaborate.hpp"
#include "architecture/flat_fabric.hpp"
#include "base/error.hpp"
#include "driver.hpp"

namespace {

using namespace foretrace;

class ArchitectureTarget {
 public:
  static constexpr const char* kName = "architecture";

  static std::vector<std::string> seeds() {
    const std::string folder = FORETRACE_SOURCE_DIR "/architectures/";
    return {
        fuzz::read_bytes(folder + "node.arch.toml") +
            "[[composite.machine.part]]\nname = \"g\"\ntemplate = \"torus:3x3\"\nkind = \"node\"\n",
        "[architecture]\nname = \"x\"\nlatency = \"1us\"\nbandwidth = \"1GB/s\"\n"
        "[entity.fast]\nbehaviour = \"switch\"\nlevel = \"vc\"\nparameters = { vcs = 4, cycle = "
        "\"2ns\" }\n"
        "[composite.machine]\n[[composite.machine.part]]\nname = \"n\"\nkind = \"processor\"\n"
        "template = \"fattree:2,3\"\nswitch = \"fast\"\nswitch_parameters = { buffer = 3 }\n",
        "[architecture]\nname = \"q\"\n[composite.machine]\n"
        "[[composite.machine.part]]\nname = \"s\"\nkind = \"source\"\nparameters = { interval = "
        "\"1us\" }\n"
        "[[composite.machine.part]]\nname = \"q\"\nkind = \"queue\"\ncount = 3\nat = [1, 2]\n"
        "[[composite.machine.part]]\nname = \"t\"\nkind = \"sink\"\n"
        "[[composite.machine.link]]\nfrom = \"q[0..2].out\"\nto = \"t.in\"\nlatency = \"5ns\"\n"
        "[[composite.machine.link]]\nfrom = \"s.out\"\nto = \"q[0].in\"\none_way = true\n",
        "[architecture]\nname = \"c\"\n[composite.pair]\nparameters.n = { type = \"integer\", "
        "default = 2 }\n"
        "ports = { net = \"a.net\" }\n[composite.pair.levels.coarse]\nkind = \"processor\"\n"
        "[[composite.pair.part]]\nname = \"a\"\nkind = \"switch\"\n[[composite.pair.part]]\nname = "
        "\"b\"\n"
        "kind = \"processor\"\ncount = \"$n\"\n[[composite.pair.link]]\nfrom = \"b.net\"\nto = "
        "\"a.net\"\n"
        "[composite.machine]\n[[composite.machine.part]]\nname = \"p\"\nkind = \"pair\"\ncount = "
        "2\n"
        "[[composite.machine.link]]\nfrom = \"p[0].net\"\nto = \"p[1].net\"\n"};
  }

  static std::vector<std::string> words() {
    return {"\"$n\"",
            "[0..1]",
            "\"1us\"",
            "count = 2\n",
            "template = \"ring:4\"\n",
            "[[composite.machine.part]]\n",
            "[composite.x]\n",
            "kind = \"pair\"\n",
            "level = \"vc\"\n",
            "0x7fffffffffffffff",
            "nan",
            "\xff",
            "ports = { a = \"b.c\" }\n",
            "{ file = \"x\" }",
            "-1",
            "[",
            "]",
            "\"\"",
            "one_way = 1\n"};
  }

  bool run(const std::string& text) {
    try {
      const architecture::Description description =
          architecture::parse_description(text, "fuzz.arch.toml", "");
      const architecture::FlatArchitecture flat = architecture::elaborate(description);
      if (flat.entities.empty()) throw std::runtime_error("a machine of nothing");
      for (const architecture::FlatLink& link : flat.links)
        if (link.from.entity == link.to.entity) throw std::runtime_error("a link to itself");
      try {
        const architecture::FlatFabric made = architecture::fabric_of(flat);
        if (made.fabric.routers() < 64) architecture::FabricRouter routes(made.fabric);
      } catch (const Error&) {  // not a network of switches
      }
    } catch (const Error& error) {
      if (std::string_view(error.what()).find("fuzz.arch.toml:") == std::string_view::npos)
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
      return false;
    }
    return true;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(ArchitectureTarget)
