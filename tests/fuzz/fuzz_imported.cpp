// The readers of other people's measurements on mutated files. What is accepted holds times that
// are finite, at numbers of ranks that there can be.
#include <cmath>
#include <stdexcept>

#include "base/error.hpp"
#include "driver.hpp"
#include "imported/imb.hpp"
#include "imported/netpipe.hpp"
#include "imported/osu.hpp"
#include "imported/simgrid_csv.hpp"
#include "imported/smpi_platform.hpp"
#include "machine/machine_file.hpp"

namespace {

using namespace foretrace;

class ForeignTarget {
 public:
  static constexpr const char* kName = "foreign measurements";

  // The first letter says whose file it is.
  static std::vector<std::string> seeds() {
    return {
        "o# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n0  1.5\n8  1.6\n16 1.7\n",
        "o== Processes = 4\n# OSU MPI Reduce Latency Test v7.2\n# Size   Avg Latency(us)   Min "
        "Latency(us)   Max Latency(us)  Iterations\n4 2.00 1.00 5.00 1000\n",
        "i# Benchmarking Allreduce\n# #processes = 4\n #bytes #repetitions t_min[usec] "
        "t_max[usec] t_avg[usec]\n 0 1000 0.05 0.06 0.05\n 4 1000 2.0 4.0 3.0\n",
        "n  131072 1000.000  0.001000\n1 0.8 0.0000095\n",
        "cMPI_Send,8,1.0,1e-6\nMPI_Recv,8,1.0,3e-6\nMPI_Send,9,2.0,2e-6\nMPI_Recv,9,2.0,3e-6\n",
        "cexperiment,cluster,msg_size,duration\nsend,a,1,1e-6\npingpong,a,1,2e-6\nisend,a,1,2e-6\n",
        "x<platform><prop id=\"smpi/os\" value=\"0:1e-6:0;1000:2e-6:1e-9\"/><prop id=\"smpi/or\" "
        "value=\"0:3e-6:0\"/><prop id=\"smpi/bw-factor\" value=\"0:0.5\"/><prop "
        "id=\"smpi/lat-factor\" value=\"0:2\"/><cluster lat=\"10us\" bw=\"1GBps\"/></platform>"};
  }

  static std::vector<std::string> words() {
    return {"nan",  "-inf", "1e308", "-1",  "1e-320", "99999999999999999999",
            "#",    "==",   "\n",    ",",   ":",      ";",
            "\r",   "\t",   "\xff",  "<",   "/>",     "&x;",
            "0",    "GBps", "us",    "ois", "Size",   "# #processes = 0",
            "prop", "smpi/"};
  }

  // Whether the file was accepted.
  bool run(const std::string& text) {
    if (text.empty()) return false;
    const std::vector<imported::InputFile> files{{"fuzz", text.substr(1), 0}};
    try {
      if (text[0] == 'x') {
        const machine::MachineModel model =
            imported::read_smpi_platform(files.front(), {"m", "s", "l", "d", "o"}).model;
        const std::string once = machine::format_machine(model);
        if (machine::format_machine(machine::parse_machine(once, "again.toml")) != once)
          throw std::runtime_error("the model does not read back as it was written");
        return true;
      }
      return check(text[0] == 'o'   ? imported::read_osu(files)
                   : text[0] == 'i' ? imported::read_imb(files)
                   : text[0] == 'n' ? imported::read_netpipe(files)
                                    : imported::read_simgrid_csv(files, ""));
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
      return false;
    }
  }

 private:
  static bool check(const imported::Measurements& all) {
    for (const measure::Sample& each : all.samples)
      if (!std::isfinite(each.seconds) || each.seconds < 0 || each.ranks < 1 || each.launch < 1)
        throw std::runtime_error("a sample of " + each.function + " makes no sense");
    return true;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(ForeignTarget)
