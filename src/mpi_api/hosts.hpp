// Hosts: which ranks of a communicator run on the same host. For the capture library and
// the characterisation program.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace foretrace::mpi_api {

// By rank the number of its host, from 0 on in the order of the ranks. Hosts are told
// apart by MPI's name of the processor. Collective.
inline std::vector<std::int32_t> find_hosts(MPI_Comm comm) {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  int ranks = 0;
  PMPI_Get_processor_name(name, &length);
  PMPI_Comm_size(comm, &ranks);
  const std::uint64_t mine = std::hash<std::string_view>()(
      std::string_view(name, static_cast<std::size_t>(std::max(length, 0))));
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
  PMPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, comm);
  std::unordered_map<std::uint64_t, std::int32_t> numbers;
  std::vector<std::int32_t> hosts;
  for (const std::uint64_t host : all)
    hosts.push_back(numbers.emplace(host, static_cast<std::int32_t>(numbers.size())).first->second);
  return hosts;
}

}  // namespace foretrace::mpi_api
