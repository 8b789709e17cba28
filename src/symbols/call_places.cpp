#include "symbols/call_places.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "symbols/demangle.hpp"

namespace foretrace::symbols {
namespace {

constexpr std::string_view kPython = "python:";

}  // namespace

// One file, opened by libdw as if it were loaded at address 0.
class CallPlaces::Object {
 public:
  explicit Object(const std::string& path) {
    // A trace may name anything.
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return;
    static char* no_path = nullptr;
    static const Dwfl_Callbacks kCallbacks{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                           dwfl_offline_section_address, &no_path};
    dwfl_.reset(dwfl_begin(&kCallbacks));
    if (!dwfl_) return;
    dwfl_report_begin(dwfl_.get());
    module_ = dwfl_report_elf(dwfl_.get(), path.c_str(), path.c_str(), -1, 0, false);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  }

  void describe(std::uint64_t address, Place& place) const {
    if (!module_) return;
    if (Dwfl_Line* line = dwfl_module_getsrc(module_, address)) {
      const char* file = dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr);
      if (file)
        place.file = file;
      else
        place.line = 0;
    }
    place.function = described_function(address);
    if (!place.function.empty()) return;
    if (const char* symbol = dwfl_module_addrname(module_, address))
      place.function = demangle(symbol);
  }

 private:
  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };

  // The function that the source line belongs to, which the compiler may have
  // put into another one there.
  std::string described_function(std::uint64_t address) const {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias);
    if (!unit) return {};
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(unit, address - bias, &scopes);
    std::string name;
    for (int i = 0; i < count && name.empty(); ++i) {
      const int tag = dwarf_tag(&scopes[i]);
      if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) name = name_of(&scopes[i]);
    }
    std::free(scopes);
    return name;
  }

  static std::string name_of(Dwarf_Die* die) {
    Dwarf_Attribute memory;
    Dwarf_Attribute* linkage = dwarf_attr_integrate(die, DW_AT_linkage_name, &memory);
    const char* name = linkage ? dwarf_formstring(linkage) : dwarf_diename(die);
    return name ? demangle(name) : std::string();
  }

  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
};

CallPlaces::CallPlaces() = default;
CallPlaces::~CallPlaces() = default;
CallPlaces::CallPlaces(CallPlaces&&) noexcept = default;
CallPlaces& CallPlaces::operator=(CallPlaces&&) noexcept = default;

const Place& CallPlaces::find(const std::string& object, std::uint64_t offset) {
  const auto [entry, added] = known_.try_emplace({object, offset});
  Place& place = entry->second;
  if (!added) return place;
  place.object = object;
  place.offset = offset;
  // It stands there already.
  if (object.starts_with(kPython)) {
    const std::size_t colon = object.find(':', kPython.size());
    place.function = object.substr(kPython.size(), colon - kPython.size());
    if (colon != std::string::npos) place.file = object.substr(colon + 1);
    place.line = static_cast<int>(std::min<std::uint64_t>(offset, INT_MAX));
    return place;
  }
  std::unique_ptr<Object>& file = objects_[object];
  if (!file) file = std::make_unique<Object>(object);
  // The call itself is before the place that it returns to.
  if (offset > 0) file->describe(offset - 1, place);
  return place;
}

std::string format_place(const Place& place) {
  const auto file_name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (place.line > 0) return file_name(place.file) + ":" + std::to_string(place.line);
  if (place.object.empty()) return {};
  std::array<char, 16> digits;
  const char* end =
      std::to_chars(digits.data(), digits.data() + digits.size(), place.offset, 16).ptr;
  return file_name(place.object) + "+0x" +
         std::string(static_cast<const char*>(digits.data()), end);
}

}  // namespace foretrace::symbols
