// SPDX-License-Identifier: MIT
// Attention() on the CPU: packs keys and values once, then distributes blocks of query rows to
// threads.
#include "kernels/attention.h"

#include <algorithm>
#include <atomic>
#include <numbers>
#include <vector>

#include "kernels/attention_engine.h"
#include "kernels/attention_pack.h"
#include "kernels/key_sets.h"
#include "kernels/scratch.h"

namespace midscope::kernels {
namespace {

constexpr int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Maximum number of keys for which every thread packs the keys of its heads by itself.
constexpr int64_t kShortKeys = kKeyBlock;
// Number of multiplications (for scores) from which an additional thread is worth its cost.
constexpr int64_t kWorthThreads = int64_t{96} * 1024;

struct PackedTag {};
struct ThreadTag {};
struct WeightTag {};

void AttendFewRows(AttentionShape shape, const ConstHeads& q, const ConstHeads& k,
                   const ConstHeads& v, const HeadPositions& positions, const Heads& out,
                   const Executor& executor) {
  shape.key_rows = shape.first_query + shape.query_rows;
  BorrowedScratch<WeightTag> scratch;
  auto* weights = scratch.Get<float>(shape.query_rows * shape.heads * shape.key_rows);
  AttentionWeights(shape, q, k, positions, weights, executor);
  WeightedValues(shape, weights, v, out, executor);
}

class AttentionRun {
 public:
  AttentionRun(const AttentionEngine& engine, const AttentionShape& shape, const ConstHeads& q,
               const ConstHeads& k, const ConstHeads& v, const HeadPositions& positions,
               const Heads& out)
      : engine_(engine),
        shape_(shape),
        q_(q),
        k_(k),
        v_(v),
        positions_(positions),
        edits_(positions),
        out_(out) {
    used_keys_ = shape.first_query + shape.query_rows;
    first_block_ = FirstVisibleKey(shape, shape.first_query) / kKeyBlock;
    padded_keys_ = RoundUp(used_keys_, kKeyBlock);
    steps_ = PackedSteps(shape.head_dim, engine.pack);
    value_tiles_ = (shape.head_dim + kTile - 1) / kTile;
    key_items_ = padded_keys_ * steps_;
    value_items_ = padded_keys_ / engine.pack * value_tiles_ * kTile;
    query_blocks_ = (shape.query_rows + engine.rows - 1) / engine.rows;
    // Keys from this index on are near (FarPositions) for every query row; 0: no key is far.
    far_end_ =
        positions.far.window > 0 ? std::max<int64_t>(0, used_keys_ - positions.far.window) : 0;
  }

  bool Run(const Executor& executor, CancelFlag cancel) {
    const std::vector<KeySet> sets = FindKeySets(shape_, positions_);
    if (used_keys_ <= kShortKeys && far_end_ == 0) return RunShort(sets, executor, cancel);
    // Packs keys for at most `wave` key sets at once: if every head has separate positions, the
    // rotated keys of all heads together would be larger than the KV cache.
    const auto wave = static_cast<size_t>(shape_.key_value_heads);
    BorrowedScratch<PackedTag> scratch;
    const auto slots = static_cast<int64_t>(std::min(wave, sets.size()));
    const int64_t key_copies = far_end_ > 0 ? 2 : 1;
    values_ =
        scratch.Get<float>(shape_.key_value_heads * value_items_ + key_copies * slots * key_items_);
    keys_ = values_ + shape_.key_value_heads * value_items_;
    if (far_end_ > 0) far_keys_ = keys_ + slots * key_items_;
    for (size_t begin = 0; begin < sets.size(); begin += wave) {
      const size_t count = std::min(wave, sets.size() - begin);
      const std::span<const KeySet> now(sets.data() + begin, count);
      Pack(now, begin == 0, executor, cancel);
      if (!Attend(now, executor, cancel)) return false;
    }
    return true;
  }

 private:
  struct Task {
    int64_t slot;  // index of the key set's packed keys in memory
    int64_t head;
  };
  // Addresses of the packed keys and values that one query head uses.
  struct Operands {
    const float* keys;
    const float* far_keys;
    const float* values;
  };

