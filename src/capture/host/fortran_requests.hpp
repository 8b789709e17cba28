// Where a Fortran program keeps the requests of the call that it is making.
//
// MPIs give one handle to several sends that left at once; what tells them apart
// is the variable that each was posted from (RequestTable). A Fortran library
// may convert handles in a variable of its own, so the program's is noted here
// on the way into the library. Calls from C have none. Does not see MPI.
#pragma once

#include <cstddef>

namespace foretrace::capture {

class FortranRequests {
 public:
  // The variable that `c_variable` stands for; itself in a call from C. The
  // first that is asked for in a call is the first of the call's requests.
  const void* variable_of(const void* c_variable) {
    if (!program_first_) return c_variable;
    if (!library_first_) library_first_ = static_cast<const char*>(c_variable);
    const auto number = (static_cast<const char*>(c_variable) - library_first_) /
                        static_cast<std::ptrdiff_t>(handle_bytes_);
    return program_first_ + number * static_cast<std::ptrdiff_t>(sizeof(int));
  }
  static void set_handle_bytes(std::size_t bytes) { handle_bytes_ = bytes; }

  // While a call from Fortran is under way; they can be nested by callbacks.
  class Call {
   public:
    explicit Call(const void* first);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    const char* program_first_;
    const char* library_first_;
  };

 private:
  const char* program_first_ = nullptr;
  const char* library_first_ = nullptr;
  static inline std::size_t handle_bytes_ = sizeof(int);  // of the C library
};

extern thread_local FortranRequests fortran_requests __attribute__((tls_model("initial-exec")));

// Directs the program's Fortran calls that have requests through here.
void watch_fortran_requests(std::size_t handle_bytes);

}  // namespace foretrace::capture
