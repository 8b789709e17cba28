#include "mpi/core/info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <iterator>
#include <string>

#include "base/whole_file.hpp"
#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/rank.hpp"

namespace foretrace::mpi {

const std::string* Info::find(const std::string& key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  return found == entries.end() ? nullptr : &found->second;
}

Info* copy_of(const Info* info) {
  if (!info) return nullptr;
  auto* copy = new Info;
  copy->entries = info->entries;
  return copy;
}

namespace {

Info* environment = nullptr;  // MPI_INFO_ENV

struct ThreadLevel {
  int level;
  const char* name;
};

constexpr ThreadLevel kThreadLevels[] = {{MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
                                         {MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
                                         {MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
                                         {MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"}};

void describe_start(Info& info, const std::string& command, const std::string& arguments) {
  info.entries.emplace_back("command", command);
  if (!arguments.empty()) info.entries.emplace_back("argv", arguments);
  const std::string size = std::to_string(world_size());
  info.entries.emplace_back("maxprocs", size);
  info.entries.emplace_back("soft", size);
  utsname system{};
  if (uname(&system) == 0) {
    info.entries.emplace_back("host", system.nodename);
    info.entries.emplace_back("arch", system.machine);
  }
  char directory[PATH_MAX];
  if (getcwd(directory, sizeof directory)) info.entries.emplace_back("wdir", directory);
  info.entries.emplace_back(kThreadLevel, thread_level_name());
}

void describe_this_process(Info& info) {
  // This process's arguments from the first on, each with its end.
  const std::string line = read_if_possible("/proc/self/cmdline");
  const std::string command = line.c_str();
  std::string arguments = line.size() > command.size() ? line.substr(command.size() + 1) : "";
  if (!arguments.empty()) arguments.pop_back();
  std::replace(arguments.begin(), arguments.end(), '\0', ' ');
  describe_start(info, command, arguments);
}

Info* find_info(MPI_Info handle) {
  Info* info = get(handle);
  if (info && info == environment && info->entries.empty()) describe_this_process(*info);
  return info;
}

int raise_no_info() {
  return raise(world_comm, MPI_ERR_INFO, "null or freed info object");
}

bool is_key(const char* key) {
  return key && *key && std::strlen(key) <= static_cast<std::size_t>(MPI_MAX_INFO_KEY);
}

int raise_key(const char* key) {
  return raise(world_comm, MPI_ERR_INFO_KEY,
               key ? "key of " + std::to_string(std::strlen(key)) + " characters, expected 1 to " +
                         std::to_string(MPI_MAX_INFO_KEY)
                   : "null pointer");
}

// Copies what fits into `room` characters and the end.
void copy_out(const std::string& text, std::size_t room, char* out) {
  const std::size_t length = std::min(text.size(), room);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

}  // namespace

const char* thread_level_name() {
  int level = MPI_THREAD_SINGLE;
  impl::Query_thread(&level);
  for (const ThreadLevel& known : kThreadLevels)
    if (known.level == level) return known.name;
  return kThreadLevels[0].name;
}

int wanted_thread_level(const Info* info) {
  const std::string* name = info ? info->find(kThreadLevel) : nullptr;
  for (const ThreadLevel& known : kThreadLevels)
    if (name && *name == known.name) return known.level;
  return MPI_THREAD_SINGLE;
}

void create_predefined_info() {
  environment = new Info;
  environment->predefined = true;
  set_predefined(MPI_INFO_ENV, environment);
}

namespace impl {

int Info_create(MPI_Info* handle) {
  if (!handle) return raise(world_comm, MPI_ERR_ARG, "null pointer");
  *handle = handle_of(new Info);
  return MPI_SUCCESS;
}

int Info_dup(MPI_Info handle, MPI_Info* newinfo) {
  const Info* info = find_info(handle);
  if (!info) return raise_no_info();
  *newinfo = handle_of(copy_of(info));
  return MPI_SUCCESS;
}

int Info_free(MPI_Info* handle) {
  Info* info = handle ? get<Info>(*handle) : nullptr;
  if (!info || info->predefined) return raise_no_info();
  release(info);
  *handle = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

int Info_set(MPI_Info handle, const char* key, const char* value) {
  Info* info = find_info(handle);
  if (!info) return raise_no_info();
  if (!is_key(key)) return raise_key(key);
  if (!value || std::strlen(value) > static_cast<std::size_t>(MPI_MAX_INFO_VAL)) {
    return raise(world_comm, MPI_ERR_INFO_VALUE,
                 value ? "value of " + std::to_string(std::strlen(value)) + " characters"
                       : std::string("null pointer"));
  }
  if (const std::string* old = info->find(key)) {
    *const_cast<std::string*>(old) = value;
  } else {
    info->entries.emplace_back(key, value);
  }
  return MPI_SUCCESS;
}

int Info_delete(MPI_Info handle, const char* key) {
  Info* info = find_info(handle);
  if (!info) return raise_no_info();
  if (!is_key(key)) return raise_key(key);
  const std::size_t removed =
      std::erase_if(info->entries, [&](const auto& entry) { return entry.first == key; });
  if (removed == 0) return raise(world_comm, MPI_ERR_INFO_NOKEY, "no key " + std::string(key));
  return MPI_SUCCESS;
}

int Info_get(MPI_Info handle, const char* key, int valuelen, char* value, int* flag) {
  const Info* info = find_info(handle);
  if (!info) return raise_no_info();
  if (!is_key(key)) return raise_key(key);
  if (valuelen < 0) {
    return raise(world_comm, MPI_ERR_ARG, "value length " + std::to_string(valuelen));
  }
  const std::string* found = info->find(key);
  *flag = found ? 1 : 0;
  if (found) copy_out(*found, static_cast<std::size_t>(valuelen), value);
  return MPI_SUCCESS;
}

int Info_get_valuelen(MPI_Info handle, const char* key, int* valuelen, int* flag) {
  const Info* info = find_info(handle);
  if (!info) return raise_no_info();
  if (!is_key(key)) return raise_key(key);
  const std::string* found = info->find(key);
  *flag = found ? 1 : 0;
  if (found) *valuelen = static_cast<int>(found->size());
  return MPI_SUCCESS;
}

int Info_get_nkeys(MPI_Info handle, int* nkeys) {
  const Info* info = find_info(handle);
  if (!info) return raise_no_info();
  *nkeys = static_cast<int>(info->entries.size());
  return MPI_SUCCESS;
}

int Info_get_nthkey(MPI_Info handle, int n, char* key) {
  const Info* info = find_info(handle);
  if (!info) return raise_no_info();
  if (n < 0 || static_cast<std::size_t>(n) >= info->entries.size()) {
    return raise(world_comm, MPI_ERR_ARG,
                 "key number " + std::to_string(n) + " of " + std::to_string(info->entries.size()));
  }
  copy_out(info->entries[static_cast<std::size_t>(n)].first, MPI_MAX_INFO_KEY, key);
  return MPI_SUCCESS;
}

#if MPI_VERSION >= 4
int Info_get_string(MPI_Info handle, const char* key, int* buflen, char* value, int* flag) {
  const Info* info = find_info(handle);
  if (!info) return raise_no_info();
  if (!is_key(key)) return raise_key(key);
  if (*buflen < 0) return raise(world_comm, MPI_ERR_ARG, "buffer of negative length");
  const std::string* found = info->find(key);
  *flag = found ? 1 : 0;
  if (!found) return MPI_SUCCESS;
  // The lengths count the end of the string.
  if (*buflen > 0) copy_out(*found, static_cast<std::size_t>(*buflen) - 1, value);
  *buflen = static_cast<int>(found->size()) + 1;
  return MPI_SUCCESS;
}

int Info_create_env(int argc, char* argv[], MPI_Info* handle) {
  auto* info = new Info;
  std::string arguments;
  for (int i = 1; i < argc && argv && argv[i]; ++i) {
    arguments += (i > 1 ? " " : "") + std::string(argv[i]);
  }
  if (argc > 0 && argv && argv[0]) {
    describe_start(*info, argv[0], arguments);
  } else {
    describe_this_process(*info);
  }
  *handle = handle_of(info);
  return MPI_SUCCESS;
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
