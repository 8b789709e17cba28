#include "trace/seal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "trace/block_index.hpp"
#include "trace/encoding.hpp"
#include "trace/file_size_signal.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::trace {

namespace fs = std::filesystem;

namespace {

std::string block_header(std::uint32_t rank, std::size_t size, std::size_t used,
                         OpenCall open = {}) {
  BlockHeader header{};
  std::memcpy(header.magic, kBlockMagic, sizeof header.magic);
  header.rank = rank;
  header.size = static_cast<std::uint32_t>(size);
  header.used = static_cast<std::uint32_t>(used);
  header.open = open;
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

}  // namespace

std::string info_text(const TraceInfo& info) {
  nlohmann::ordered_json json = {{"ranks", info.ranks},     {"clock", clock_name(info.clock)},
                                 {"program", info.program}, {"origin", info.origin},
                                 {"machine", info.machine}, {"options", info.options},
                                 {"mpi", info.mpi}};
  if (info.clocks.hosts > 0) json["clocks"] = to_json(info.clocks);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string file_start(const TraceInfo& info) {
  std::string out(kFileMagic, sizeof kFileMagic);
  const std::uint32_t numbers[2] = {kVersion, static_cast<std::uint32_t>(info.ranks)};
  out.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  out.resize(kPage, '\0');
  const std::string text = info_text(info);
  const std::size_t whole = (sizeof(BlockHeader) + text.size() + kPage - 1) / kPage * kPage;
  out += block_header(kNoRank, whole - sizeof(BlockHeader), text.size());
  out += text;
  out.resize(kPage + whole, '\0');
  return out;
}

std::string end_block() {
  return block_header(kNoRank, sizeof kEndPayload, sizeof kEndPayload) +
         std::string(kEndPayload, sizeof kEndPayload);
}

TraceInfo parse_info(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  TraceInfo info;
  info.ranks = json.at("ranks").get<int>();
  const std::string clock = json.at("clock").get<std::string>();
  info.clock = clock == "cpu" ? Clock::cpu : clock == "wall" ? Clock::wall : Clock::virtual_;
  info.program = json.value("program", "");
  info.origin = json.value("origin", "");
  info.machine = json.value("machine", "");
  info.options = json.value("options", "");
  info.mpi = json.value("mpi", "");
  if (json.contains("clocks")) info.clocks = to_clocks(json["clocks"], info.ranks);
  return info;
}

void seal_trace_file(const std::string& from, const std::string& to, const Clocks& clocks) {
  const BlockIndex index(from);
  if (index.version() != kVersion)
    throw Error(from + ": made by an older Foretrace; it stays as it is, and readable");
  TraceInfo info = index.info();
  if (clocks.hosts > 0) info.clocks = clocks;
  std::error_code ignored;
  if (fs::exists(to, ignored) && !fs::is_regular_file(to, ignored))
    throw Error(to + ": cannot write the trace: it is no regular file; it is still readable as " +
                from);
  const NoFileSizeSignal quiet;
  const std::string temporary = to + ".sealing";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << file_start(info);
  for (int rank = 0; rank < index.info().ranks; ++rank) {
    const auto& pieces = index.pieces(WorldRank(rank));
    for (const BlockIndex::Piece& piece : pieces) {
      const OpenCall open = &piece == &pieces.back() ? index.open(WorldRank(rank)) : OpenCall();
      out << block_header(static_cast<std::uint32_t>(rank), piece.used, piece.used, open);
      out.write(reinterpret_cast<const char*>(index.data() + piece.offset),
                static_cast<std::streamsize>(piece.used));
      index.leave(piece);
    }
  }
  out << end_block();
  out.close();
  if (!out || std::rename(temporary.c_str(), to.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    throw Error(to + ": cannot write the trace: " + reason + "; it is still readable as " + from);
  }
  if (from != to) std::remove(from.c_str());
}

}  // namespace foretrace::trace
