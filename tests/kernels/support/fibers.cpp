// SPDX-License-Identifier: MIT
#include "tests/kernels/support/fibers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

#ifndef __x86_64__
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace midscope::test {
namespace {

constexpr size_t kStackBytes = size_t{256} << 10;

// Pages that a fiber has not touched use no memory; the lowest page is a guard page.
class Stack {
 public:
  Stack() {
    void* at = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "stack");
    at_ = static_cast<std::byte*>(at);
    mprotect(at_, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);
    // Stacks begin at different offsets in a page; otherwise a cache could not hold many of them at
    // once.
    static thread_local size_t stacks = 0;
    bytes_ = kStackBytes - stacks++ % 61 * 192;
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() { munmap(at_, kStackBytes); }

  std::byte* at() const { return at_; }
  size_t bytes() const { return bytes_; }
  // Abandoned calls have left their sanitizer marks on the stack.
  void Clear() const {
#ifdef __SANITIZE_ADDRESS__
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    ASAN_UNPOISON_MEMORY_REGION(at_ + page, kStackBytes - page);
#endif
  }

 private:
  std::byte* at_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace

#ifdef __x86_64__

// Used because swapcontext reads the signal mask from the system each time, which takes ten times
// as long as everything else. A call must preserve six registers and the stack for its caller.
using Context = void**;  // the top of a stack that is left
extern "C" void MidscopeSwitchStacks(Context* from, Context to);
asm(R"(
.text
.type MidscopeSwitchStacks, @function
MidscopeSwitchStacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size MidscopeSwitchStacks, . - MidscopeSwitchStacks
)");

MIDSCOPE_UNWATCHED static void Switch(Context* from, Context* to) {
  MidscopeSwitchStacks(from, *to);
}
static void BeginWith(void (*entry)(), const Stack& stack, Context* context) {
  constexpr int kRegisters = 6;
  // The entry function finds the stack as if it had been called, but without a caller.
  Context top = reinterpret_cast<Context>(stack.at() + stack.bytes()) - (kRegisters + 2);
  top[kRegisters] = reinterpret_cast<void*>(entry);
  top[kRegisters + 1] = nullptr;
  *context = top;
}

#else

using Context = ucontext_t;
MIDSCOPE_UNWATCHED static void Switch(Context* from, Context* to) { swapcontext(from, to); }
static void BeginWith(void (*entry)(), const Stack& stack, Context* context) {
  getcontext(context);
  context->uc_stack.ss_sp = stack.at();
  context->uc_stack.ss_size = stack.bytes();
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
}

#endif

// State of the caller of Resume, and of each fiber.
struct Fibers::Turn {
  Context context = {};
  void* watched_as = nullptr;  // id for ThreadSanitizer
  // The stack's address is passed to AddressSanitizer, so that it can follow exceptions on it.
  const void* stack_at = nullptr;
  size_t stack_bytes = 0;

  MIDSCOPE_UNWATCHED void SwitchTo(Turn* other) {
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(other->watched_as, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef __SANITIZE_ADDRESS__
    void* kept = nullptr;
    __sanitizer_start_switch_fiber(&kept, other->stack_at, other->stack_bytes);
#endif
    Switch(&context, &other->context);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
#endif
  }
};

struct Fibers::Fiber : Turn {
#ifdef __SANITIZE_THREAD__
  Fiber() { watched_as = __tsan_create_fiber(0); }
  ~Fiber() { __tsan_destroy_fiber(watched_as); }
#else
  Fiber() = default;
  ~Fiber() = default;
#endif
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  Stack stack;
  Turn* resumed_by = nullptr;
  bool ended = false;
};

namespace {

// The object for Fibers::Enter, which cannot take an argument.
thread_local Fibers* entered = nullptr;

}  // namespace

Fibers::Fibers() : caller_(std::make_unique<Turn>()) {
#ifdef __SANITIZE_THREAD__
  caller_->watched_as = __tsan_get_current_fiber();
#endif
}
Fibers::~Fibers() = default;

void Fibers::Start(int count, std::function<void(int)> work) {
  work_ = std::move(work);
  while (fibers_.size() < static_cast<size_t>(count)) fibers_.push_back(std::make_unique<Fiber>());
  for (int i = 0; i < count; ++i) {
    Fiber& fiber = *fibers_[static_cast<size_t>(i)];
    fiber.stack.Clear();
    fiber.stack_at = fiber.stack.at();
    fiber.stack_bytes = fiber.stack.bytes();
    BeginWith(&Fibers::Enter, fiber.stack, &fiber.context);
    fiber.ended = false;
  }
  Release(&started_);
}

MIDSCOPE_UNWATCHED void Fibers::Resume(int fiber) {
  running_ = fibers_[static_cast<size_t>(fiber)].get();
  number_ = fiber;
  running_->resumed_by = caller_.get();
  entered = this;
  caller_->SwitchTo(running_);
  if (running_->ended) Acquire(&ended_);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

bool Fibers::Ended(int fiber) const { return fibers_[static_cast<size_t>(fiber)]->ended; }

MIDSCOPE_UNWATCHED void Fibers::Pause() { running_->SwitchTo(running_->resumed_by); }

MIDSCOPE_UNWATCHED void Fibers::Enter() {
#ifdef __SANITIZE_ADDRESS__
  Turn& caller = *entered->caller_;
  __sanitizer_finish_switch_fiber(nullptr, &caller.stack_at, &caller.stack_bytes);
#endif
  entered->Work();
}

MIDSCOPE_UNWATCHED void Fibers::Work() {
  Acquire(&started_);
  try {
    work_(number_);
  } catch (...) {
    thrown_ = std::current_exception();
  }
  running_->ended = true;
  Release(&ended_);
  Pause();  // never resumed
}

#ifdef __SANITIZE_THREAD__
void Release(void* at) { __tsan_release(at); }
void Acquire(void* at) { __tsan_acquire(at); }
#else
void Release(void* /*at*/) {}
void Acquire(void* /*at*/) {}
#endif

}  // namespace midscope::test