  static std::vector<Task> TasksOf(std::span<const KeySet> sets) {
    std::vector<Task> tasks;
    for (size_t slot = 0; slot < sets.size(); ++slot) {
      for (const int64_t head : sets[slot].heads)
        tasks.push_back({static_cast<int64_t>(slot), head});
    }
    return tasks;
  }

  // Computes attention over few keys: every thread packs keys and values for its own heads. Packing
  // a few keys repeatedly is faster than synchronising threads and reading what others packed.
  bool RunShort(std::span<const KeySet> sets, const Executor& executor, CancelFlag cancel) const {
    const std::vector<Task> tasks = TasksOf(sets);
    const auto heads = static_cast<int64_t>(tasks.size());
    const bool alone = shape_.query_rows * used_keys_ * heads * shape_.head_dim < kWorthThreads;
    std::atomic<bool> stopped{false};
    executor.For(heads, alone ? heads : 1, [&](int64_t begin, int64_t end) {
      BorrowedScratch<ThreadTag> scratch;
      const int64_t packed = key_items_ + value_items_;
      float* keys = scratch.Get<float>(packed + std::max(ThreadFloats(), PackFloats()));
      float* values = keys + key_items_;
      float* work = keys + packed;
      for (int64_t i = begin; i < end; ++i) {
        if (Cancelled(cancel)) {
          stopped.store(true, std::memory_order_relaxed);
          return;
        }
        const Task& task = tasks[static_cast<size_t>(i)];
        const KeySet& set = sets[static_cast<size_t>(task.slot)];
        const Task* before = i == begin ? nullptr : &tasks[static_cast<size_t>(i - 1)];
        const bool same_set = before && before->slot == task.slot;
        const bool same_values =
            before && sets[static_cast<size_t>(before->slot)].key_value_head == set.key_value_head;
        for (int64_t key = first_block_ * kKeyBlock; key < used_keys_; key += kKeyBlock) {
          if (!same_set) PackKeyBlock(set, key, work, keys, nullptr);
          if (!same_values) PackValueBlock(set.key_value_head, key, work, values);
        }
        for (int64_t block = 0; block < query_blocks_; ++block)
          AttendBlock({keys, nullptr, values}, task.head, block, work);
      }
    });
    return !stopped.load();
  }

  void Pack(std::span<const KeySet> sets, bool with_values, const Executor& executor,
            CancelFlag cancel) const {
    const int64_t key_blocks = padded_keys_ / kKeyBlock - first_block_;
    const int64_t for_keys = static_cast<int64_t>(sets.size()) * key_blocks;
    const int64_t for_values = with_values ? shape_.key_value_heads * key_blocks : 0;
    executor.For(for_keys + for_values, 1, [&](int64_t begin, int64_t end) {
      BorrowedScratch<ThreadTag> scratch;
      float* work = scratch.Get<float>(PackFloats());
      for (int64_t unit = begin; unit < end && !Cancelled(cancel); ++unit) {
        const bool values = unit >= for_keys;
        const int64_t index = values ? unit - for_keys : unit;
        const int64_t key = (first_block_ + index % key_blocks) * kKeyBlock;
        if (edits_.HidesAll(key, std::min(key + kKeyBlock, used_keys_))) continue;
        const int64_t slot = index / key_blocks;
        if (values) {
          PackValueBlock(slot, key, work, values_ + slot * value_items_);
        } else {
          PackKeyBlock(sets[static_cast<size_t>(slot)], key, work, keys_ + slot * key_items_,
                       far_keys_ ? far_keys_ + slot * key_items_ : nullptr);
        }
      }
    });
  }

  // Returns the size, in floats, of `work` in PackKeyBlock and PackValueBlock.
  int64_t PackFloats() const {
    if (engine_.by_rows) return ValueWork(shape_.head_dim);
    return kTile * steps_ + 2 * (shape_.head_dim + kTile);
  }

