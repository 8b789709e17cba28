#include "wrap/generate.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

#include "base/error.hpp"
#include "wrap/emitter.hpp"

namespace foretrace::wrap {
namespace {

constexpr const char* kPrologue =
    "#ifndef _GNU_SOURCE\n"
    "#define _GNU_SOURCE 1\n"
    "#endif\n"
    "#define OMPI_SKIP_MPICXX 1\n"
    "#define MPICH_SKIP_MPICXX 1\n"
    "#include <mpi.h>\n"
    "#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)\n"
    "#include <mpi-ext.h>\n"
    "#endif\n"
    "#include <time.h>\n"
    R"(
#if defined(__cplusplus)
#define WRAP_C extern "C"
#else
#define WRAP_C
#endif
#define WRAP_EXPORT WRAP_C __attribute__((visibility("default")))

/* Above 0 inside a wrapper: calls from there are the MPI library's or this
   file's own, not the program's. */
static __thread int wrap_depth = 0;
static int wrap_rank = -1;
static int wrap_size = 0;

__attribute__((unused)) static void wrap_leave(int *depth)
{
  (void)depth;
  --wrap_depth;
}

/* Seconds; MPI_Wtime may not be called before MPI_Init. */
__attribute__((unused)) static double wrap_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What `count` elements of a datatype hold. */
__attribute__((unused)) static long long wrap_bytes(long long count, MPI_Datatype datatype)
{
  int size = 0;
  if (datatype != MPI_DATATYPE_NULL) PMPI_Type_size(datatype, &size);
  return count * size;
}

)";

constexpr const char* kBegin = R"({
  static int done = 0;
  if (done) return;
  done = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &wrap_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &wrap_size);
)";

bool begins_mpi(std::string_view name) {
  return name == "MPI_Init" || name == "MPI_Init_thread";
}

// The template's code around one function: that of the first %wrap outermost.
struct Wrapped {
  const MpiFunction* function = nullptr;
  std::vector<const Wrap*> wraps;
};

// Where a piece of the template is filled in.
struct Scope {
  const MpiFunction* function = nullptr;  // innermost: loop's or wrapper's
  const Wrapped* wrapper = nullptr;       // inside a wrapper
  std::size_t level = 0;                  // of wrapper->wraps
  bool* called = nullptr;                 // %call was met on this level
  std::vector<std::pair<std::string, const MpiFunction*>> variables;  // of loops
};

class Generator {
 public:
  Generator(const Template& source, std::string_view mpi, std::span<const MpiFunction> functions,
            std::string_view file, bool fortran)
      : template_(source),
        mpi_(mpi),
        functions_(functions),
        fortran_(fortran),
        out_(file, source.name) {}

  Source run() {
    find_wrapped();
    out_.own("/* Made by foretrace wrap from " + escaped_comment(template_.name) + " for " +
             std::string(mpi_) + ". */\n");
    out_.own(kPrologue);
    fill(template_.global, {});
    out_.own("\nstatic void wrap_begin(void)\n");
    out_.own(kBegin);
    fill(template_.init, {});
    out_.own("}\n\nstatic void wrap_end(void)\n{\n");
    fill(template_.finalize, {});
    out_.own("}\n");
    for (const Wrapped& wrapped : wrapped_) wrapper(wrapped);
    if (fortran_) fortran_calls();
    int count = 0;
    for (const Wrapped& wrapped : wrapped_) count += wrapped.wraps.empty() ? 0 : 1;
    return {out_.text(), count};
  }

 private:
  static std::string escaped_comment(std::string text) {
    for (std::size_t at; (at = text.find("*/")) != std::string::npos;) text.erase(at, 1);
    std::ranges::replace(text, '\n', ' ');
    return text;
  }
  [[noreturn]] void fail(int line, const std::string& message) const {
    throw Error(template_.name + ":" + std::to_string(line) + ": " + message);
  }

  bool is_wrapped(std::string_view name) const {
    const auto found = std::ranges::find(
        wrapped_, name, [](const Wrapped& wrapped) { return wrapped.function->name; });
    return found != wrapped_.end() && !found->wraps.empty();
  }

