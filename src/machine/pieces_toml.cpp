#include "machine/pieces_toml.hpp"

#include <charconv>

#include "machine/size_times_toml.hpp"

namespace foretrace::machine {
namespace {

PieceTimes read_side(const TableReader& reader) {
  PieceTimes side;
  for (const auto& [key, node] : reader.raw()) {
    const std::string name(key.str());
    std::uint64_t piece = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), piece);
    if (fault != std::errc() || end != name.data() + name.size() || piece == 0)
      reader.fail(&node, "'" + name + "' must be the bytes of a piece, 1 or more");
    if (!side.emplace(Bytes(piece), read_size_times(reader, name)).second)
      reader.fail(&node, "pieces of " + std::to_string(piece) + " bytes are there twice");
  }
  return side;
}

std::string format_side(const std::string& side, const PieceTimes& known) {
  std::string out;
  for (const auto& [piece, times] : known)
    out += side + "." + std::to_string(piece.count) + " = [" + size_times_text(times) + "]\n";
  return out;
}

}  // namespace

Pieces read_pieces(const TableReader& reader, const std::string& prefix) {
  reader.allow_only({"send", "recv"});
  const auto side = [&](const std::string& name) {
    const toml::table* table = reader.table(name);
    if (!table) return PieceTimes();
    return read_side(TableReader(*table, reader.file(), "[" + prefix + "pieces." + name + "]"));
  };
  return {side("send"), side("recv")};
}

std::string format_pieces(const Pieces& pieces, const std::string& prefix) {
  if (pieces.empty()) return {};
  return "\n[" + prefix +
         "pieces]  # seconds more for data that does not lie together, by the bytes of a piece\n" +
         format_side("send", pieces.send) + format_side("recv", pieces.recv);
}

}  // namespace foretrace::machine