  // Packs the block of keys that begins at key `block`: into keys [key_items_] if one of its keys
  // is near to a query row, and into far_keys if one is far from a query row.
  void PackKeyBlock(const KeySet& set, int64_t block, float* work, float* keys,
                    float* far_keys) const {
    const PackSource source{k_, set.key_value_head, shape_.head_dim, engine_.pack};
    const auto pack = [&](const RotaryView& table, float* to) {
      if (engine_.by_rows) {
        PackKeysByRows(source, block, std::min(kKeyBlock, used_keys_ - block), table, block,
                       to + block * steps_);
        return;
      }
      for (int64_t key = block; key < block + kKeyBlock && key < used_keys_; key += kTile) {
        PackRows(source, key, std::min(kTile, used_keys_ - key), table, key, 1.0f, kTile, work,
                 to + key * steps_);
      }
    };
    const bool near =
        far_end_ == 0 || block + kKeyBlock > shape_.first_query + 1 - positions_.far.window;
    if (near) pack(set.table, keys);
    if (block < far_end_) pack(set.far, far_keys);
  }

  // Packs the block of values that begins at row `key` into values [value_items_].
  void PackValueBlock(int64_t key_value_head, int64_t key, float* work, float* values) const {
    const PackSource source{v_, key_value_head, shape_.head_dim, engine_.pack};
    float* to = values + key / engine_.pack * value_tiles_ * kTile;
    const int64_t count = std::min(kKeyBlock, used_keys_ - key);
    if (engine_.by_rows) {
      PackValuesByElements(source, key, count, work, to);
    } else {
      PackValues(source, key, count, work, to);
    }
  }

  bool Attend(std::span<const KeySet> sets, const Executor& executor, CancelFlag cancel) const {
    const std::vector<Task> tasks = TasksOf(sets);
    const int64_t group = shape_.heads / shape_.key_value_heads;
    const auto heads = static_cast<int64_t>(tasks.size());
    const int64_t count = heads * query_blocks_;
    std::atomic<int64_t> next{0};
    std::atomic<bool> stopped{false};
    executor.For(executor.Threads(), 1, [&](int64_t, int64_t) {
      BorrowedScratch<ThreadTag> scratch;
      float* work = scratch.Get<float>(ThreadFloats());
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
        if (Cancelled(cancel)) {
          stopped.store(true, std::memory_order_relaxed);
          return;
        }
        // Processes the last rows, which see the most keys, first, so that no thread begins a long
        // block at the end.
        const Task& task = tasks[static_cast<size_t>(i % heads)];
        const int64_t at = task.slot * key_items_;
        AttendBlock({keys_ + at, far_keys_ ? far_keys_ + at : nullptr,
                     values_ + task.head / group * value_items_},
                    task.head, query_blocks_ - 1 - i / heads, work);
      }
    });
    return !stopped.load();
  }

  int64_t ThreadFloats() const {
    return RoundUp(engine_.scratch_floats, 16) +
           engine_.rows * (3 * steps_ + value_tiles_ * kTile) + kUnpackedRows * shape_.head_dim;
  }