  void find_wrapped() {
    for (const Wrap& wrap : template_.wraps) wrap.set.check(functions_);
    const auto nothing = [](std::string_view) { return false; };
    for (const MpiFunction& function : functions_) {
      Wrapped wrapped{&function, {}};
      for (const Wrap& wrap : template_.wraps)
        if (wrap.set.contains(function.name, nothing)) wrapped.wraps.push_back(&wrap);
      // The beginning and end are wrapped in any case.
      if (!wrapped.wraps.empty() || begins_mpi(function.name) || function.name == "MPI_Finalize")
        wrapped_.push_back(wrapped);
    }
    for (const Wrap& wrap : template_.wraps)
      if (std::ranges::none_of(wrapped_, [&wrap](const Wrapped& wrapped) {
            return std::ranges::find(wrapped.wraps, &wrap) != wrapped.wraps.end();
          }))
        fail(wrap.line, "no function of " + std::string(mpi_) + " is in this set");
  }

  // --- the template's parts

  void fill(const Body& body, const Scope& scope) {
    for (const Node& node : body) {
      switch (node.kind) {
        case Node::Kind::text:
          out_.quoted(node.line, substituted(node, scope));
          break;
        case Node::Kind::call:
          call(node.line, scope);
          break;
        case Node::Kind::loop:
          loop(node, scope);
          break;
        case Node::Kind::branches:
          branches(node, scope);
          break;
      }
    }
  }

  void loop(const Node& node, const Scope& scope) {
    node.set->check(functions_);
    for (const MpiFunction& function : functions_) {
      if (!node.set->contains(function.name, [this](auto name) { return is_wrapped(name); }))
        continue;
      Scope inner = scope;
      inner.function = &function;
      inner.variables.emplace_back(node.text, &function);
      fill(node.body, inner);
    }
  }

  void branches(const Node& node, const Scope& scope) {
    for (const Branch& branch : node.branches) {
      if (branch.condition) {
        if (!scope.function && asks_for_function(*branch.condition))
          fail(node.line, "the condition asks for a function, but stands in no %wrap and no %for");
        const Subject subject{scope.function, mpi_, [this](auto name) { return is_wrapped(name); }};
        if (!holds(*branch.condition, subject)) continue;
      }
      fill(branch.body, scope);
      return;
    }
  }

