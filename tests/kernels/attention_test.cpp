// SPDX-License-Identifier: MIT
// Contract: Attention equals the definition (AttentionReference, in double, on the same inputs)
// within the tolerance of its dtype, for any shape, layout and tables, including far ones; it is
// equal to the last bit for any number of threads; it writes only its output; it stops when
// cancelled. Out of scope: inputs with NaN or infinity, and logits beyond 1e29.
#include "kernels/attention.h"

#include <algorithm>

#include "kernels/attention_engine.h"
#include "tests/kernels/support/attention_case.h"
#include "tests/kernels/support/attention_reference.h"
#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

std::vector<CaseShape> Cases() {
  std::vector<CaseShape> shapes;
  for (const int64_t rows : {1, 3, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 97, 127, 129, 200}) {
    shapes.push_back({.query_rows = rows, .heads = 9, .key_value_heads = 3, .head_dim = 64});
  }
  for (const int64_t dim : {8, 36, 80, 96, 128, 256}) {
    shapes.push_back({.query_rows = 70, .heads = 4, .key_value_heads = 4, .head_dim = dim});
    shapes.push_back(
        {.query_rows = 33, .heads = 6, .key_value_heads = 2, .head_dim = dim, .pairs = 3});
  }
  // With an odd size, one element is in no pair.
  shapes.push_back(
      {.query_rows = 50, .heads = 2, .key_value_heads = 1, .head_dim = 33, .pairs = 16});
  for (const int64_t first : {1, 7, 63, 64, 65, 130}) {
    shapes.push_back({.query_rows = 5, .first_query = first, .heads = 6, .key_value_heads = 2});
    shapes.push_back({.query_rows = 60,
                      .first_query = first,
                      .extra_keys = 9,
                      .heads = 2,
                      .key_value_heads = 1,
                      .tables_per_head = true});
  }
  shapes.push_back({.query_rows = 100, .heads = 9, .key_value_heads = 3, .tables_per_head = true});
  shapes.push_back({.query_rows = 100, .heads = 9, .key_value_heads = 3, .rotated = false});
  for (const CaseShape& c : ShapedCases({5, 49, 130}, {0, 65, 200})) shapes.push_back(c);
  for (const CaseShape& c : EditedCases({5, 70})) shapes.push_back(c);
  for (const CaseShape& c : FarCases({5, 130}, {0, 65})) shapes.push_back(c);
  return shapes;
}

struct NamedEngine {
  const char* name;
  const AttentionEngine* engine;
};

// bfloat16 inputs must also give correct results on CPUs without bfloat16 products, so all engines
// are tested with each dtype.
std::vector<NamedEngine> Engines() {
  std::vector<NamedEngine> engines = {{"float engine", &FloatAttentionEngine()}};
  if (BFloat16AttentionEngine()) engines.push_back({"bfloat16 engine", BFloat16AttentionEngine()});
  if (TileAttentionEngine()) engines.push_back({"engine on tiles", TileAttentionEngine()});
  return engines;
}

void CheckEqualsTheDefinition() {
  const ThreadExecutor executor(2);
  for (CaseShape c : Cases()) {
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
      c.dtype = dtype;
      AttentionCase inputs(c);
      Guarded expected(inputs.OutCount(), Dtype::kFloat32);
      AttentionReference(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                         inputs.Out(expected, Dtype::kFloat32));
      for (const NamedEngine& engine : Engines()) {
        if (engine.engine->by_rows && !FitsTiles(inputs.shape.head_dim)) continue;
        Guarded out(inputs.OutCount(), dtype);
        ASSERT_TRUE(AttentionOn(*engine.engine, inputs.shape, inputs.Q(), inputs.K(), inputs.V(),
                                inputs.Positions(), inputs.Out(out, dtype), executor, nullptr));
        const Dtype arithmetic = engine.engine->pack == 2 ? Dtype::kBFloat16 : dtype;
        EXPECT_LE(MaxDifference(out, expected, inputs.OutCount()),
                  Gain(c) * AttentionTolerance(arithmetic))
            << Describe(c) << " " << engine.name;
        EXPECT_TRUE(out.Intact()) << Describe(c) << " wrote outside of its output";
        EXPECT_TRUE(inputs.fused.Intact()) << Describe(c);
      }
    }
  }
}

TEST(Attention, EqualsTheDefinition) { OnEveryTarget(CheckEqualsTheDefinition); }

