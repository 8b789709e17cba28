// parse_machine on mutated machine files. What is accepted must be usable: its
// times are numbers, and it reads back as it was written.
#include <cmath>
#include <stdexcept>

#include "base/error.hpp"
#include "driver.hpp"
#include "machine/machine_file.hpp"

namespace {

using namespace foretrace;

class MachineTarget {
 public:
  static constexpr const char* kName = "machine";

  static std::vector<std::string> seeds() {
    const std::string folder = FORETRACE_SOURCE_DIR "/machines/";
    return {fuzz::read_bytes(folder + "cray-t3d.toml"),
            fuzz::read_bytes(folder + "sparc-ethernet.toml"),
            "[machine]\nname = \"m\"\nranks = 4\ntime_unit = \"us\"\nelement_bytes = 8\n"
            "[loggps]\nL = 1e-6\no_s = 2e-7\no_r = 3e-7\ng = 1e-7\nG = 1e-10\nS = 65536\n"
            "[compute]\nstep = 1e-6\nblock = \"1.2ns\"\ninstruction = 1e-10\n[[compute.kernel]]\n"
            "name = \"sqrt\"\ntime = \"5ns\"\n[[compute.kernel]]\nname = \"exp\"\nranks = [1, "
            "4]\ntime = [1e-9, \"2ns\"]\n"
            "[[function]]\nname = \"bcast\"\nclass = \"collective\"\n"
            "[[function.regime]]\nbytes = [0, 64]\nc = [1.0, 0.1]\ns = [2.0, 0.2]\nf = \"ln p\"\n"
            "k = [3.0, 0.3]\ng = \"p^2 d\"\nq = 0.5\nresidual = 0.1\n"
            "[[function.regime]]\nbytes = [65]\nc = 1\n",
            "[machine]\nranks = 8\n[[loggps.regime]]\nbytes = [0, 4040]\nL = \"not separable\"\n"
            "o_s = [1e-7, 1e-9]\no_r = 2e-7\ng = 1e-6\nG = 1e-10\noverlap_send = 0.5\n"
            "overlap_recv = 0\n[[loggps.regime]]\nbytes = [4041]\n[hop]\ni = 1e-6\nt = [1e-10, 0]\n"
            "[[function]]\nname = \"bcast\"\nclass = \"collective\"\nmeasured_ranks = [2, 4]\n"
            "measured_bytes = [1, 4096]\nheld_out = [0.01, 0.1]\nextrapolation_error = 0.25\n"
            "baseline_held_out = [0.2, 1]\n[[function.regime]]\nbytes = [0, 64]\n"
            "terms = { \"1\" = 1, \"ceil log2 p\" = [2, 0.1], \"(p-1)/p d\" = [3, 0] }\n"
            "other_terms = { \"(p-1)\" = 4, \"(p-1) d\" = 5, \"ceil log2 p d\" = -6 }\n"
            "interval = [0.9, 1.25]\ncoverage = 0.95\n[[function.regime]]\nbytes = [65]\nc = 1\n"
            "[[function.baseline]]\nc = 2\nq = 0.1\nchi_squared = 3.5\ndegrees_of_freedom = 4\n",
            "[machine]\n[measurement]\nvalid = false\n"
            "reasons = [\"more ranks than cores\", \"busy\"]\n[[function]]\nname = \"send\"\n"
            "class = \"point-to-point\"\n[[function.regime]]\nc = 1\n",
            "[machine]\n[topology]\nexpression = \"torus:4x4?latency=1us&bandwidth=1GB/s\"\n",
            "[machine]\n[topology]\nname = \"t\"\nkind = \"xgft\"\nparameters = \"2;4,2;1,2\"\n"
            "latency = 1e-6\nbandwidth = 1.5e9\nranks_per_node = 4\nintra_latency = \"2ns\"\n",
            "[machine]\n[topology]\nfile = \"no/such/file.toml\"\n",
            "[machine]\n[topology]\nswitches = 1\nincidence = [[2], [2], [0, 1]]\n"
            "[[link]]\nfrom = 2\nto = 1\nlatency = \"5us\"\nbandwidth = 0.1\n",
            "[machine]\n[topology]\nlatency = \"1us\"\n[[node]]\nname = \"a\"\n"
            "[[node]]\nname = \"b\"\nkind = \"bus\"\n"
            "[[link]]\nfrom = \"a\"\nto = \"b\"\nboth_ways = true\n"};
  }

  static std::vector<std::string> words() {
    return {"nan",
            "-inf",
            "1e308",
            "-1",
            "1e-320",
            "[[function]]\n",
            "[",
            "]",
            "{}",
            "\"",
            "'''",
            "18446744073709551616",
            "[0]",
            "[257]",
            "= ",
            "\n",
            "0x7fffffffffffffff",
            "1979-05-27T07:32:00Z",
            "\xff",
            "\\u0000",
            "\\U0010ffff",
            "#",
            "true",
            "[machine]\n",
            "\"ln p\"",
            "\"p^2 d\"",
            "terms = { \"(p-1)/p d\" = 1 }\n",
            "interval = [0, 1e308]\n",
            "f = \"p\"\n",
            "[measurement]\n",
            "valid = true\n",
            "reasons = [\"busy\"]\n",
            "bytes = [0, 10]\n",
            "a.b.c = 1\n"};
  }

  // Whether the file was accepted.
  bool run(const std::string& text) {
    machine::MachineModel model;
    try {
      model = machine::parse_machine(text, "fuzz.toml");
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.toml:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
      return false;
    }
    for (const auto& [name, function] : model.functions) {
      for (const machine::Bound bound :
           {machine::Bound::min, machine::Bound::avg, machine::Bound::max})
        for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{256}, UINT64_MAX}) {
          const double seconds = evaluate_seconds(model, function, 1000, Bytes(bytes), bound);
          if (!(seconds >= 0)) throw std::runtime_error(name + " takes no time that is a number");
        }
      for (const machine::Regime& regime : function.regimes)
        if (regime.equation.sums().empty()) throw std::runtime_error(name + " has nothing to draw");
    }
    const machine::ComputeCosts costs = machine::parse_compute_costs(text, "fuzz.toml");
    const std::string once = machine::format_machine(model, costs);
    if (machine::format_machine(machine::parse_machine(once, "again.toml"),
                                machine::parse_compute_costs(once, "again.toml")) != once)
      throw std::runtime_error("the model does not read back as it was written");
    return true;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(MachineTarget)