  void AttendBlock(const Operands& packed, int64_t head, int64_t query_block, float* work) const {
    const int64_t row = query_block * engine_.rows;
    const int64_t rows = std::min(engine_.rows, shape_.query_rows - row);
    const int64_t position = shape_.first_query + row;
    float* queries = work + RoundUp(engine_.scratch_floats, 16);
    float* far_queries = queries + engine_.rows * steps_;
    float* block_out = far_queries + engine_.rows * steps_;
    float* spare = block_out + engine_.rows * value_tiles_ * kTile;
    const auto h = static_cast<size_t>(head);
    // Converts scores to units of ln 2, because 2^x is cheaper than e^x.
    const float temperature = positions_.Temperature(head);
    const float factor = positions_.scale[h] / temperature * std::numbers::log2e_v<float>;
    const PackSource source{q_, head, shape_.head_dim, engine_.pack, positions_.query_weight};
    PackRows(source, row, rows, positions_.q[h], position, factor, engine_.rows, spare, queries);
    const bool has_far = far_end_ > 0 && position + rows > positions_.far.window;
    if (has_far) {
      PackRows(source, row, rows, positions_.far.q[h], position, factor, engine_.rows, spare,
               far_queries);
    }
    const bool windowed = shape_.window > 0 && shape_.window < used_keys_;
    const float slope = positions_.alibi_slopes.empty() ? 0.0f : positions_.alibi_slopes[h];
    const KeyEdits edits = edits_.OfHead(head);
    engine_.attend({.queries = queries,
                    .keys = packed.keys,
                    .values = packed.values,
                    .far_queries = has_far ? far_queries : nullptr,
                    .far_keys = has_far ? packed.far_keys : nullptr,
                    .near = positions_.far.window,
                    .steps = steps_,
                    .value_tiles = value_tiles_,
                    .key_count = position + rows,
                    .first_row = position,
                    .first_key = FirstVisibleKey(shape_, position) / kKeyBlock * kKeyBlock,
                    .window = windowed ? shape_.window : kNoWindow,
                    .softcap = shape_.softcap / temperature * std::numbers::log2e_v<float>,
                    .slope = slope / temperature * std::numbers::log2e_v<float>,
                    .sink = positions_.sinks.empty()
                                ? kHiddenLogit
                                : positions_.sinks[h] / temperature * std::numbers::log2e_v<float>,
                    .edits = edits_.empty() ? nullptr : &edits,
                    .scratch = work,
                    .out = block_out});
    UnpackRows(block_out, engine_.rows, rows, shape_.head_dim, out_, row, head, spare);
  }

  const AttentionEngine& engine_;
  const AttentionShape& shape_;
  const ConstHeads& q_;
  const ConstHeads& k_;
  const ConstHeads& v_;
  const HeadPositions& positions_;
  const KeyEdits edits_;
  const Heads& out_;
  int64_t used_keys_ = 0;    // number of keys up to the last that a query sees
  int64_t padded_keys_ = 0;  // used_keys_ rounded up to whole blocks
  int64_t steps_ = 0;
  int64_t first_block_ = 0;  // first key block that any query sees
  int64_t value_tiles_ = 0;
  int64_t key_items_ = 0;    // items per packed key set
  int64_t value_items_ = 0;  // items per packed KV head
  int64_t query_blocks_ = 0;
  int64_t far_end_ = 0;        // keys before this index are far from some row
  float* keys_ = nullptr;      // [slot][key_items_] items of 4 bytes
  float* far_keys_ = nullptr;  // [slot][key_items_]; null: no key is far
  float* values_ = nullptr;    // [KV head][value_items_] items
};

}  // namespace

bool AttentionOn(const AttentionEngine& engine, const AttentionShape& shape, const ConstHeads& q,
                 const ConstHeads& k, const ConstHeads& v, const HeadPositions& positions,
                 const Heads& out, const Executor& executor, CancelFlag cancel) {
  if (Cancelled(cancel)) return false;
  if (shape.query_rows <= 0) return true;
  return AttentionRun(engine, shape, q, k, v, positions, out).Run(executor, cancel);
}

bool Attention(const AttentionShape& shape, const ConstHeads& q, const ConstHeads& k,
               const ConstHeads& v, const HeadPositions& positions, const Heads& out,
               const Executor& executor, CancelFlag cancel) {
  CheckAttention(shape, positions);
  if (shape.query_rows > 0 && shape.query_rows <= kFewQueryRows) {
    if (Cancelled(cancel)) return false;
    AttendFewRows(shape, q, k, v, positions, out, executor);
    return true;
  }
  const bool narrow =
      q.dtype == Dtype::kBFloat16 && k.dtype == Dtype::kBFloat16 && v.dtype == Dtype::kBFloat16;
  const AttentionEngine* engine = nullptr;
  if (narrow && FitsTiles(shape.head_dim)) engine = TileAttentionEngine();
  if (narrow && !engine) engine = BFloat16AttentionEngine();
  return AttentionOn(engine ? *engine : FloatAttentionEngine(), shape, q, k, v, positions, out,
                     executor, cancel);
}

}  // namespace midscope::kernels
