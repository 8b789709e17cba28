#include "watch/server.hpp"

#include <dlfcn.h>

#include <utility>

#include "base/error.hpp"
#include "watch/served.hpp"

namespace foretrace::watch {
namespace {

Serve* load(const std::string& directory) {
  const std::string path = directory + "/libforetrace-server.so";
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const serve = library ? ::dlsym(library, kServe) : nullptr;
  if (!serve)
    throw Error(std::string(::dlerror()) +
                "; the library serves Foretrace's pages: install Foretrace as a whole");
  return reinterpret_cast<Serve*>(serve);
}

}  // namespace

Server::Server(const std::string& directory, std::string page, Answers answers)
    : served_(std::make_unique<Served>()) {
  load(directory)(std::move(page), std::move(answers), *served_);
}

Server::~Server() = default;

const std::string& Server::address() const {
  return served_->address;
}

}  // namespace foretrace::watch