TEST(Attention, PicksTheArithmeticByDtypeAndRows) {
  for (const int64_t rows : {1, 2, 4, 5, 77})
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
      AttentionCase inputs({.query_rows = rows,
                            .first_query = 60,
                            .heads = 9,
                            .key_value_heads = 3,
                            .head_dim = 64,
                            .dtype = dtype});
      EXPECT_LE(DifferenceFromDefinition(inputs, dtype), AttentionTolerance(dtype));
    }
}

// Keys far before every window may contain anything, because they are neither read nor computed.
void CheckLeavesKeysBehindTheWindowAlone() {
  for (const int64_t rows : {2, 100}) {
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
      AttentionCase inputs({.query_rows = rows,
                            .first_query = 300,
                            .heads = 2,
                            .key_value_heads = 1,
                            .window = 70,
                            .dtype = dtype});
      Guarded expected(inputs.OutCount(), dtype);
      ASSERT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                            inputs.Out(expected, dtype), SerialExecutor()));
      const int64_t first = FirstVisibleKey(inputs.shape, 300);
      EXPECT_EQ(first, 231);
      for (int64_t i = 0; i < first / 64 * 64 * inputs.width; ++i) inputs.fused.Set(i, NAN);
      Guarded out(inputs.OutCount(), dtype);
      ASSERT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                            inputs.Out(out, dtype), SerialExecutor()));
      EXPECT_TRUE(out == expected) << rows << " rows";
    }
  }
}

TEST(Attention, LeavesKeysBehindTheWindowAlone) {
  OnEveryTarget(CheckLeavesKeysBehindTheWindowAlone);
}

// Blocks of keys that are hidden from all rows may contain anything.
void CheckLeavesHiddenBlocksAlone() {
  for (const int64_t rows : {2, 100}) {
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
      AttentionCase inputs({.query_rows = rows,
                            .first_query = 700,
                            .heads = 2,
                            .key_value_heads = 1,
                            .hidden = {{1, 600}},
                            .dtype = dtype});
      Guarded expected(inputs.OutCount(), dtype);
      ASSERT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                            inputs.Out(expected, dtype), SerialExecutor()));
      // Single rows skip blocks of 256 keys, blocks of rows blocks of 64.
      for (int64_t key = 256; key < 512; ++key) {
        for (int64_t i = 0; i < inputs.width; ++i) inputs.fused.Set(key * inputs.width + i, NAN);
      }
      Guarded out(inputs.OutCount(), dtype);
      ASSERT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                            inputs.Out(out, dtype), SerialExecutor()));
      EXPECT_TRUE(out == expected) << rows << " rows";
    }
  }
}

TEST(Attention, LeavesHiddenBlocksAlone) { OnEveryTarget(CheckLeavesHiddenBlocksAlone); }

// With a window of one key, the result is that key's value, whatever the logits are.
TEST(Attention, AWindowOfOneKeyGivesItsValue) {
  AttentionCase inputs({.query_rows = 90,
                        .first_query = 10,
                        .heads = 3,
                        .key_value_heads = 3,
                        .window = 1,
                        .softcap = 3,
                        .alibi = true});
  Guarded out(inputs.OutCount(), Dtype::kFloat32);
  ASSERT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                        inputs.Out(out, Dtype::kFloat32), SerialExecutor()));
  const int64_t heads_width = inputs.shape.heads * inputs.shape.head_dim;
  for (int64_t i = 0; i < inputs.OutCount(); ++i) {
    const int64_t row = inputs.shape.first_query + i / heads_width;
    const int64_t value = row * inputs.width + 2 * heads_width + i % heads_width;
    ASSERT_FLOAT_EQ(out.At(i), inputs.fused.At(value));
  }
}

// Self-Extend with groups of one key is plain attention, because every key keeps its position.
TEST(Attention, GroupsOfOneKeyChangeNothing) {
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
    CaseShape c{.query_rows = 150, .first_query = 20, .heads = 6, .key_value_heads = 2};
    c.dtype = dtype;
    AttentionCase plain(c);
    c.near = 37;
    c.group = 1;
    AttentionCase grouped(c);
    Guarded expected(plain.OutCount(), dtype);
    Attention(plain.shape, plain.Q(), plain.K(), plain.V(), plain.Positions(),
              plain.Out(expected, dtype), SerialExecutor());
    Guarded out(plain.OutCount(), dtype);
    Attention(grouped.shape, grouped.Q(), grouped.K(), grouped.V(), grouped.Positions(),
              grouped.Out(out, dtype), SerialExecutor());
    EXPECT_TRUE(out == expected);
  }
}

