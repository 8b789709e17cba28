#include "formats/otf2_archive.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/error.hpp"

namespace foretrace::formats {

namespace fs = std::filesystem;

namespace {

std::vector<char> whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string& words() {
  static std::string text;
  return text;
}

OTF2_ErrorCode on_error(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                        const char* format, va_list arguments) {
  if (!words().empty()) return code;
  char text[400] = "";
  if (format && *format) std::vsnprintf(text, sizeof text, format, arguments);
  words() = OTF2_Error_GetDescription(code);
  if (*text) words() += std::string(": ") + text;
  return code;
}

std::uint64_t number_at(const std::string& bytes, std::size_t at, bool little) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])}
             << (little ? 8 * i : 56 - 8 * i);
  return value;
}

// Whether all in the folder looks like an archive's files.
bool is_archive_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) return false;
  return std::ranges::all_of(fs::directory_iterator(folder), [](const fs::directory_entry& entry) {
    const std::string ending = entry.path().extension().string();
    return entry.is_regular_file() &&
           (ending == ".evt" || ending == ".def" || ending == ".snap" || ending == ".thumb");
  });
}

// The library draws the archive's number by chance; the same trace shall give the same bytes.
void settle_trace_id(const std::string& anchor, const std::string& definitions) {
  std::uint64_t id = 0;
  OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
  const bool numbered = reader && OTF2_Reader_GetTraceId(reader, &id) == OTF2_SUCCESS;
  if (reader) OTF2_Reader_Close(reader);
  if (!numbered) return;
  const std::vector<char> text = whole_file(definitions);
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::vector<char> bytes = whole_file(anchor);
  char old[sizeof id];
  char settled[sizeof id];
  std::memcpy(old, &id, sizeof id);
  std::memcpy(settled, &hash, sizeof hash);
  const auto found = std::ranges::find_end(bytes, old).begin();
  if (found == bytes.end()) return;
  std::ranges::copy(settled, found);
  std::ofstream(anchor, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Readers take memory of this size for each location.
constexpr std::uint64_t kEventChunk = 256 * 1024;

// A communicator's members have to fit.
std::uint64_t definitions_chunk(int ranks) {
  std::uint64_t size = 256 * 1024;
  while (size < static_cast<std::uint64_t>(ranks) * 16 && size < (std::uint64_t{16} << 20))
    size *= 2;
  return size;
}

}  // namespace

void check(OTF2_ErrorCode code) {
  if (code == OTF2_SUCCESS) return;
  std::string said = Otf2ErrorCatcher::take_words();
  if (said.empty()) said = OTF2_Error_GetDescription(code);
  throw Error("OTF2: " + said);
}

Otf2ErrorCatcher::Otf2ErrorCatcher() : before_(OTF2_Error_RegisterCallback(on_error, nullptr)) {
  words().clear();
}

Otf2ErrorCatcher::~Otf2ErrorCatcher() {
  OTF2_Error_RegisterCallback(before_, nullptr);
}

std::string Otf2ErrorCatcher::take_words() {
  std::string said;
  std::swap(said, words());
  return said;
}

void check_anchor(const std::string& path) {
  if (!fs::is_regular_file(path)) throw Error("cannot open the file");
  const std::vector<char> read = whole_file(path);
  const std::string bytes(read.begin(), read.end());
  constexpr std::size_t kChunks = 12;     // of events, then of definitions, bytes
  constexpr std::size_t kLocations = 30;  // then global definitions
  if (bytes.size() < kLocations + 16 || bytes.substr(2, 5) != std::string("OTF2\0", 5))
    throw Error("offset 0: expected the anchor of an OTF2 archive, found something else");
  const bool little = bytes[1] == 'B';
  constexpr std::uint64_t kLargestChunk = std::uint64_t{64} << 20;
  for (const std::size_t at : {kChunks, kChunks + 8})
    if (number_at(bytes, at, little) > kLargestChunk || number_at(bytes, at, little) < 256)
      throw Error("offset " + std::to_string(at) + ": expected a size of chunks, found " +
                  std::to_string(number_at(bytes, at, little)));
  for (const std::size_t at : {kLocations, kLocations + 8})
    if (number_at(bytes, at, little) > (std::uint64_t{1} << 32))
      throw Error("offset " + std::to_string(at) +
                  ": expected a number of locations or definitions");
  // After them the machine's, the creator's and the description's text, then the properties.
  std::size_t at = kLocations + 16;
  for (int text = 0; text < 3; ++text) {
    at = bytes.find('\0', at);
    if (at == bytes.npos) throw Error("expected three texts in the anchor, found its end");
    ++at;
  }
  if (at + 8 > bytes.size()) throw Error("expected properties in the anchor, found its end");
  const std::uint64_t properties =
      little ? number_at(bytes, at, true) & 0xffffffff : number_at(bytes, at, false) >> 32;
  if (properties > bytes.size())
    throw Error("offset " + std::to_string(at) + ": expected a number of properties, found " +
                std::to_string(properties));
}

NewArchive::NewArchive(const std::string& anchor, int ranks)
    : anchor_(anchor), stem_(anchor), part_(anchor + ".part"), unfinished_(part_) {
  constexpr std::string_view kEnding = ".otf2";
  if (!stem_.ends_with(kEnding) || fs::path(anchor).stem().string().empty() ||
      fs::path(anchor).filename() == kEnding)
    throw Error(anchor + ": an OTF2 archive's name ends in .otf2");
  stem_.resize(stem_.size() - kEnding.size());
  if (fs::exists(stem_) && !is_archive_folder(stem_))
    throw Error(anchor + ": cannot write its events into " + stem_ +
                ", which is no archive's folder; choose another name");
  std::error_code ignored;
  fs::remove_all(part_, ignored);
  const std::string name = fs::path(stem_).filename().string();
  archive_ =
      OTF2_Archive_Open(part_.c_str(), name.c_str(), OTF2_FILEMODE_WRITE, kEventChunk,
                        definitions_chunk(ranks), OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (!archive_)
    throw Error(anchor + ": cannot write the archive: " + Otf2ErrorCatcher::take_words());
}

NewArchive::~NewArchive() {
  if (archive_) OTF2_Archive_Close(archive_);
  std::error_code ignored;
  fs::remove_all(part_, ignored);
}

void NewArchive::write_empty_local_definitions(int locations) {
  check(OTF2_Archive_OpenDefFiles(archive_));
  for (int i = 0; i < locations; ++i) {
    OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive_, static_cast<OTF2_LocationRef>(i));
    if (!writer) throw Error(anchor_ + ": " + Otf2ErrorCatcher::take_words());
    check(OTF2_Archive_CloseDefWriter(archive_, writer));
  }
  check(OTF2_Archive_CloseDefFiles(archive_));
}

void NewArchive::finish() {
  OTF2_Archive* archive = nullptr;
  std::swap(archive, archive_);
  check(OTF2_Archive_Close(archive));
  try {
    const fs::path name = fs::path(stem_).filename();
    const fs::path from = fs::path(part_) / name;
    settle_trace_id(from.string() + ".otf2", from.string() + ".def");
    fs::remove(anchor_);
    fs::remove_all(stem_);
    if (fs::exists(from)) fs::rename(from, stem_);
    fs::rename(from.string() + ".def", stem_ + ".def");
    // The anchor last: who sees it finds the rest.
    fs::rename(from.string() + ".otf2", anchor_);
  } catch (const fs::filesystem_error& error) {
    throw Error(anchor_ + ": cannot put the archive in its place: " + error.code().message());
  }
}

}  // namespace foretrace::formats