  std::string substituted(const Node& node, const Scope& scope) const {
    std::string out;
    const std::string& text = node.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '@') {
        out += text[i];
        continue;
      }
      if (text.substr(i, 2) == "@@") {
        out += text[i++];
        continue;
      }
      std::size_t end = i + 1;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        ++end;
      if (end == i + 1)
        out += '@';
      else
        out += value(text.substr(i + 1, end - i - 1), node.line, scope);
      i = end - 1;
    }
    return out;
  }

  std::string value(const std::string& name, int line, const Scope& scope) const {
    for (auto variable = scope.variables.rbegin(); variable != scope.variables.rend(); ++variable)
      if (variable->first == name) return std::string(variable->second->name);
    if (name == "rank") return "wrap_rank";
    if (name == "size") return "wrap_size";
    if (name == "now") return "wrap_now()";
    if (name == "mpi") return std::string(mpi_);
    if (name == "functions") return std::to_string(indexed());
    if (name == "result" || name == "arguments") {
      if (!scope.wrapper) fail(line, "@" + name + " outside of %wrap");
      return name == "result" ? "wrap_result" : std::string(scope.wrapper->function->arguments);
    }
    if (name != "function" && name != "index" && !is_role(name))
      fail(line, "nothing is called @" + name + " here; @@ stands for @ itself");
    if (!scope.function) fail(line, "@" + name + " outside of %wrap and %for: of which function?");
    if (name == "function") return std::string(scope.function->name);
    if (name == "index") return std::to_string(index_of(*scope.function, line));
    return role(name, line, *scope.function);
  }

  std::string role(const std::string& name, int line, const MpiFunction& function) const {
    if (!has_role(function, name))
      fail(line, std::string(function.name) + " has nothing for @" + name + "; ask with %if has @" +
                     name);
    if (name != "bytes") return std::string(*argument_of(function, name));
    return "wrap_bytes((long long)(" + std::string(*argument_of(function, "count")) + "), " +
           std::string(*argument_of(function, "datatype")) + ")";
  }

  int indexed() const {
    return static_cast<int>(std::ranges::count_if(
        wrapped_, [](const Wrapped& wrapped) { return !wrapped.wraps.empty(); }));
  }
  int index_of(const MpiFunction& function, int line) const {
    int index = 0;
    for (const Wrapped& wrapped : wrapped_) {
      if (wrapped.wraps.empty()) continue;
      if (wrapped.function == &function) return index;
      ++index;
    }
    fail(line,
         "@index counts the functions that are wrapped; " + std::string(function.name) + " is not");
  }

  // --- the wrappers

  void wrapper(const Wrapped& wrapped) {
    const MpiFunction& function = *wrapped.function;
    const std::string name(function.name);
    const std::string result(function.result);
    out_.own("\n#undef " + name + "\n");
    // MPICH keeps some of these in its Fortran library.
    if (is_conversion(name)) out_.own("#pragma weak P" + name + "\n");
    out_.own("WRAP_EXPORT " + result + " " + name + "(" + std::string(function.parameters) +
             ")\n{\n");
    out_.own("  if (wrap_depth > 0) return P" + name + "(" + std::string(function.arguments) +
             ");\n");
    out_.own("  " + result + " wrap_result = 0;\n");
    out_.own("  __attribute__((cleanup(wrap_leave), unused)) int wrap_inside = ++wrap_depth;\n");
    level(wrapped, 0);
    out_.own("  return wrap_result;\n}\n");
  }

  // The wrap of one level, with the next inside it; the function itself inside the last.
  void level(const Wrapped& wrapped, std::size_t number) {
    if (number == wrapped.wraps.size()) {
      real_call(*wrapped.function);
      return;
    }
    bool called = false;
    Scope scope;
    scope.function = wrapped.function;
    scope.wrapper = &wrapped;
    scope.level = number;
    scope.called = &called;
    out_.own("  {\n");
    fill(wrapped.wraps[number]->body, scope);
    out_.own("  }\n");
  }

  void call(int line, const Scope& scope) {
    if (*scope.called)
      fail(line, "a second %call for " + std::string(scope.wrapper->function->name));
    *scope.called = true;
    level(*scope.wrapper, scope.level + 1);
  }

  void real_call(const MpiFunction& function) {
    const std::string name(function.name);
    if (name == "MPI_Finalize") out_.own("  wrap_end();\n");
    out_.own("  wrap_result = P" + name + "(" + std::string(function.arguments) + ");\n");
    if (begins_mpi(name)) out_.own("  if (wrap_result == MPI_SUCCESS) wrap_begin();\n");
  }

  // --- Fortran: stand-ins for the profiling functions that its libraries call

  void fortran_calls() {
    out_.own(
        "\nstruct wrap_fortran_call {\n  const char *name;\n  void *function;\n};\n"
        "WRAP_C int foretrace_wrap_is_programs_call(const char *name, const void *address);\n"
        "WRAP_C void foretrace_wrap_redirect(const struct wrap_fortran_call *calls, int count);\n");
    int count = 0;
    for (const Wrapped& wrapped : wrapped_) {
      const MpiFunction& function = *wrapped.function;
      if (is_conversion(function.name)) continue;
      const std::string name(function.name);
      const std::string arguments = "(" + std::string(function.arguments) + ")";
      out_.own("\nstatic " + std::string(function.result) + " wrap_fortran_" + name + "(" +
               std::string(function.parameters) + ")\n{\n");
      out_.own("  if (foretrace_wrap_is_programs_call(\"" + name +
               "\", __builtin_return_address(0)))\n    return " + name + arguments + ";\n");
      out_.own("  return P" + name + arguments + ";\n}\n");
      ++count;
    }
    out_.own("\nstatic const struct wrap_fortran_call wrap_fortran_calls[] = {\n");
    for (const Wrapped& wrapped : wrapped_) {
      const std::string name(wrapped.function->name);
      if (!is_conversion(name))
        out_.own("  {\"" + name + "\", (void *)wrap_fortran_" + name + "},\n");
    }
    out_.own(
        "};\n\n__attribute__((constructor)) static void wrap_load(void)\n{\n"
        "  foretrace_wrap_redirect(wrap_fortran_calls, " +
        std::to_string(count) + ");\n}\n");
  }

  const Template& template_;
  std::string_view mpi_;
  std::span<const MpiFunction> functions_;
  bool fortran_;
  std::vector<Wrapped> wrapped_;
  Emitter out_;
};

}  // namespace

Source generate(const Template& source, std::string_view mpi,
                std::span<const MpiFunction> functions, std::string_view file, bool fortran) {
  return Generator(source, mpi, functions, file, fortran).run();
}

}  // namespace foretrace::wrap
