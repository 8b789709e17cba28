// Paraver's, ALOG's and DUMPI's text, mutated: each becomes a trace that is read without damage, or
// an Error with its place.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

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
        "broadcast\n2 1 0 0 0 9 end broadcast\n5 0 0 0 0 9 x\n6 0 0 0 0 12 y\n3 0 0 0 0 14 mark\n",
        dumpi_seed()};
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
            "-13 0 1 2 0 0 blue a\n",
            "<IGNORED>",
            "MPI_Comm newcomm=1",
            "MPI_Waitany",
            "int source=-1 (MPI_ANY_SOURCE)"};
  }

  bool run(const std::string& data) {
    const bool paraver = data.starts_with("#");
    const bool dumpi = data.starts_with("MPI_");
    const std::string& path = paraver ? prv_ : dumpi ? meta_ : alog_;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << (dumpi ? "numprocs=2\n" : data);
    // Both ranks did the same.
    if (dumpi)
      for (const std::string& rank : ranks_)
        std::ofstream(rank, std::ios::binary | std::ios::trunc) << data;
    bool accepted = false;
    try {
      if (paraver)
        formats::read_paraver(path, trace_);
      else if (dumpi)
        formats::read_dumpi(path, trace_);
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
    for (const std::string& file : {path, ranks_[0], ranks_[1]}) std::remove(file.c_str());
    std::remove(trace_.c_str());
    return accepted;
  }

 private:
  // A call with its times and parameters, one line each.
  static std::string call(const std::string& name, int at, const std::string& parameters) {
    const auto moment = [at](int more) {
      return " at walltime 7." + std::to_string(100000000 + at + more) +
             ", cputime 0.1 seconds in thread 0.\n";
    };
    return name + " entering" + moment(0) + parameters + name + " returning" + moment(5);
  }
  static std::string dumpi_seed() {
    const std::string comm = "MPI_Comm comm=2 (MPI_COMM_WORLD)\n";
    const std::string what = "int count=4\nMPI_Datatype datatype=9 (MPI_INT)\n";
    const std::string status = "{bytes=16, cancelled=0, source=1, tag=7, error=0}";
    return call("MPI_Init", 0, "") +
           call("MPI_Comm_split", 10,
                "MPI_Comm oldcomm=2 (x)\nint color=0\nint key=0\nMPI_Comm newcomm=4 (y)\n") +
           call("MPI_Irecv", 20,
                what + "int source=1\nint tag=7\n" + comm + "MPI_Request request=[5]\n") +
           call("MPI_Isend", 30,
                what + "int dest=1\nint tag=7\n" + comm + "MPI_Request request=[6]\n") +
           call("MPI_Waitsome", 40,
                "MPI_Request requests[2]=[5, 6]\nint outcount=2\nint indices[2]=[0, 1]\n"
                "MPI_Status statuses[2]=[" +
                    status + ", " + status + "]\n") +
           call("MPI_Recv", 50,
                what + "int source=-1 (MPI_ANY_SOURCE)\nint tag=3\n" + comm +
                    "MPI_Status status=[" + status + "]\n") +
           call("MPI_Gatherv", 60,
                "int sendcount=1\nMPI_Datatype sendtype=9 (MPI_INT)\nint recvcounts[2]=[1, 2]\n"
                "MPI_Datatype recvtype=9 (MPI_INT)\nint root=1\nMPI_Comm comm=4 (y)\n") +
           call("MPI_Finalize", 70, "") + "Datatype 9 (MPI_INT) has size 4\n";
  }

  std::string prv_ = "fuzz-" + std::to_string(::getpid()) + ".prv";
  std::string alog_ = "fuzz-" + std::to_string(::getpid()) + ".alog";
  std::string meta_ = "fuzz-" + std::to_string(::getpid()) + ".meta";
  std::array<std::string, 2> ranks_{"fuzz-" + std::to_string(::getpid()) + "-0000.txt",
                                    "fuzz-" + std::to_string(::getpid()) + "-0001.txt"};
  std::string trace_ = "fuzz-" + std::to_string(::getpid()) + ".formats.ftr";
};

}  // namespace

FORETRACE_FUZZ_MAIN(FormatsTarget)
