// Windows: group, name, hints.
#include <algorithm>
#include <cstring>

#include "live_impl.hpp"
#include "mpi/onesided/state.hpp"

namespace foretrace::mpi {
namespace {

struct Hint {
  const char* key;
  const char* value;  // where the program says nothing
};
constexpr Hint kHints[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
};

}  // namespace

namespace impl {

int Win_get_group(MPI_Win handle, MPI_Group* group) {
  Win* win = get(handle);
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  *group = handle_of(retain(win->comm->group));
  return MPI_SUCCESS;
}

int Win_set_name(MPI_Win handle, const char* name) {
  Win* win = get(handle);
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  if (!name) return raise(win, MPI_ERR_ARG, "null name");
  win->name.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

int Win_get_name(MPI_Win handle, char* name, int* length) {
  Win* win = get(handle);
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  std::memcpy(name, win->name.c_str(), win->name.size() + 1);
  *length = static_cast<int>(win->name.size());
  return MPI_SUCCESS;
}

int Win_set_info(MPI_Win handle, MPI_Info info) {
  Win* win = get(handle);
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  Info* wanted = get(info);
  if (!wanted) return raise(win, MPI_ERR_INFO, "null or freed info");
  Info* merged = new Info;
  if (win->info) merged->entries = win->info->entries;
  for (const auto& [key, value] : wanted->entries) {
    const auto same = [&key = key](const auto& entry) { return entry.first == key; };
    const auto found = std::find_if(merged->entries.begin(), merged->entries.end(), same);
    if (found != merged->entries.end())
      found->second = value;
    else
      merged->entries.emplace_back(key, value);
  }
  release(win->info);
  win->info = merged;
  return MPI_SUCCESS;
}

int Win_get_info(MPI_Win handle, MPI_Info* info) {
  Win* win = get(handle);
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  Info* used = new Info;
  for (const Hint& hint : kHints) {
    const std::string* value = win->info ? win->info->find(hint.key) : nullptr;
    used->entries.emplace_back(hint.key, value ? *value : hint.value);
  }
  *info = handle_of(used);
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
