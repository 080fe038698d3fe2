// SPDX-License-Identifier: MIT
// Calls that take turns on one CPU thread, each on its own stack: one runs until it pauses or ends.
// ThreadSanitizer regards each as a thread that Start creates and that is joined when it has ended;
// only Release and Acquire order it relative to the others.
//
//     Fibers fibers;
//     fibers.Start(2, [&](int fiber) { Say(fiber); fibers.Pause(); Say(10 + fiber); });
//     fibers.Resume(1);  // prints 1
//     fibers.Resume(0);  // prints 0
//     fibers.Resume(1);  // prints 11
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

// For functions whose reads and writes do not belong to the kernels.
#if defined(__SANITIZE_THREAD__)
#define MIDSCOPE_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define MIDSCOPE_UNWATCHED
#endif

namespace midscope::test {

class Fibers {
 public:
  Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  ~Fibers();

  // Creates fibers 0, 1, ..., count - 1, which will call work(fiber); none begins before it is
  // resumed. Abandons the fibers of an earlier Start without destroying their locals.
  void Start(int count, std::function<void(int)> work);
  // Returns when the fiber pauses or ends. Rethrows what its work throws.
  void Resume(int fiber);
  bool Ended(int fiber) const;
  // Called by the running fiber; returns when it is resumed.
  void Pause();

 private:
  struct Turn;
  struct Fiber;
  static void Enter();
  void Work();

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::unique_ptr<Turn> caller_;
  std::function<void(int)> work_;
  Fiber* running_ = nullptr;
  int number_ = 0;  // of the running fiber
  std::exception_ptr thrown_;
  // Its address is passed to Release and Acquire.
  char started_ = 0;
  char ended_ = 0;
};

// For ThreadSanitizer: operations before Release(at) happen before those after Acquire(at).
void Release(void* at);
void Acquire(void* at);

}  // namespace midscope::test
