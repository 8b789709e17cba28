// A server for one page and what it asks for: on the loopback address alone, under an
// address that nobody guesses.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace foretrace::watch {

class Server {
 public:
  // `state` is asked from threads of the server for what the page shows, as JSON. Starts at
  // once, on a port that is free. Throws Error where there is none.
  // `actions`, by name, are asked with the body of a POST, and answer JSON too; `pages` are more
  // pages, by name.
  Server(std::string page, std::function<std::string()> state,
         std::map<std::string, std::function<std::string(const std::string&)>> actions = {},
         std::map<std::string, std::function<std::string()>> pages = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:PORT/TOKEN/", where TOKEN is 32 random hexadecimal digits.
  std::string address() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretrace::watch
