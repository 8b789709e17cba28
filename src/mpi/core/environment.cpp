// What a program asks about the library and the machine that it runs on.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/info.hpp"
#include "mpi/core/line.hpp"

namespace foretrace::mpi {
namespace {

void hand_out(std::string text, std::size_t room, char* out, int* length) {
  if (text.size() >= room) text.resize(room - 1);
  std::memcpy(out, text.c_str(), text.size() + 1);
  *length = static_cast<int>(text.size());
}

// The alignment that MPI_Alloc_mem is asked for; what malloc has, at least.
std::size_t alignment_in(const Info* info) {
  constexpr std::size_t kCacheLine = 64;
  const std::string* text = info ? info->find("mpi_minimum_memory_alignment") : nullptr;
  const std::size_t asked = text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
  const bool power_of_two = asked != 0 && (asked & (asked - 1)) == 0;
  return power_of_two && asked > kCacheLine ? asked : kCacheLine;
}

}  // namespace

namespace impl {

int Get_processor_name(char* name, int* resultlen) {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  hand_out(host, MPI_MAX_PROCESSOR_NAME, name, resultlen);
  return MPI_SUCCESS;
}

int Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int Get_library_version(char* version, int* resultlen) {
  std::string text = "Foretrace, simulated MPI with the binary interface of ";
#ifdef MPICH
  text += "MPICH " MPICH_VERSION;
#elif defined OPEN_MPI
  text += "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + "." +
          std::to_string(OMPI_MINOR_VERSION) + "." + std::to_string(OMPI_RELEASE_VERSION);
#else
  text += "MPI's standard ABI " + std::to_string(MPI_ABI_VERSION) + "." +
          std::to_string(MPI_ABI_SUBVERSION);
#endif
  hand_out(std::move(text), MPI_MAX_LIBRARY_VERSION_STRING, version, resultlen);
  return MPI_SUCCESS;
}

int Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  if (size < 0) return raise(world_comm, MPI_ERR_SIZE, std::to_string(size) + " bytes");
  if (!baseptr) return raise(world_comm, MPI_ERR_ARG, "null pointer");
  void* memory = nullptr;
  const std::size_t bytes = size > 0 ? static_cast<std::size_t>(size) : 1;
  if (posix_memalign(&memory, alignment_in(get<Info>(info)), bytes) != 0) {
    return raise(world_comm, MPI_ERR_NO_MEM, std::to_string(size) + " bytes");
  }
  std::memcpy(baseptr, &memory, sizeof memory);
  return MPI_SUCCESS;
}

int Free_mem(void* base) {
  std::free(base);
  return MPI_SUCCESS;
}

int Get_address(const void* location, MPI_Aint* address) {
  *address = static_cast<MPI_Aint>(reinterpret_cast<std::intptr_t>(location));
  return MPI_SUCCESS;
}

// Addresses may wrap round, integers not.
MPI_Aint Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(disp));
}
MPI_Aint Aint_diff(MPI_Aint a, MPI_Aint b) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(a) - static_cast<std::uintptr_t>(b));
}

int Pcontrol(const int level, ...) {
  if (level == 0 || level == 1) line.set_logging(level == 1);
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
