#include "cli/architecture_editor.hpp"

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
#include "cli/output_file.hpp"
#include "cli/process.hpp"
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
      return views::editor_machine_json(description, architecture::elaborate(description));
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
      const bool has_queues = std::ranges::any_of(flat.entities, [](const auto& one) {
        return one.behaviour_name() == "source" || one.behaviour_name() == "plug-in";
      });
      if (has_queues)
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

  // A program on the machine, by `simulate --watch`; its page is kept for `watched`.
  std::string watch(const std::string& body) {
    return answer([&] {
      const auto asked = nlohmann::json::parse(body);
      const std::string program = asked.at("program").get<std::string>();
      const fs::path folder = fs::absolute(file_).parent_path();
      if (program.empty() || program.starts_with("-") || !fs::is_regular_file(folder / program))
        throw Error("there is no program '" + program +
                    "' beside the file; name a trace, a .goal or a .ti");
      const std::string base = file_ + ".watch-" + std::to_string(getpid());
      const std::string machine = base + ".arch.toml";
      const std::string page = base + ".html";
      write_text_file(machine, asked.at("text").get<std::string>());
      const int status =
          run_and_wait({own_path(), "simulate", (folder / program).string(), "--loggps", "o=1us",
                        "--network", "arch:" + machine, "--watch", page});
      std::error_code ignored;
      fs::remove(machine, ignored);
      if (status != 0) throw Error("the run failed; its message stands in the terminal");
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
  const watch::Server server(std::move(page), std::move(answers));
  std::printf("foretrace: edit %s at %s (end with Ctrl+C)\n", file.c_str(),
              server.address().c_str());
  std::fflush(stdout);
  while (true) pause();
}

}  // namespace foretrace::cli
