#include "trace/seal.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "trace/block_index.hpp"
#include "trace/checksum.hpp"
#include "trace/encoding.hpp"
#include "trace/told.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::trace {

namespace fs = std::filesystem;

namespace {

// `offset`: where the block will stand.
std::string block_header(BlockHeader header, std::uint64_t offset, const void* payload) {
  std::memcpy(header.magic, kBlockMagic, sizeof header.magic);
  header.frame = frame_of(header, offset);
  header.check = check_of(header, payload);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header);
}

const char* clock_name(Clock clock) {
  return clock == Clock::cpu ? "cpu" : clock == Clock::wall ? "wall" : "virtual";
}

nlohmann::ordered_json to_json(const Clocks& clocks) {
  nlohmann::ordered_json json = {{"hosts", clocks.hosts}, {"error", clocks.error.count_ps()}};
  for (const ClockDrift& drift : clocks.drift)
    json["drift"].push_back({drift.from.count_ps(), drift.to.count_ps(), drift.change.count_ps()});
  return json;
}

// Throws nlohmann's exceptions, and Error where the numbers cannot be.
Clocks to_clocks(const nlohmann::json& json, int ranks) {
  constexpr std::int64_t kMost = INT64_MAX / 4;
  Clocks clocks;
  clocks.hosts = json.at("hosts").get<int>();
  clocks.error = Time::ps(json.at("error").get<std::int64_t>());
  for (const auto& numbers : json.value("drift", nlohmann::json::array())) {
    const auto number = [&numbers](std::size_t i) { return numbers.at(i).get<std::int64_t>(); };
    const std::int64_t from = number(0);
    const std::int64_t to = number(1);
    const std::int64_t change = number(2);
    // A clock that drifts by as much as time goes by could run backwards.
    const bool possible =
        from >= -kMost && from < to && to <= kMost && change > from - to && change < to - from;
    if (!possible) throw Error("an impossible clock drift");
    clocks.drift.push_back({Time::ps(from), Time::ps(to), Time::ps(change)});
  }
  if (!clocks.drift.empty() && clocks.drift.size() != static_cast<std::size_t>(ranks))
    throw Error("a clock drift for " + std::to_string(clocks.drift.size()) + " ranks");
  return clocks;
}

std::vector<std::int32_t> to_nodes(const nlohmann::json& json, int ranks) {
  auto nodes = json.get<std::vector<std::int32_t>>();
  if (nodes.size() != static_cast<std::size_t>(ranks))
    throw Error("nodes of " + std::to_string(nodes.size()) + " ranks");
  for (const std::int32_t node : nodes)
    if (node < 0 || node >= ranks) throw Error("a node number " + std::to_string(node));
  return nodes;
}

}  // namespace

std::string info_text(const TraceInfo& info) {
  nlohmann::ordered_json json = {{"ranks", info.ranks},     {"clock", clock_name(info.clock)},
                                 {"program", info.program}, {"origin", info.origin},
                                 {"machine", info.machine}, {"options", info.options},
                                 {"mpi", info.mpi}};
  if (info.clocks.hosts > 0) json["clocks"] = to_json(info.clocks);
  if (!info.nodes.empty()) json["nodes"] = info.nodes;
  if (!info.notes.empty()) json["notes"] = info.notes;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

namespace {

// Where times are predicted, or another format is read: for what will be known of it at the end.
constexpr std::size_t kRoomForNotes = 2048;

// Whole pages.
std::size_t size_of_info_block(const TraceInfo& info, const std::string& text) {
  const bool more = info.clock == Clock::virtual_ || info.origin == "convert";
  const std::size_t size = sizeof(BlockHeader) + text.size() + (more ? kRoomForNotes : 0);
  return (size + kPage - 1) / kPage * kPage;
}

std::string info_block(const std::string& text, std::size_t whole) {
  BlockHeader header{};
  header.rank = kNoRank;
  header.size = static_cast<std::uint32_t>(whole - sizeof header);
  header.used = static_cast<std::uint32_t>(text.size());
  header.state = BlockState::last;
  std::string out = block_header(header, kPage, text.data()) + text;
  out.resize(whole, '\0');
  return out;
}

}  // namespace

std::string file_start(const TraceInfo& info, std::uint64_t blocks, std::uint32_t version) {
  const std::string text = info_text(info);
  const std::size_t whole = size_of_info_block(info, text);
  FileHeader file{};
  std::memcpy(file.magic, kFileMagic, sizeof file.magic);
  file.version = version;
  file.ranks = static_cast<std::uint32_t>(info.ranks);
  file.length = blocks == 0 ? 0 : kPage + whole + blocks;
  file.check = checksum(&file, offsetof(FileHeader, check));
  std::string out(reinterpret_cast<const char*>(&file), sizeof file);
  out.resize(kPage, '\0');
  return out + info_block(text, whole);
}

void keep_notes(const std::string& path, const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  const BlockIndex index(path);
  const TraceInfo before = index.info();
  BlockHeader header{};
  std::memcpy(&header, index.data() + kPage, sizeof header);
  const std::size_t whole = sizeof header + header.size;
  std::string text;
  for (std::size_t kept = notes.size();; --kept) {
    std::vector<std::string> some(notes.begin(), notes.begin() + static_cast<std::ptrdiff_t>(kept));
    if (kept < notes.size())
      some.push_back(std::to_string(notes.size() - kept) + " more were told when this was made");
    TraceInfo info = before;
    info.notes.insert(info.notes.end(), some.begin(), some.end());
    text = info_text(info);
    if (sizeof(BlockHeader) + text.size() <= whole || kept == 0) break;
  }
  if (sizeof(BlockHeader) + text.size() > whole) return;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(kPage));
  file << info_block(text, whole);
  if (!file.flush()) throw Error(path + ": cannot write the notes: " + std::strerror(errno));
}

