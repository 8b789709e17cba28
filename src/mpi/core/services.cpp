#include "mpi/core/services.hpp"

#include <cstring>
#include <string_view>

#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/onesided/lock.hpp"

namespace foretrace::mpi {
namespace {

// The one that no window has (Header::locks).
constexpr std::uint64_t kLock = 0;

// In shared memory; behind it the characters of its name and of its value.
struct Service {
  std::uint64_t next = 0;  // place; 0: the last one
  ServiceKind kind{};
  std::uint32_t name_bytes = 0;
  std::uint32_t value_bytes = 0;

  char* text() { return reinterpret_cast<char*>(this + 1); }
  bool is(ServiceKind other, std::string_view name) {
    return kind == other && name == std::string_view(text(), name_bytes);
  }
  std::string value() { return {text() + name_bytes, value_bytes}; }
};

// The list, while nobody else looks at it.
class Services {
 public:
  Services() { lock(kLock, false); }
  ~Services() { unlock(kLock); }
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  // Where the place of the first that fits stands, or the list's end.
  std::uint64_t& find(ServiceKind kind, std::string_view name) {
    std::uint64_t* at = &SharedMemory::header().services;
    while (*at != 0 && !service(*at).is(kind, name)) at = &service(*at).next;
    return *at;
  }
  static Service& service(std::uint64_t place) { return *SharedMemory::at<Service>(place); }
};

}  // namespace

bool add_service(ServiceKind kind, const std::string& name, const std::string& value) {
  Services services;
  std::uint64_t& end = services.find(kind, name);
  if (end != 0) return false;
  const std::uint64_t place = allocate_shared(sizeof(Service) + name.size() + value.size());
  Service& made = *new (SharedMemory::at<Service>(place)) Service;
  made.kind = kind;
  made.name_bytes = static_cast<std::uint32_t>(name.size());
  made.value_bytes = static_cast<std::uint32_t>(value.size());
  std::memcpy(made.text(), name.data(), name.size());
  std::memcpy(made.text() + name.size(), value.data(), value.size());
  end = place;
  return true;
}

std::optional<std::string> find_service(ServiceKind kind, const std::string& name) {
  Services services;
  const std::uint64_t place = services.find(kind, name);
  if (place == 0) return std::nullopt;
  return Services::service(place).value();
}

bool remove_service(ServiceKind kind, const std::string& name) {
  Services services;
  std::uint64_t& at = services.find(kind, name);
  const std::uint64_t place = at;
  if (place == 0) return false;
  at = Services::service(place).next;
  free_shared(place);
  return true;
}

}  // namespace foretrace::mpi
