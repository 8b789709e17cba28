#include "shared/birth.hpp"

#include <cstring>

namespace foretrace::live {
namespace {

void put(std::vector<char>& bytes, std::int32_t number) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof number);
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

void put(std::vector<char>& bytes, const std::string& text) {
  put(bytes, static_cast<std::int32_t>(text.size()));
  bytes.insert(bytes.end(), text.begin(), text.end());
}

// Reads what put() wrote.
class Reader {
 public:
  explicit Reader(std::span<const char> bytes) : bytes_(bytes) {}
  std::int32_t number() {
    std::int32_t number = 0;
    std::memcpy(&number, bytes_.data(), sizeof number);
    bytes_ = bytes_.subspan(sizeof number);
    return number;
  }
  std::string text() {
    const auto size = static_cast<std::size_t>(number());
    std::string text(bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return text;
  }

 private:
  std::span<const char> bytes_;
};

}  // namespace

std::vector<char> to_bytes(const SpawnRequest& request) {
  std::vector<char> bytes;
  put(bytes, static_cast<std::int32_t>(request.applications.size()));
  for (const Application& application : request.applications) {
    put(bytes, application.count);
    put(bytes, application.directory);
    put(bytes, static_cast<std::int32_t>(application.words.size()));
    for (const std::string& word : application.words) put(bytes, word);
  }
  put(bytes, static_cast<std::int32_t>(request.parents.size()));
  for (const std::int32_t parent : request.parents) put(bytes, parent);
  return bytes;
}

SpawnRequest spawn_request(std::span<const char> bytes) {
  Reader reader(bytes);
  SpawnRequest request;
  request.applications.resize(static_cast<std::size_t>(reader.number()));
  for (Application& application : request.applications) {
    application.count = reader.number();
    application.directory = reader.text();
    application.words.resize(static_cast<std::size_t>(reader.number()));
    for (std::string& word : application.words) word = reader.text();
  }
  request.parents.resize(static_cast<std::size_t>(reader.number()));
  for (std::int32_t& parent : request.parents) parent = reader.number();
  return request;
}

}  // namespace foretrace::live
