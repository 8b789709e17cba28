// The OTF2 library's errors as ours, and an archive that is there as a whole or not at all.
#pragma once

#include <otf2/otf2.h>

#include <cstdarg>
#include <string>

#include "base/unfinished.hpp"

namespace foretrace::formats {

// Throws Error with what the library said, unless `code` is success.
void check(OTF2_ErrorCode code);

// The library takes an anchor's numbers as they are, and time and memory to match: throws
// Error with the offset where they are none of an archive's.
void check_anchor(const std::string& path);

// As long as it lives the library prints nothing; its first words are kept for check().
class Otf2ErrorCatcher {
 public:
  Otf2ErrorCatcher();
  ~Otf2ErrorCatcher();
  Otf2ErrorCatcher(const Otf2ErrorCatcher&) = delete;
  Otf2ErrorCatcher& operator=(const Otf2ErrorCatcher&) = delete;
  // What the library said first, since the last call; may be empty.
  static std::string take_words();

 private:
  OTF2_ErrorCallback before_;
};

// An archive NAME.otf2, NAME.def and the folder NAME, which lie in NAME.otf2.part until
// finish().
class NewArchive {
 public:
  // Throws Error also where NAME is a folder that is no archive's.
  NewArchive(const std::string& anchor, int ranks);
  ~NewArchive();
  NewArchive(const NewArchive&) = delete;
  NewArchive& operator=(const NewArchive&) = delete;

  OTF2_Archive* get() const { return archive_; }
  // Readers look for each location's own definitions, even where there are none.
  void write_empty_local_definitions(int locations);
  // Closes the archive and puts it in its place.
  void finish();

 private:
  std::string anchor_;
  std::string stem_;  // path without ".otf2"
  std::string part_;
  Unfinished unfinished_;
  OTF2_Archive* archive_ = nullptr;
};

}  // namespace foretrace::formats
