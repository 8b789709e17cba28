#include "cli/pages/architecture_editor.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>

#include "architecture/elaborate.hpp"
#include "architecture/entity_run.hpp"
#include "architecture/flat_fabric.hpp"
#include "architecture/traffic.hpp"
#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "views/architecture/editor.hpp"
#include "watch/server.hpp"

namespace foretrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNew =
    "# Parts and links: docs/architecture-files.md.\n[architecture]\nname = \"a machine\"\n";
constexpr entity::Ps kRunTime = 1'000'000'000'000;  // of queues: 1 s
constexpr double kPatience = 10;

class Editor {
 public:
  explicit Editor(std::string file) : file_(std::move(file)) {
    on_disk_ = fs::exists(file_) ? read_whole_file(file_, "the architecture") : std::string();
  }

  std::string state() const {
    const std::lock_guard lock(mutex_);
    return views::editor_state_json(file_, on_disk_.empty() ? kNew : on_disk_);
  }

  // What went wrong goes to the page, at its line.
  std::string answer(const std::function<std::string()>& ask) const {
    const std::lock_guard lock(mutex_);
    try {
      return ask();
    } catch (const std::exception& error) {
      return views::editor_fault_json(file_, error.what());
    }
  }

  std::string check(const std::string& text) const {
    return answer([&] {
      const auto description = parse(text);
      try {
        return views::editor_machine_json(description, architecture::elaborate(description));
      } catch (const Error& error) {
        return views::editor_fault_json(file_, error.what(), &description);
      }
    });
  }

  std::string save(const std::string& text) {
    return answer([&] {
      const std::string now =
          fs::exists(file_) ? read_whole_file(file_, "the architecture") : std::string();
      if (now != on_disk_ && now != text)
        throw Error(file_ +
                    ":1: somebody else has changed the file since it was read here; copy what you "
                    "need, then open it again");
      write_text_file(file_, text);
      on_disk_ = text;
      return std::string("{}");
    });
  }

  std::string run(const std::string& body) const {
    return answer([&] {
      const auto asked = nlohmann::json::parse(body);
      const auto description = parse(asked.at("text").get<std::string>());
      const auto flat = architecture::elaborate(description);
      if (has_queues(flat))
        return views::editor_queues_json(
            architecture::run_entities(flat, kRunTime, nullptr, kPatience));
      const std::string load = asked.at("load").get<std::string>();
      double offered = -1;
      const auto [end, error] = std::from_chars(load.data(), load.data() + load.size(), offered);
      if (error != std::errc() || end != load.data() + load.size() ||
          !(offered > 0 && offered <= 1))
        throw Error("the load is a number above 0, up to 1 flit a cycle, found '" + load + "'");
      const architecture::FlatFabric made = architecture::fabric_of(flat);
      const auto pattern =
          architecture::parse_pattern(asked.at("pattern").get<std::string>(), made.fabric);
      return views::editor_traffic_json(
          made, architecture::simulate_traffic(made.fabric, pattern, offered, {}));
    });
  }

  // A program on the machine, or without one its queues, by `--watch`; the page is kept for
  // `watched`.
  std::string watch(const std::string& body) {
    return answer([&] {
      const auto asked = nlohmann::json::parse(body);
      const std::string program = asked.at("program").get<std::string>();
      const std::string text = asked.at("text").get<std::string>();
      const std::string base = file_ + ".watch-" + std::to_string(getpid());
      const std::string machine = base + ".arch.toml";
      const std::string page = base + ".html";
      std::vector<std::string> command{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", own_path()};
      const auto add = [&command](std::vector<std::string> words) {
        command.insert(command.end(), words.begin(), words.end());
      };
      const auto description = parse(text);
      if (program.empty() && has_queues(architecture::elaborate(description)))
        add({"architecture", "run", machine});
      else
        add({"simulate", path_of(program), "--loggps", "o=1us,g=0s", "--network",
             "arch:" + machine});
      add({"--watch", page, "--watch-what", "states"});
      write_text_file(machine, text);
      std::string said = output_of(command);
      std::error_code ignored;
      fs::remove(machine, ignored);
      if (!fs::exists(page)) throw Error(fault_in(said, machine));
      watched_ = read_whole_file(page, "the page");
      fs::remove(page, ignored);
      return std::string("{}");
    });
  }

  std::string watched() const {
    const std::lock_guard lock(mutex_);
    return watched_;
  }

 private:
  static bool has_queues(const architecture::FlatArchitecture& flat) {
    return std::ranges::any_of(flat.entities, [](const auto& one) {
      return one.behaviour_name() == "source" || one.behaviour_name() == "plug-in";
    });
  }

  std::string path_of(const std::string& program) const {
    const fs::path path = fs::absolute(file_).parent_path() / program;
    if (program.empty() || program.starts_with("-") || !fs::is_regular_file(path))
      throw Error("there is no program '" + program +
                  "' beside the file; name a trace, a .goal or a .ti");
    return path.string();
  }

  // What the tool said last, of the file that is edited.
  std::string fault_in(std::string said, const std::string& machine) const {
    while (said.ends_with('\n')) said.pop_back();
    said = said.substr(said.find_last_of('\n') + 1);
    if (said.starts_with("foretrace: ")) said = said.substr(11);
    for (std::size_t at = 0; (at = said.find(machine, at)) != std::string::npos; at += file_.size())
      said.replace(at, machine.size(), file_);
    return said.empty() ? "the run failed and said nothing" : said;
  }

  architecture::Description parse(const std::string& text) const {
    return architecture::parse_description(text, file_, data_directory() + "/architectures");
  }

  std::string file_;
  std::string on_disk_;  // as it was read or saved here
  std::string watched_;
  mutable std::mutex mutex_;  // requests come from several threads
};

}  // namespace

void edit_architecture(const std::string& file) {
  if (!file.ends_with(".toml"))
    throw UsageError("architecture edit needs a file MACHINE.arch.toml, found '" + file + "'");
  check_writable(file);
  std::string page = views::render_html_editor();
  if (page.empty()) throw Error("this build has no pages; configure it with -DFORETRACE_WEB=ON");
  Editor editor(file);
  watch::Answers answers;
  answers.state = [&] { return editor.state(); };
  answers.actions = {{"check", [&](const std::string& text) { return editor.check(text); }},
                     {"save", [&](const std::string& text) { return editor.save(text); }},
                     {"run", [&](const std::string& body) { return editor.run(body); }},
                     {"watch", [&](const std::string& body) { return editor.watch(body); }}};
  answers.pages = {{"watched", [&] { return editor.watched(); }}};
  const watch::Server server(library_directory(), std::move(page), std::move(answers));
  std::printf("foretrace: edit %s at %s (end with Ctrl+C)\n", file.c_str(),
              server.address().c_str());
  std::fflush(stdout);
  while (true) pause();
}

}  // namespace foretrace::cli
