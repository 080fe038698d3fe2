// SPDX-License-Identifier: MIT
#include "core/base/signal_stack.h"

#include <signal.h>

#include <array>
#include <cstddef>
#include <memory>

namespace midscope {
namespace {

class SignalStack {
 public:
  SignalStack() {
    stack_t own{};
    if (sigaltstack(nullptr, &own) != 0 || (own.ss_flags & SS_DISABLE) == 0) return;
    bytes_ = std::make_unique<Bytes>();
    own = {bytes_->data(), 0, bytes_->size()};
    sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (bytes_) sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  using Bytes = std::array<std::byte, 1 << 16>;
  std::unique_ptr<Bytes> bytes_;
};

}  // namespace

void UseSignalStack() { static const thread_local SignalStack stack; }

}  // namespace midscope
