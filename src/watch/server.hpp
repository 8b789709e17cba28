// A server for one page and what it asks for: on the loopback address alone, under an
// address that nobody guesses.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace foretrace::watch {

// What the address asks for after its "?".
using Query = std::map<std::string, std::string>;

// What a server answers, besides its page. Called from its threads. A function that throws is
// answered by status 400 and its message.
struct Answers {
  std::function<std::string()> state;  // JSON
  std::map<std::string, std::function<std::string(const std::string&)>>
      actions;  // POST: of the body, JSON
  std::map<std::string, std::function<std::string()>> pages;
  std::map<std::string, std::function<std::string(const Query&)>> data;  // bytes
};

struct Served;

class Server {
 public:
  // Starts at once, on a port that is free. Throws Error where there is none. `directory`: where
  // Foretrace's libraries are, of which one serves.
  Server(const std::string& directory, std::string page, Answers answers);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:PORT/TOKEN/", where TOKEN is 32 random hexadecimal digits.
  const std::string& address() const;

 private:
  std::unique_ptr<Served> served_;
};

}  // namespace foretrace::watch
