#include "formats/formats.hpp"

#include "trace/new_trace.hpp"

namespace foretrace::formats {

using trace::TraceReader;

namespace {

Notes read_trace_file(const std::string& from, const std::string& to) {
  TraceReader reader(from);
  return copy_trace(reader, to);
}

constexpr Format kFormats[] = {
    {"trace", ".ftr", copy_trace, read_trace_file},
    {"text", ".txt", write_text, read_text},
    {"otf2", ".otf2", write_otf2, read_otf2},
    {"paraver", ".prv", write_paraver, read_paraver},
    {"alog", ".alog", write_alog, read_alog},
    {"dumpi", ".meta", nullptr, read_dumpi},
    {"perfetto", ".pftrace", write_perfetto, nullptr},
    {"chrome", ".json", write_chrome, nullptr},
    {"csv", ".csv", write_csv, nullptr},
    {"paje", ".paje", write_paje, nullptr},
    {"clog2", ".clog2", write_clog2, nullptr},
    {"picl", ".trf", write_picl, nullptr},
};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(std::string_view name) {
  for (const Format& format : kFormats)
    if (name == format.name) return &format;
  return nullptr;
}

const Format* format_of(std::string_view path) {
  for (const Format& format : kFormats)
    if (path.ends_with(format.extension)) return &format;
  return nullptr;
}

std::optional<OpenCallIds> open_call_of(const TraceReader& reader, WorldRank rank) {
  const std::string* open = reader.open_call(rank);
  if (!open) return std::nullopt;
  OpenCallIds ids;
  while (&reader.name(rank, ids.name) != open) ++ids.name;
  if (const trace::Site* site = reader.open_site(rank))
    for (ids.site = 1; &reader.site(rank, ids.site) != site;) ++ids.site;
  return ids;
}

Notes copy_trace(TraceReader& reader, const std::string& path, const trace::TellPlace&) {
  trace::NewTrace to(path, reader.info());
  for (int r = 0; r < reader.ranks(); ++r) {
    const WorldRank rank(r);
    trace::TraceWriter& writer = to.start(rank);
    reader.rewind(rank);
    trace::Event event;
    for (auto record = reader.next_record(rank, event); record != TraceReader::Record::end;
         record = reader.next_record(rank, event)) {
      switch (record) {
        case TraceReader::Record::name:
          writer.define_name(reader.name(rank, static_cast<trace::NameId>(reader.names(rank) - 1)));
          break;
        case TraceReader::Record::comm: {
          const trace::Communicator& comm =
              reader.comm(rank, static_cast<trace::CommId>(reader.comms(rank) - 1));
          writer.define_comm(comm.key, comm.members);
          break;
        }
        case TraceReader::Record::site:
          writer.define_site(reader.site(rank, static_cast<trace::SiteId>(reader.sites(rank))));
          break;
        default:
          writer.write(event, reader.counts(rank, event));
      }
    }
    if (const auto open = open_call_of(reader, rank)) to.enter(open->name, open->site);
  }
  // What is damaged must not look whole.
  to.finish(reader.sealed() && reader.damage().empty());
  return {};
}

}  // namespace foretrace::formats
