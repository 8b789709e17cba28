// What MPI 4.1 and 5.0 added that a program asks about the library: the ABI, the
// Fortran compiler that it stands for (gfortran), the machine.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "live_impl.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/info.hpp"

namespace foretrace::mpi {

namespace {
MPI_Info info_of(std::vector<std::pair<std::string, std::string>> entries) {
  auto* const info = new Info;
  info->entries = std::move(entries);
  return handle_of(info);
}

int known_already() {
  return raise(static_cast<Comm*>(nullptr), MPI_ERR_ABI,
               "the library knows the Fortran compiler; it cannot be told");
}

bool is_logical_size(int bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

// A LOGICAL of gfortran: an integer, 1 or 0.
void write_logical(void* place, int bytes, bool value) {
  std::memset(place, 0, static_cast<std::size_t>(bytes));
  *static_cast<unsigned char*>(place) = value ? 1 : 0;
}
}  // namespace

namespace impl {

int Abi_get_version(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

int Abi_get_info(MPI_Info* info) {
  *info = info_of({{"mpi_aint_size", std::to_string(sizeof(MPI_Aint))},
                   {"mpi_count_size", std::to_string(sizeof(MPI_Count))},
                   {"mpi_offset_size", std::to_string(sizeof(MPI_Offset))}});
  return MPI_SUCCESS;
}

int Abi_get_fortran_info(MPI_Info* info) {
  *info = info_of({{"mpi_logical_size", "4"},
                   {"mpi_integer_size", "4"},
                   {"mpi_real_size", "4"},
                   {"mpi_double_precision_size", "8"},
                   {"mpi_logical1_supported", "true"},
                   {"mpi_logical2_supported", "true"},
                   {"mpi_logical4_supported", "true"},
                   {"mpi_logical8_supported", "true"},
                   {"mpi_logical16_supported", "false"},
                   {"mpi_integer1_supported", "true"},
                   {"mpi_integer2_supported", "true"},
                   {"mpi_integer4_supported", "true"},
                   {"mpi_integer8_supported", "true"},
                   {"mpi_integer16_supported", "false"},
                   {"mpi_real2_supported", "false"},
                   {"mpi_real4_supported", "true"},
                   {"mpi_real8_supported", "true"},
                   {"mpi_real16_supported", "true"},
                   {"mpi_complex4_supported", "false"},
                   {"mpi_complex8_supported", "true"},
                   {"mpi_complex16_supported", "true"},
                   {"mpi_complex32_supported", "true"},
                   {"mpi_double_complex_supported", "true"}});
  return MPI_SUCCESS;
}

int Abi_set_fortran_info(MPI_Info) {
  return known_already();
}

int Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
                             int* is_set) {
  if (!is_logical_size(logical_size)) {
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_ARG,
                 "no LOGICAL has " + std::to_string(logical_size) + " bytes");
  }
  write_logical(logical_true, logical_size, true);
  write_logical(logical_false, logical_size, false);
  *is_set = 1;
  return MPI_SUCCESS;
}

int Abi_set_fortran_booleans(int, void*, void*) {
  return known_already();
}

// Every process has a core of one machine, which it knows no more of.
int Get_hw_resource_info(MPI_Info* hw_info) {
  *hw_info = info_of({{"mpi_shared_memory", "true"}});
  return MPI_SUCCESS;
}

}  // namespace impl

}  // namespace foretrace::mpi
