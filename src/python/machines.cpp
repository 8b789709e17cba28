#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "machine/machine_file.hpp"
#include "machine/timing.hpp"
#include "python/interface.hpp"

using foretrace::Bytes;
using foretrace::Error;
using foretrace::machine::Bound;
using foretrace::machine::MachineModel;
using foretrace::python::guarded;

namespace {

Bound bound_of(const std::string& name) {
  if (name == "min") return Bound::min;
  if (name == "avg") return Bound::avg;
  if (name == "max") return Bound::max;
  throw Error("expected the bound min, avg or max, found '" + name + "'");
}

foretrace::machine::Function function_of(const MachineModel& model, const char* name) {
  if (auto function = foretrace::machine::predicted_function(model, name))
    return *std::move(function);
  const bool known = foretrace::machine::charged_function(model, name).known;
  throw Error("'" + std::string(name) + "' is not in the machine model" +
              (known ? ", and nothing that it has stands in" : ""));
}

}  // namespace

MachineModel* foretrace_machine_open(const char* path) {
  return guarded<MachineModel*>(
      nullptr, [&] { return new MachineModel(foretrace::machine::read_machine_file(path)); });
}

void foretrace_machine_close(MachineModel* model) {
  delete model;
}

const char* foretrace_machine_description(const MachineModel* model) {
  using nlohmann::ordered_json;
  static thread_local std::string text;
  ordered_json all = {{"name", model->name},       {"ranks", model->ranks},
                      {"kind", model->kind},       {"source", model->source},
                      {"licence", model->licence}, {"date", model->date},
                      {"mpi", model->mpi_library}, {"functions", ordered_json::array()}};
  for (const auto& [name, unused] : model->functions) all["functions"].push_back(name);
  text = all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return text.c_str();
}

std::int32_t foretrace_machine_times(const MachineModel* model, const char* function,
                                     const char* bound, const std::int64_t* ranks,
                                     const std::uint64_t* bytes, double* seconds,
                                     std::int64_t count) {
  return guarded(-1, [&] {
    const auto known = function_of(*model, function);
    const Bound which = bound_of(bound);
    for (std::int64_t i = 0; i < count; ++i) {
      if (ranks[i] < 1 || ranks[i] > (1 << 26))
        throw Error("expected 1 to 67108864 ranks, found " + std::to_string(ranks[i]));
      seconds[i] =
          evaluate_seconds(*model, known, static_cast<int>(ranks[i]), Bytes(bytes[i]), which);
    }
    return 0;
  });
}
