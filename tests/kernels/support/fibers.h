// SPDX-License-Identifier: MIT
// Calls that take turns on one thread of the CPU, each on a stack of its own: one runs until it
// pauses or ends. ThreadSanitizer takes each for a thread that is begun by Start and joined when it
// has ended, and that nothing else but Release and Acquire orders with the others.
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

// For functions whose reads and writes are not the kernels'.
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

  // work(fiber) is to be called by fibers 0, 1, ..., count - 1; none begins before it is resumed.
  // Whatever an earlier Start has begun is given up, its locals left as they are.
  void Start(int count, std::function<void(int)> work);
  // Returns when the fiber pauses or ends. What its work throws comes out here.
  void Resume(int fiber);
  bool Ended(int fiber) const;
  // Called by the fiber that runs; returns when it is resumed.
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
  int number_ = 0;  // of the one that runs
  std::exception_ptr thrown_;
  // Whose addresses Release and Acquire are given.
  char started_ = 0;
  char ended_ = 0;
};

// For ThreadSanitizer: what was done before Release(at) comes before what follows Acquire(at).
void Release(void* at);
void Acquire(void* at);

}  // namespace midscope::test
