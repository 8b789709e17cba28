#include "watch/server.hpp"

#include <httplib.h>
#include <sys/random.h>

#include <array>
#include <thread>
#include <utility>

#include "base/error.hpp"

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

}  // namespace

struct Server::Impl {
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

Server::Server(std::string page, Answers answers) : impl_(std::make_unique<Impl>()) {
  impl_->page = std::move(page);
  httplib::Server& server = impl_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_read_timeout(kPatience);
  server.set_write_timeout(kPatience);
  server.set_payload_max_length(answers.actions.empty() ? 1024 : kMostBody);
  Impl* const own = impl_.get();
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
  own->port = server.bind_to_any_port(kHost);
  if (own->port <= 0)
    throw Error("watch: expected a free port at 127.0.0.1, found none; use --no-browser");
  own->thread = std::thread([own] { own->server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
}

Server::~Server() {
  impl_->server.stop();
  impl_->thread.join();
}

std::string Server::address() const {
  return std::string("http://") + kHost + ":" + std::to_string(impl_->port) + "/" + impl_->token +
         "/";
}

}  // namespace foretrace::watch
