// Kept: an MPI object that is made when it is first asked for, and freed with
// the last experiment that shares it.
#pragma once

namespace foretrace::measure {

template <class Handle>
class Kept {
 public:
  using Release = int (*)(Handle*);

  explicit Kept(Release release) : release_(release) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { drop(); }

  // make(Handle*) fills it in.
  template <class Make>
  Handle& get(Make make) {
    if (!made_) make(&handle_);
    made_ = true;
    return handle_;
  }
  void drop() {
    if (made_) release_(&handle_);
    made_ = false;
  }

 private:
  Release release_;
  Handle handle_{};
  bool made_ = false;
};

}  // namespace foretrace::measure
