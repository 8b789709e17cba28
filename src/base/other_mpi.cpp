#include "base/other_mpi.hpp"

#include "base/loaded_object.hpp"

namespace foretrace {
namespace {

struct Library {
  std::string_view option;  // of --mpi
  std::string_view name;
  std::string_view file;
};

// MPICH's is called libmpi.so.12 where MPICH is the only one.
constexpr Library kLibraries[] = {{"openmpi", "Open MPI", "libmpi.so.40"},
                                  {"mpich", "MPICH", "libmpich.so.12"},
                                  {"mpich", "MPICH", "libmpi.so.12"}};

}  // namespace

std::string complain_of_other_mpi(std::string_view own) {
  const Library* other = nullptr;
  for_each_object([&](const LoadedObject& object) {
    for (const Library& library : kLibraries)
      if (library.option != own && object.file_name().starts_with(library.file)) other = &library;
  });
  if (!other) return {};
  return "the program has loaded " + std::string(other->name) + ", but its calls are taken for " +
         (own == "openmpi" ? "Open MPI's"
          : own == "mpich" ? "MPICH's"
                           : "the standard ABI's") +
         ": if it fails, use --mpi " + std::string(other->option);
}

}  // namespace foretrace
