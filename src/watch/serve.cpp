#include <httplib.h>
#include <sys/random.h>

#include <array>
#include <memory>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "watch/served.hpp"

namespace foretrace::watch {
namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr std::size_t kThreads = 4;
constexpr std::size_t kMostBody = std::size_t{8} << 20;
constexpr time_t kPatience = 5;  // seconds for a request to arrive

constexpr const char* kPage = "text/html; charset=utf-8";
constexpr const char* kJson = "application/json";
constexpr const char* kBytes = "application/octet-stream";

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error("watch: expected random bytes from the system, got none; use --no-browser");
  std::string text;
  for (const unsigned char byte : bytes)
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

struct Running {
  Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (!thread.joinable()) return;
    server.stop();
    thread.join();
  }

  httplib::Server server;
  std::string page;
  std::string token = random_token();
  int port = 0;
  std::thread thread;

  // A page from elsewhere may give its name our address; it then asks for its own name.
  bool is_ours(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    const std::string end = ":" + std::to_string(port);
    return host == kHost + end || host == "localhost" + end;
  }

  template <typename Tell>
  void answer(const httplib::Request& request, httplib::Response& response, const Tell& tell,
              const char* type) {
    if (!is_ours(request)) {
      response.status = 404;
      return;
    }
    response.set_header("Cache-Control", "no-store");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    try {
      response.set_content(tell(), type);
    } catch (const std::exception& error) {
      response.status = 400;
      response.set_content(error.what(), "text/plain; charset=utf-8");
    }
  }
};

void answer_from(Running* own, Answers answers) {
  httplib::Server& server = own->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_read_timeout(kPatience);
  server.set_write_timeout(kPatience);
  server.set_payload_max_length(answers.actions.empty() ? 1024 : kMostBody);
  const std::string root = "/" + own->token + "/";
  server.Get(root, [own](const auto& request, auto& response) {
    own->answer(
        request, response, [own] { return own->page; }, kPage);
  });
  if (answers.state)
    server.Get(root + "state",
               [own, state = std::move(answers.state)](const auto& request, auto& response) {
                 own->answer(request, response, state, kJson);
               });
  for (auto& [name, action] : answers.actions)
    server.Post(root + name, [own, act = std::move(action)](const auto& request, auto& response) {
      own->answer(
          request, response, [&] { return act(request.body); }, kJson);
    });
  for (auto& [name, other] : answers.pages)
    server.Get(root + name, [own, show = std::move(other)](const auto& request, auto& response) {
      own->answer(request, response, show, kPage);
    });
  for (auto& [name, read] : answers.data)
    server.Get(root + name, [own, read = std::move(read)](const auto& request, auto& response) {
      const Query query(request.params.begin(), request.params.end());
      own->answer(
          request, response, [&] { return read(query); }, kBytes);
    });
}

}  // namespace
}  // namespace foretrace::watch

extern "C" [[gnu::visibility("default")]] foretrace::watch::Serve foretrace_serve;

void foretrace_serve(std::string page, foretrace::watch::Answers answers,
                     foretrace::watch::Served& served) {
  using namespace foretrace::watch;
  const auto own = std::make_shared<Running>();
  own->page = std::move(page);
  answer_from(own.get(), std::move(answers));
  own->port = own->server.bind_to_any_port(kHost);
  if (own->port <= 0)
    throw foretrace::Error(
        "watch: expected a free port at 127.0.0.1, found none; use --no-browser");
  own->thread = std::thread([own = own.get()] { own->server.listen_after_bind(); });
  while (!own->server.is_running()) std::this_thread::yield();
  served.address =
      std::string("http://") + kHost + ":" + std::to_string(own->port) + "/" + own->token + "/";
  served.server = own;
}
