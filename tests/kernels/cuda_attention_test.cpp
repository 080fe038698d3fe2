// SPDX-License-Identifier: MIT
// The bodies of the CUDA kernels for attention, run on the CPU block by block (launch_on_host.h).
// On a GPU, tests/core/compute/gpu_ops_test.cpp compares the same bodies with LibTorch.
//
// Contract, for bfloat16 and float16: attention of rotated queries and keys equals the definition
// (AttentionReference, in double, on the same inputs) within AttentionTolerance, including the
// merged attention over near and far keys; rotation equals kernels/rotary.h within one rounding.
// Both write only their output, and give the same bits when the threads between two barriers run in
// the opposite order. Shared memory contains NaN before it is written, and until a copy to it is
// waited for.
#include <gtest/gtest.h>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/move_rows.h"
#include "kernels/cuda/rotary.h"
#include "tests/kernels/support/attention_case.h"
#include "tests/kernels/support/attention_reference.h"
#include "tests/kernels/support/cuda_heads.h"
#include "tests/kernels/support/launch_on_host.h"

namespace midscope::kernels::cuda {
namespace {

template <class T>
const T* Data(const ConstHeads& heads) {
  return static_cast<const T*>(heads.data);
}

// Part of an AttentionCase as passed to one call: rows from `skipped` on, with keys either up to
// `near` rows before a row or from there on.
struct Part {
  int64_t skipped = 0;  // number of rows
  int64_t keys = 0;
  int64_t window = 0;
  Table AttentionHead::*q = &AttentionHead::q;
  Table AttentionHead::*k = &AttentionHead::k;
};

// A tensor of heads [rows, count, head_dim]: head i is head i * heads / count of x, rotated by the
// table of head i * of_tables / count.
template <class T>
Guarded RotatedHeads(const AttentionCase& inputs, const ConstHeads& x, int64_t first, int64_t rows,
                     int64_t count, int64_t heads, const std::vector<AttentionHead>& tables,
                     Table AttentionHead::*table) {
  const int64_t dim = inputs.shape.head_dim;
  Guarded out(rows * count * dim, kDtypeOf<T>);
  for (int64_t i = 0; i < count; ++i) {
    const AttentionHead& of = tables[static_cast<size_t>(i) * tables.size() / count];
    RotateArguments<T> arguments;
    arguments.x = Data<T>(x) + i * heads / count * dim;
    arguments.out = static_cast<T*>(out.data()) + i * dim;
    arguments.x_stride = x.row_stride;
    arguments.out_stride = count * dim;
    arguments.rows = rows;
    arguments.heads = 1;
    arguments.head_dim = static_cast<int>(dim);
    arguments.first = first;
    arguments.tables = &(of.*table);
    Rotate(arguments);
  }
  return out;
}

// out: [rows of the part, heads, head_dim]; sums: [heads, the same rows].
template <class T>
void RunPart(AttentionCase& inputs, const std::vector<AttentionHead>& heads, const Part& part,
             bool backwards, Guarded& out, Guarded& sums) {
  const AttentionShape& shape = inputs.shape;
  const int64_t rows = shape.query_rows - part.skipped;
  const int64_t first = shape.first_query + part.skipped;
  // If every head has its own tables, every head also has its own keys.
  const bool shared =
      heads.front().k == heads.back().k && heads.front().far_k == heads.back().far_k;
  const int64_t key_heads = shared ? shape.key_value_heads : shape.heads;
  const int64_t width = shape.heads * shape.head_dim;
  const Guarded q = RotatedHeads<T>(inputs, inputs.Part(0, first), first, rows, shape.heads,
                                    shape.heads, heads, part.q);
  const Guarded k = RotatedHeads<T>(inputs, inputs.K(), 0, part.keys, key_heads,
                                    shape.key_value_heads, heads, part.k);
  // Values are read in place: those of the heads that share them, or those of all heads.
  std::vector<AttentionHead> none(heads.size());
  const Guarded v = RotatedHeads<T>(inputs, inputs.V(), 0, part.keys, key_heads,
                                    shape.key_value_heads, none, &AttentionHead::k);
  AttentionArguments<T> arguments;
  arguments.q = static_cast<const T*>(q.data());
  arguments.k = static_cast<const T*>(k.data());
  arguments.v = static_cast<const T*>(v.data());
  arguments.out = static_cast<T*>(out.data());
  arguments.sums = Data<float>(sums);
  arguments.q_stride = arguments.out_stride = width;
  arguments.k_stride = arguments.v_stride = key_heads * shape.head_dim;
  arguments.query_rows = rows;
  arguments.first_query = part.keys - rows;
  arguments.heads = shape.heads;
  arguments.group = shape.heads / key_heads;
  arguments.window = part.window;
  arguments.behind = shape.first_query + shape.query_rows - part.keys;
  arguments.softcap = shape.softcap;
  arguments.tables = heads.data();
  test::InOrder(backwards, [&] { Attention(arguments, shape.head_dim); });
  EXPECT_TRUE(out.Intact() && sums.Intact()) << "wrote outside of its output";
}

template <class T>
void RunAttention(AttentionCase& inputs, Guarded& out, bool backwards) {
  std::vector<std::vector<KeyEdit>> edits;
  const std::vector<AttentionHead> heads = HeadsOf(inputs, &edits);
  const AttentionShape& shape = inputs.shape;
  const int64_t keys = shape.first_query + shape.query_rows;
  Guarded sums(shape.heads * shape.query_rows, Dtype::kFloat32);
  const int64_t near = inputs.near;
  const bool sees_far = near > 0 && near < keys && (shape.window == 0 || shape.window > near);
  const int64_t near_window = shape.window > 0 ? std::min(shape.window, near) : near;
  RunPart<T>(inputs, heads, {0, keys, sees_far ? near_window : shape.window}, backwards, out, sums);
  if (!sees_far) return;
  const int64_t skipped = std::max<int64_t>(near - shape.first_query, 0);
  const int64_t far_rows = shape.query_rows - skipped;
  const int64_t width = shape.heads * shape.head_dim;
  Guarded far(far_rows * width, kDtypeOf<T>);
  Guarded far_sums(shape.heads * far_rows, Dtype::kFloat32);
  const int64_t far_window = shape.window > 0 ? shape.window - near : 0;
  RunPart<T>(inputs, heads,
             {skipped, keys - near, far_window, &AttentionHead::far_q, &AttentionHead::far_k},
             backwards, far, far_sums);
  MergePartsArguments<T> merge;
  merge.near = static_cast<T*>(out.data()) + skipped * width;
  merge.far = static_cast<const T*>(far.data());
  merge.near_sums = Data<float>(sums) + skipped;
  merge.far_sums = Data<float>(far_sums);
  merge.near_stride = merge.far_stride = width;
  merge.near_sums_stride = shape.query_rows;
  merge.far_sums_stride = far_rows;
  merge.rows = far_rows;
  merge.heads = shape.heads;
  merge.head_dim = static_cast<int>(shape.head_dim);
  test::InOrder(backwards, [&] { MergeParts(merge); });
}

// The kernel does not support query weights.
std::vector<CaseShape> WithHeadDim(std::vector<CaseShape> shapes, int64_t head_dim, int64_t pairs) {
  for (CaseShape& c : shapes) {
    c.head_dim = head_dim;
    c.pairs = pairs;
    c.query_weight = false;
  }
  return shapes;
}

std::vector<CaseShape> Cases(Dtype dtype) {
  std::vector<CaseShape> shapes;
  for (const int64_t rows : {1, 15, 16, 17, 63, 64, 65, 129}) {
    shapes.push_back({.query_rows = rows, .heads = 6, .key_value_heads = 3, .head_dim = 64});
    shapes.push_back({.query_rows = rows,
                      .first_query = 64,
                      .heads = 4,
                      .key_value_heads = 1,
                      .head_dim = 128,
                      .tables_per_head = true});
  }
  for (const int64_t first : {1, 7, 63, 65, 130}) {
    shapes.push_back({.query_rows = 5,
                      .first_query = first,
                      .extra_keys = 9,
                      .heads = 4,
                      .key_value_heads = 2,
                      .pairs = 24,
                      .tables_per_head = true});
  }
  shapes.push_back({.query_rows = 70, .heads = 2, .key_value_heads = 1, .rotated = false});
  // Includes tiles of keys that no query sees.
  shapes.push_back({.query_rows = 66,
                    .first_query = 140,
                    .heads = 2,
                    .key_value_heads = 1,
                    .head_dim = 64,
                    .hidden = {{0, 128}}});
  const auto add = [&](const std::vector<CaseShape>& more) {
    shapes.insert(shapes.end(), more.begin(), more.end());
  };
  add(WithHeadDim(ShapedCases({5, 130}, {0, 65}), 64, -1));
  add(WithHeadDim(FarCases({5}, {0, 200}), 128, 16));
  add(WithHeadDim(FarCases({130}, {65}), 64, -1));
  if (dtype == Dtype::kBFloat16) add(WithHeadDim(EditedCases({66}), 64, 16));
  // Includes rows whose far keys are all hidden.
  shapes.push_back({.query_rows = 5,
                    .first_query = 200,
                    .heads = 2,
                    .pairs = 16,
                    .hidden = {{0, 150}},
                    .near = 63});
  shapes.push_back({.query_rows = 66, .first_query = 3, .heads = 2, .head_dim = 96, .alibi = true});
  shapes.push_back({.query_rows = 130, .heads = 2, .head_dim = 256, .softcap = 1.5f});
  for (CaseShape& c : shapes) c.dtype = dtype;
  return shapes;
}

template <class T>
void CheckAttention() {
  for (const CaseShape& c : Cases(kDtypeOf<T>)) {
    AttentionCase inputs(c);
    AttentionCase wide = WideCase(c, inputs);
    Guarded expected(inputs.OutCount(), Dtype::kFloat32);
    AttentionReference(wide.shape, wide.Q(), wide.K(), wide.V(), wide.Positions(),
                       wide.Out(expected, Dtype::kFloat32));
    Guarded out(inputs.OutCount(), kDtypeOf<T>);
    Guarded backwards(inputs.OutCount(), kDtypeOf<T>);
    RunAttention<T>(inputs, out, false);
    if (!kReportsRaces) RunAttention<T>(inputs, backwards, true);
    EXPECT_LE(MaxDifference(out, expected, inputs.OutCount()), AttentionTolerance(kDtypeOf<T>))
        << Describe(c);
    EXPECT_TRUE(kReportsRaces || out == backwards)
        << Describe(c) << " depends on the order of threads";
    EXPECT_TRUE(out.Intact()) << Describe(c) << " wrote outside of its output";
    EXPECT_TRUE(inputs.fused.Intact()) << Describe(c);
  }
}

TEST(CudaAttention, EqualsTheDefinitionInAnyOrderOfThreads) {
  CheckAttention<BFloat16>();
  CheckAttention<Float16>();
}

// Keys beyond the window's tile may contain anything.
TEST(CudaAttention, LeavesKeysBehindTheWindowAlone) {
  AttentionCase inputs({.query_rows = 100,
                        .first_query = 300,
                        .heads = 2,
                        .key_value_heads = 1,
                        .window = 70,
                        .dtype = Dtype::kBFloat16});
  Guarded expected(inputs.OutCount(), Dtype::kBFloat16);
  RunAttention<BFloat16>(inputs, expected, false);
  const int64_t tiles = FirstVisibleKey(inputs.shape, 300) / kBlockKeys<64>;
  ASSERT_GT(tiles, 0);
  for (int64_t i = 0; i < tiles * kBlockKeys<64> * inputs.width; ++i) inputs.fused.Set(i, NAN);
  Guarded out(inputs.OutCount(), Dtype::kBFloat16);
  RunAttention<BFloat16>(inputs, out, false);
  EXPECT_TRUE(out == expected);
}

template <class T>
void CheckRotary() {
  for (const int64_t rows : {1, 3, 64, 129}) {
    for (const int64_t pairs : {8, 24, 64}) {
      for (const bool rotated : {true, false}) {
        const CaseShape c{.query_rows = rows,
                          .first_query = 5,
                          .heads = 3,
                          .key_value_heads = 1,
                          .head_dim = 128,
                          .pairs = pairs,
                          .rotated = rotated,
                          .tables_per_head = true,
                          .dtype = kDtypeOf<T>};
        AttentionCase inputs(c);
        AttentionCase wide = WideCase(c, inputs);
        Guarded out(inputs.OutCount(), kDtypeOf<T>);
        Guarded expected(inputs.OutCount(), Dtype::kFloat32);
        std::vector<AttentionHead> tables(3);
        for (int64_t head = 0; head < 3; ++head) {
          const RotaryView view = inputs.Positions().q[static_cast<size_t>(head)];
          tables[static_cast<size_t>(head)].far_k = TableOf(view);
          Heads to = inputs.Out(expected, Dtype::kFloat32);
          to.data = static_cast<float*>(to.data) + head * 128;
          Rotate(wide.Part(head, 5), rows, 1, 128, view, 5, to);
        }
        RotateArguments<T> arguments;
        arguments.x = Data<T>(inputs.Q());
        arguments.out = static_cast<T*>(out.data());
        arguments.x_stride = inputs.width;
        arguments.out_stride = int64_t{3} * 128;
        arguments.rows = rows;
        arguments.heads = 3;
        arguments.head_dim = 128;
        arguments.first = 5;
        arguments.tables = &tables.front().far_k;
        arguments.table_stride = sizeof(AttentionHead);
        Rotate(arguments);
        EXPECT_LE(MaxDifference(out, expected, inputs.OutCount()), 2e-2)
            << rows << " rows, " << pairs << " pairs";
        EXPECT_TRUE(out.Intact());
      }
    }
  }
}

TEST(CudaRotary, EqualsTheKernelOfTheCpu) {
  CheckRotary<BFloat16>();
  CheckRotary<Float16>();
}

}  // namespace
}  // namespace midscope::kernels::cuda
