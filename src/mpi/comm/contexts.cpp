#include "mpi/comm/contexts.hpp"

#include <cstring>

#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/simulator.hpp"

namespace foretrace::mpi {

namespace {

ContextId ask(Record& record, const std::vector<int>& members) {
  record.list_count = static_cast<std::uint32_t>(members.size());
  record.list = allocate_shared(members.size() * sizeof(int));
  std::memcpy(address_of(record.list), members.data(), members.size() * sizeof(int));
  const ContextId context = line.ask(record).context;
  free_shared(record.list);
  return context;
}

}  // namespace

ContextId define_context(const std::vector<int>& members) {
  Record record;
  record.posting = Posting::comm;
  return ask(record, members);
}

ContextId join_context(ContextId parent, int tag, const std::vector<int>& members) {
  Record record;
  record.posting = Posting::joint_comm;
  record.comm = parent;
  record.send_tag = tag;
  return ask(record, members);
}

void free_context(ContextId context) {
  Record record;
  record.posting = Posting::free;
  record.comm = context;
  line.tell(record);
}

}  // namespace foretrace::mpi
