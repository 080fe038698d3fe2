// SPDX-License-Identifier: MIT
#include "tests/kernels/support/host_machine.h"

#include <vector>

#include "kernels/check.h"

namespace midscope::kernels::cuda {
namespace {

using midscope::test::Acquire;
using midscope::test::Fibers;
using midscope::test::Release;

// The event that a thread is waiting for.
enum class Wait { kNot, kForWarp, kForBlock, kForEarlierWork, kEnded };

struct ThreadState {
  Wait wait = Wait::kNot;
  WarpOperation operation = nullptr;
};

// Reused for all grids of a thread, as are the fibers' stacks.
Fibers& FibersOfThread() {
  thread_local Fibers fibers;
  return fibers;
}

}  // namespace

// The blocks of a grid, one of which is running.
class HostBlock {
 public:
  HostBlock(const Grid& grid, bool backwards, const std::function<void(HostMachine&)>& body,
            const std::function<void()>& earlier)
      : grid_(grid),
        backwards_(backwards),
        body_(body),
        earlier_(earlier),
        fibers_(FibersOfThread()),
        shared_(static_cast<size_t>((grid.shared_bytes + 15) / 16)),
        states_(static_cast<size_t>(grid.threads)),
        operands_(static_cast<size_t>(grid.threads)) {
    MIDSCOPE_CHECK(grid.threads > 0 && grid.threads % kWarp == 0, "a block has whole warps");
  }

  void Run(const BlockIndex& block) {
    block_ = block;
    for (Words& words : shared_) words = {~0u, ~0u, ~0u, ~0u};  // NaN
    SetAll(Wait::kNot);
    fibers_.Start(grid_.threads, [this](int thread) {
      HostMachine machine(this, thread);
      body_(machine);
    });
    const int warps = grid_.threads / kWarp;
    for (;;) {
      for (int i = 0; i < warps; ++i) RunWarp(InTurn(i, warps) * kWarp);
      const Wait wait = WaitOf(0, grid_.threads);
      if (wait == Wait::kEnded) break;
      if (wait == Wait::kForEarlierWork && earlier_ && !earlier_done_) {
        earlier_();
        earlier_done_ = true;
        Release(&earlier_done_);
      }
      SetAll(Wait::kNot);
    }
  }

  const BlockIndex& block() const { return block_; }
  const Grid& grid() const { return grid_; }
  std::byte* shared() { return reinterpret_cast<std::byte*>(shared_.data()); }

  // Called by threads.
  void Barrier(int thread) {
    Release(&barrier_);
    Pause(thread, {Wait::kForBlock});
    Acquire(&barrier_);
  }
  void AwaitEarlierWork(int thread) {
    Pause(thread, {Wait::kForEarlierWork});
    Acquire(&earlier_done_);
  }
  MIDSCOPE_UNWATCHED void InWarp(int thread, WarpOperation operation,
                                 const WarpOperands& operands) {
    operands_[static_cast<size_t>(thread)] = operands;
    Pause(thread, {Wait::kForWarp, operation});
  }

 private:
  MIDSCOPE_UNWATCHED ThreadState& StateOf(int thread) {
    return states_[static_cast<size_t>(thread)];
  }
  MIDSCOPE_UNWATCHED int InTurn(int i, int count) const { return backwards_ ? count - 1 - i : i; }

  MIDSCOPE_UNWATCHED void Pause(int thread, const ThreadState& state) {
    StateOf(thread) = state;
    fibers_.Pause();
  }
  MIDSCOPE_UNWATCHED void SetAll(Wait wait) {
    for (int i = 0; i < grid_.threads; ++i) StateOf(i) = {wait};
  }

  // Runs a warp until all its threads wait for the block or have ended.
  MIDSCOPE_UNWATCHED void RunWarp(int first) {
    for (;;) {
      for (int i = 0; i < kWarp; ++i) {
        const int thread = first + InTurn(i, kWarp);
        ThreadState& state = StateOf(thread);
        if (state.wait != Wait::kNot) continue;
        fibers_.Resume(thread);
        if (fibers_.Ended(thread)) state.wait = Wait::kEnded;
      }
      if (WaitOf(first, kWarp) != Wait::kForWarp) return;
      StateOf(first).operation(&operands_[static_cast<size_t>(first)]);
      for (int i = 0; i < kWarp; ++i) StateOf(first + i) = {};
    }
  }

  // The common wait of `count` threads, starting at `first`.
  MIDSCOPE_UNWATCHED Wait WaitOf(int first, int count) {
    const ThreadState& one = StateOf(first);
    for (int i = 1; i < count; ++i) {
      const ThreadState& other = StateOf(first + i);
      MIDSCOPE_CHECK(other.wait == one.wait && other.operation == one.operation,
                     "threads that belong together wait for different things");
    }
    return one.wait;
  }

  const Grid grid_;
  const bool backwards_;
  const std::function<void(HostMachine&)>& body_;
  const std::function<void()>& earlier_;
  bool earlier_done_ = false;
  Fibers& fibers_;
  BlockIndex block_;
  std::vector<Words> shared_;
  std::vector<ThreadState> states_;     // [thread]
  std::vector<WarpOperands> operands_;  // [thread]
  char barrier_ = 0;                    // its address is passed to Release and Acquire
};

BlockIndex HostMachine::block() const { return of_->block(); }
BlockIndex HostMachine::blocks() const { return {of_->grid().x, of_->grid().y, of_->grid().z}; }
int HostMachine::threads() const { return of_->grid().threads; }
void HostMachine::Barrier() const { of_->Barrier(thread_); }
void HostMachine::AwaitEarlierWork() const { of_->AwaitEarlierWork(thread_); }
void HostMachine::InWarp(WarpOperation operation, const WarpOperands& operands) const {
  of_->InWarp(thread_, operation, operands);
}

MIDSCOPE_UNWATCHED void HostMachine::Shuffle(const WarpOperands* of_lanes) {
  const auto at = [&](int lane) -> const Shuffled& {
    return *static_cast<const Shuffled*>(of_lanes[lane].left);
  };
  for (int lane = 0; lane < kWarp; ++lane) {
    MIDSCOPE_CHECK(at(lane).place == at(0).place && at(lane).mask < kWarp,
                   "threads of a warp at different shuffles, or of none");
    *static_cast<uint32_t*>(of_lanes[lane].sum) = at(lane ^ at(lane).mask).value;
  }
}

void HostMachine::CheckAligned(const void* at) {
  MIDSCOPE_CHECK(reinterpret_cast<uintptr_t>(at) % sizeof(Words) == 0, "not aligned to 16 bytes");
}

std::byte* HostMachine::SharedAt(size_t offset, size_t bytes) const {
  MIDSCOPE_CHECK(offset + bytes <= static_cast<size_t>(of_->grid().shared_bytes),
                 "more shared memory than the launch asks for");
  return of_->shared() + offset;
}

void RunOnHost(const Grid& grid, bool backwards, const std::function<void(HostMachine&)>& body,
               const std::function<void()>& earlier) {
  HostBlock block(grid, backwards, body, earlier);
  for (int64_t z = 0; z < grid.z; ++z) {
    for (int64_t y = 0; y < grid.y; ++y) {
      for (int64_t x = 0; x < grid.x; ++x) block.Run({x, y, z});
    }
  }
}

}  // namespace midscope::kernels::cuda
