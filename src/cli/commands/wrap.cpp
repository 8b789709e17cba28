#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "cli/programs/mpi_detection.hpp"
#include "cli/programs/mpi_signatures.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/option_values.hpp"
#include "wrap/diagnostics.hpp"
#include "wrap/generate.hpp"
#include "wrap/template.hpp"

namespace foretrace::cli {
namespace wrap_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string input;
  std::string output;
  std::optional<std::string> mpi;
  std::string compiler;
};

bool is_library(const fs::path& path) {
  return path.extension() == ".so";
}

// The MPI that the bare compiler wrapper in PATH belongs to, else the first one
// that the tool knows.
std::string default_mpi() {
  std::string line;
  try {
    line = output_of({find_program("mpicc"), "-show"});
  } catch (const UsageError&) {
  }
  for (const char* mpi : {"mpich", "openmpi"})
    if (line.find(mpi) != std::string::npos && !signatures_of(mpi).empty()) return mpi;
  return signatures_of("openmpi").empty() ? "mpich" : "openmpi";
}

std::string compiler_for(const std::string& mpi, bool cpp) {
  const std::string name = cpp ? "mpicxx" : "mpicc";
  try {
    return find_program(name + "." + mpi);
  } catch (const UsageError&) {
    return find_program(name);
  }
}

void check_output(const fs::path& output, bool cpp) {
  const std::string end = output.extension();
  if (end != ".so" && end != ".c" && end != ".cc" && end != ".cpp" && end != ".cxx")
    throw UsageError("-o " + output.string() +
                     ": name a library (.so), or a source file (.c, .cpp)");
  if (end != ".so" && (end != ".c") != cpp)
    throw UsageError("-o " + output.string() + ": the template is " +
                     (cpp ? "C++ (%language); use .cpp" : "C; use .c, or say %language c++ in it"));
  check_folder(output);
}

// A name beside `path` that is not in use; what comes to be there is removed
// again unless it was moved.
class Draft {
 public:
  Draft(const fs::path& path, const std::string& end)
      : path_(path.string() + "." + std::to_string(::getpid()) + end) {}
  ~Draft() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const fs::path& path() const { return path_; }
  void move_to(const fs::path& target) const { fs::rename(path_, target); }

 private:
  fs::path path_;
};

// Runs a compiler and says what it says, each message once; its status.
int compile_quietly(const std::vector<std::string>& command, const fs::path& output) {
  const Draft said(output, ".messages");
  const int file = ::open(said.path().c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  const int error = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (file < 0 || error < 0) return run_and_wait(command);
  ::dup2(file, STDERR_FILENO);
  ::close(file);
  int status = 0;
  try {
    status = run_and_wait(command);
  } catch (...) {
    ::dup2(error, STDERR_FILENO);
    ::close(error);
    throw;
  }
  ::dup2(error, STDERR_FILENO);
  ::close(error);
  std::fputs(wrap::each_once(read_if_possible(said.path())).c_str(), stderr);
  return status;
}

void compile(const wrap::Source& source, bool cpp, const std::string& compiler,
             const fs::path& output) {
  const Draft code(output, cpp ? ".cpp" : ".c");
  const Draft library(output, ".tmp");
  write_text_file(code.path(), source.text);
  const int status = compile_quietly(
      {compiler, "-O2", "-g", "-fPIC", "-shared", "-Wno-deprecated-declarations", "-o",
       library.path(), code.path(), library_directory() + "/libforetrace-wrap.a",
       "-Wl,--exclude-libs,ALL", "-lstdc++", "-ldl"},
      output);
  if (status != 0)
    throw Error("the compiler refused the library; " + output.string() + " was not written");
  library.move_to(output);
}

int wrap_template(const Options& options) {
  const std::string mpi = options.mpi ? name_of(parse_mpi(*options.mpi)) : default_mpi();
  if (mpi == name_of(Mpi::standard))
    throw UsageError(
        "--mpi standard: wrappers are made for an MPI that a program runs on, openmpi or mpich; "
        "one "
        "that is compiled for MPI's standard ABI (foretrace-cc) runs under foretrace simulate -n");
  const auto functions = signatures_of(mpi);
  if (functions.empty())
    throw UsageError("Foretrace was built without " + mpi + "; use --mpi with the other one");
  const wrap::Template source =
      wrap::parse_template(read_whole_file(options.input, "the template"), options.input);
  const fs::path output = !options.output.empty()
                              ? fs::path(options.output)
                              : fs::path("lib" + fs::path(options.input).stem().string() + ".so");
  check_output(output, source.cpp);
  if (source.wraps.empty() && source.init.empty() && source.finalize.empty())
    throw Error(
        options.input +
        ": expected a section, found none; name functions in %wrap FUNCTIONS, with the code "
        "around their %call, up to %end (or use %init, %finalize)");
  const wrap::Source result =
      wrap::generate(source, mpi, functions, output.string(), is_library(output));
  std::string use;
  if (is_library(output)) {
    const std::string compiler =
        options.compiler.empty() ? compiler_for(mpi, source.cpp) : find_program(options.compiler);
    compile(result, source.cpp, compiler, output);
    const std::string path = fs::absolute(output).lexically_normal().string();
    use = is_preloadable(path) ? "; start a program with LD_PRELOAD=" + path
                               : "; for LD_PRELOAD it needs a path without spaces and colons";
  } else {
    write_text_file(output, result.text);
  }
  std::fprintf(stderr, "foretrace: %s wraps %d functions of %s%s\n", output.c_str(),
               result.functions, mpi.c_str(), use.c_str());
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("template", options->input, "The template")->required();
  app.add_option("-o,--output", options->output,
                 "The library (.so) or its source (.c, .cpp); default libTEMPLATE.so");
  app.add_option("--mpi", options->mpi,
                 "For which MPI: openmpi or mpich; default: the one that mpicc belongs to")
      ->check(offers(kMpiWords));
  app.add_option("--compiler", options->compiler,
                 "Compiles the library; default mpicc.MPI, mpicc, or mpicxx likewise");
  return [options] { return wrap_template(*options); };
}

}  // namespace
}  // namespace wrap_command

const Subcommand kWrap{"wrap", "Make an MPI wrapper library of your own from a template",
                       wrap_command::declare, "foretrace wrap count.w -o libcount.so\n"};

}  // namespace foretrace::cli