// The softmax covers near and far keys together, also if far logits are much larger or smaller.
void CheckFarKeysOfAnotherSize() {
  for (const float size : {0.01f, 30.0f}) {
    CaseShape c{.query_rows = 130, .first_query = 9, .heads = 2, .key_value_heads = 1};
    c.near = 50;
    c.group = 3;
    AttentionCase inputs(c);
    for (std::vector<float>& table : inputs.far_tables) {
      for (float& value : table) value *= size;
    }
    // With logits of thousands, their rounding affects the weights.
    EXPECT_LE(DifferenceFromDefinition(inputs, Dtype::kFloat32), size > 1 ? 5e-3 : 5e-6);
  }
}

TEST(Attention, TakesOneSoftmaxOverNearAndFarKeys) { OnEveryTarget(CheckFarKeysOfAnotherSize); }

// Also tests short inputs, for which every thread packs only what its heads need.
TEST(Attention, IsBitEqualForAnyNumberOfThreads) {
  for (const int64_t rows : {7, 33, 57, 210})
    for (const bool tables_per_head : {false, true})
      for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
        AttentionCase inputs({.query_rows = rows,
                              .first_query = 7,
                              .heads = 6,
                              .key_value_heads = 2,
                              .head_dim = 64,
                              .tables_per_head = tables_per_head,
                              .dtype = dtype});
        Guarded serial(inputs.OutCount(), dtype);
        Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                  inputs.Out(serial, dtype), SerialExecutor());
        for (const int threads : {1, 2, 3, 6}) {
          Guarded out(inputs.OutCount(), dtype);
          Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                    inputs.Out(out, dtype), ThreadExecutor(threads));
          EXPECT_TRUE(out == serial) << rows << " rows, " << threads << " threads";
        }
      }
}

TEST(Attention, StopsWhenCancelled) {
  AttentionCase inputs({.query_rows = 100, .heads = 2, .key_value_heads = 1, .head_dim = 64});
  Guarded out(inputs.OutCount(), Dtype::kFloat32);
  const Guarded untouched = out;
  std::atomic<bool> cancel{true};
  EXPECT_FALSE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                         inputs.Out(out, Dtype::kFloat32), SerialExecutor(), &cancel));
  EXPECT_TRUE(out == untouched);
  cancel = false;
  EXPECT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                        inputs.Out(out, Dtype::kFloat32), SerialExecutor(), &cancel));
  EXPECT_FALSE(out == untouched);
}

// Sets the flag while query blocks are being computed. Packing is the first For of a call, and
// query blocks are the second; a short call has only one For.
class CancellingExecutor : public Executor {
 public:
  CancellingExecutor(std::atomic<bool>& flag, int call) : flag_(flag), call_(call) {}
  int Threads() const override { return 1; }
  void For(int64_t count, int64_t,
           const std::function<void(int64_t begin, int64_t end)>& work) const override {
    if (++calls_ == call_) flag_ = true;
    work(0, count);
  }

 private:
  std::atomic<bool>& flag_;
  int call_;
  mutable int calls_ = 0;
};

TEST(Attention, StopsInTheMiddle) {
  for (const int64_t rows : {100, 50}) {
    AttentionCase inputs({.query_rows = rows, .heads = 2, .key_value_heads = 1, .head_dim = 64});
    Guarded out(inputs.OutCount(), Dtype::kFloat32);
    std::atomic<bool> cancel{false};
    const CancellingExecutor executor(cancel, rows == 100 ? 2 : 1);
    EXPECT_FALSE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                           inputs.Out(out, Dtype::kFloat32), executor, &cancel))
        << rows;
  }
}

// An engine's block is three vectors of queries, so this also tests OnEveryTarget. All of ARM's
// targets have the same vector length.
TEST(Attention, HasAnEngineForEachInstructionSet) {
  std::vector<int64_t> rows;
  OnEveryTarget([&] { rows.push_back(FloatAttentionEngine().rows); });
  EXPECT_EQ(rows.size(), hwy::SupportedAndGeneratedTargets().size());
  EXPECT_EQ(*std::max_element(rows.begin(), rows.end()), FloatAttentionEngine().rows);
  const bool several_lengths = HWY_ARCH_X86 && rows.size() > 1;
  EXPECT_EQ(*std::min_element(rows.begin(), rows.end()) < FloatAttentionEngine().rows,
            several_lengths);
}

TEST(Attention, NoRowsIsNoWork) {
  AttentionCase inputs({.query_rows = 0, .first_query = 4, .heads = 2, .key_value_heads = 1});
  Guarded out(1, Dtype::kFloat32);
  const Guarded untouched = out;
  EXPECT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                        inputs.Out(out, Dtype::kFloat32), SerialExecutor()));
  EXPECT_TRUE(out == untouched);
}

}  // namespace
}  // namespace midscope::kernels
