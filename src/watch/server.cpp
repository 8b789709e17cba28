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
  std::function<std::string()> state;
  std::string token = random_token();
  int port = 0;
  std::thread thread;

  // A page from elsewhere may give its name our address; it then asks for its own name.
  bool is_ours(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    const std::string end = ":" + std::to_string(port);
    return host == kHost + end || host == "localhost" + end;
  }

  void answer(const httplib::Request& request, httplib::Response& response, std::string text,
              const char* type) {
    if (!is_ours(request)) {
      response.status = 404;
      return;
    }
    response.set_header("Cache-Control", "no-store");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_content(std::move(text), type);
  }
};

Server::Server(std::string page, std::function<std::string()> state,
               std::map<std::string, std::function<std::string(const std::string&)>> actions,
               std::map<std::string, std::function<std::string()>> pages)
    : impl_(std::make_unique<Impl>()) {
  impl_->page = std::move(page);
  impl_->state = std::move(state);
  httplib::Server& server = impl_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_read_timeout(kPatience);
  server.set_write_timeout(kPatience);
  server.set_payload_max_length(actions.empty() ? 1024 : kMostBody);
  Impl* const own = impl_.get();
  server.Get("/" + own->token + "/", [own](const auto& request, auto& response) {
    own->answer(request, response, own->page, "text/html; charset=utf-8");
  });
  server.Get("/" + own->token + "/state", [own](const auto& request, auto& response) {
    own->answer(request, response, own->state(), "application/json");
  });
  for (auto& [name, action] : actions)
    server.Post("/" + own->token + "/" + name,
                [own, act = std::move(action)](const auto& request, auto& response) {
                  own->answer(request, response, own->is_ours(request) ? act(request.body) : "",
                              "application/json");
                });
  for (auto& [name, other] : pages)
    server.Get("/" + own->token + "/" + name,
               [own, show = std::move(other)](const auto& request, auto& response) {
                 own->answer(request, response, show(), "text/html; charset=utf-8");
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