TraceInfo parse_info(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  TraceInfo info;
  info.ranks = json.at("ranks").get<int>();
  const std::string clock = json.at("clock").get<std::string>();
  if (clock != "cpu" && clock != "wall" && clock != "virtual")
    throw Error("unknown clock '" + clock + "'");
  info.clock = clock == "cpu" ? Clock::cpu : clock == "wall" ? Clock::wall : Clock::virtual_;
  info.program = json.value("program", "");
  info.origin = json.value("origin", "");
  info.machine = json.value("machine", "");
  info.options = json.value("options", "");
  info.mpi = json.value("mpi", "");
  if (json.contains("clocks")) info.clocks = to_clocks(json["clocks"], info.ranks);
  if (json.contains("nodes")) info.nodes = to_nodes(json["nodes"], info.ranks);
  info.notes = json.value("notes", std::vector<std::string>());
  return info;
}

namespace {

// A rank without a block gets one: in a sealed file each has at least one.
std::uint64_t bytes_of_blocks(const BlockIndex& index, int ranks) {
  std::uint64_t bytes = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& pieces = index.pieces(WorldRank(rank));
    bytes += std::max<std::size_t>(pieces.size(), 1) * sizeof(BlockHeader);
    for (const BlockIndex::Piece& piece : pieces) bytes += piece.used;
  }
  return bytes;
}

// Whoever copies a damaged trace must not make it look whole.
void check_source(const BlockIndex& index, const BlockIndex::Piece* piece) {
  if (piece && !index.intact(*piece))
    throw Error(index.path() + ": offset " + std::to_string(index.header_of(*piece)) +
                ": the block is not as it was written; the file stays as it is");
  if (!piece && !index.damage().empty())
    throw Error(index.path() + ": offset " + std::to_string(index.damage().front().offset) + ": " +
                index.damage().front().what + "; the file stays as it is");
}

void copy_rank(const BlockIndex& index, WorldRank rank, std::uint64_t& offset, NewFile& out) {
  static const BlockIndex::Piece kNothing{0, 0};
  const auto& pieces = index.pieces(rank);
  const std::size_t blocks = std::max<std::size_t>(pieces.size(), 1);
  for (std::size_t i = 0; i < blocks; ++i) {
    const BlockIndex::Piece& piece = pieces.empty() ? kNothing : pieces[i];
    if (!pieces.empty()) check_source(index, &piece);
    const bool last = i + 1 == blocks;
    const std::uint8_t* const payload = index.data() + piece.offset;
    BlockHeader header{};
    header.rank = static_cast<std::uint32_t>(rank.value);
    header.number = static_cast<std::uint32_t>(i);
    header.size = header.used = static_cast<std::uint32_t>(piece.used);
    header.state = last ? BlockState::last : BlockState::full;
    if (last) header.open = index.open(rank);
    out.write(block_header(header, offset, payload));
    out.write({reinterpret_cast<const char*>(payload), piece.used});
    offset += sizeof header + piece.used;
    index.leave(piece);
  }
}

}  // namespace

void keep_ranks(TraceInfo& info, int ranks) {
  if (ranks == info.ranks) return;
  info.ranks = ranks;
  if (info.nodes.empty()) return;
  info.nodes.resize(static_cast<std::size_t>(ranks));
  std::map<std::int32_t, std::int32_t> numbers;
  for (std::int32_t& node : info.nodes)
    node = numbers.try_emplace(node, static_cast<std::int32_t>(numbers.size())).first->second;
}

void seal_trace_file(const std::string& from, const std::string& to, const Clocks& clocks,
                     std::optional<int> ranks, const std::vector<std::string>& notes) {
  const BlockIndex index(from);
  if (index.version() < kPlainVersion)
    throw Error(from + ": made by an older Foretrace; it stays as it is, and readable");
  check_source(index, nullptr);
  TraceInfo info = index.info();
  if (clocks.hosts > 0) info.clocks = clocks;
  info.notes.insert(info.notes.end(), notes.begin(), notes.end());
  keep_ranks(info, ranks.value_or(info.ranks));
  std::error_code ignored;
  if (fs::exists(to, ignored) && !fs::is_regular_file(to, ignored))
    throw Error(to + ": cannot write: it is no regular file");
  NewFile out(to);
  const std::string start = file_start(info, bytes_of_blocks(index, info.ranks), index.version());
  out.write(start);
  std::uint64_t offset = start.size();
  for (int rank = 0; rank < info.ranks; ++rank) copy_rank(index, WorldRank(rank), offset, out);
  out.commit();
  if (from != to) std::remove(from.c_str());
}

}  // namespace foretrace::trace
