#include "trace/seal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "trace/block_index.hpp"
#include "trace/encoding.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::trace {
namespace {

std::string block_header(std::uint32_t rank, std::size_t size, std::size_t used) {
  BlockHeader header;
  std::memcpy(header.magic, kBlockMagic, sizeof header.magic);
  header.rank = rank;
  header.size = static_cast<std::uint32_t>(size);
  header.used = static_cast<std::uint32_t>(used);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header);
}

const char* clock_name(Clock clock) {
  return clock == Clock::cpu ? "cpu" : clock == Clock::wall ? "wall" : "virtual";
}

}  // namespace

std::string file_start(const TraceInfo& info) {
  std::string out(kFileMagic, sizeof kFileMagic);
  const std::uint32_t numbers[2] = {kVersion, static_cast<std::uint32_t>(info.ranks)};
  out.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  out.resize(kPage, '\0');
  const nlohmann::ordered_json json = {{"ranks", info.ranks},     {"clock", clock_name(info.clock)},
                                       {"program", info.program}, {"origin", info.origin},
                                       {"machine", info.machine}, {"options", info.options},
                                       {"mpi", info.mpi}};
  const std::string text =
      json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
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
  return info;
}

void seal_trace_file(const std::string& from, const std::string& to) {
  const BlockIndex index(from);
  const std::string temporary = to + ".sealing";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << file_start(index.info());
  for (int rank = 0; rank < index.info().ranks; ++rank) {
    for (const BlockIndex::Piece& piece : index.pieces(WorldRank(rank))) {
      out << block_header(static_cast<std::uint32_t>(rank), piece.used, piece.used);
      out.write(reinterpret_cast<const char*>(index.data() + piece.offset),
                static_cast<std::streamsize>(piece.used));
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
