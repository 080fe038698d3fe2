// SPDX-License-Identifier: MIT
// The bodies of the CUDA kernels, run on the CPU block by block (HostMachine). On a GPU the same
// bodies are held against LibTorch in tests/core/compute/gpu_ops_test.cpp.
//
// Contract, for bfloat16 and float16: attention equals the definition (AttentionReference, in
// double, on the same inputs) within AttentionTolerance; rotation equals kernels/rotary.h's within
// one rounding. Both write nothing but their output, and give the same bits when the threads
// between two barriers run in the opposite order. Shared memory holds NaN before it is written.
#include <gtest/gtest.h>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/rotary.h"
#include "tests/kernels/support/attention_case.h"
#include "tests/kernels/support/attention_reference.h"
#include "tests/kernels/support/cuda_heads.h"
#include "tests/kernels/support/host_machine.h"

namespace midscope::kernels::cuda {
namespace {

template <class T>
const T* Data(const ConstHeads& heads) {
  return static_cast<const T*>(heads.data);
}

template <class T>
void RunAttention(AttentionCase& inputs, Guarded& out, bool backwards) {
  std::vector<std::vector<KeyEdit>> edits;
  const std::vector<AttentionHead> heads = HeadsOf(inputs, &edits);
  const ConstHeads q = inputs.Q();
  const Heads z = inputs.Out(out, kDtypeOf<T>);
  AttentionArguments<T> arguments;
  arguments.q = Data<T>(q);
  arguments.k = Data<T>(inputs.K());
  arguments.v = Data<T>(inputs.V());
  arguments.out = static_cast<T*>(z.data);
  arguments.q_stride = arguments.k_stride = arguments.v_stride = q.row_stride;
  arguments.out_stride = z.row_stride;
  arguments.query_rows = inputs.shape.query_rows;
  arguments.first_query = inputs.shape.first_query;
  arguments.heads = inputs.shape.heads;
  arguments.key_value_heads = inputs.shape.key_value_heads;
  arguments.window = inputs.shape.window;
  arguments.softcap = inputs.shape.softcap;
  arguments.near = inputs.near;
  arguments.tables = heads.data();
  WithHeadDim(inputs.shape.head_dim, [&]<int kDim>(std::integral_constant<int, kDim>) {
    RunOnHost(AttentionGrid<kDim>(arguments), backwards, [&](HostMachine& machine) {
      AttentionBlock<HostMachine, kDim, T>(machine, arguments).Run();
    });
  });
}

// Weights of queries are not the kernel's.
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
  // Tiles of keys that nobody sees.
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
    RunAttention<T>(inputs, backwards, true);
    EXPECT_LE(MaxDifference(out, expected, inputs.OutCount()), AttentionTolerance(kDtypeOf<T>))
        << Describe(c);
    EXPECT_TRUE(out == backwards) << Describe(c) << " depends on the order of threads";
    EXPECT_TRUE(out.Intact()) << Describe(c) << " wrote outside of its output";
    EXPECT_TRUE(inputs.fused.Intact()) << Describe(c);
  }
}

TEST(CudaAttention, EqualsTheDefinitionInAnyOrderOfThreads) {
  CheckAttention<BFloat16>();
  CheckAttention<Float16>();
}

// Keys beyond the window's tile may hold anything.
TEST(CudaAttention, LeavesKeysBehindTheWindowAlone) {
  AttentionCase inputs({.query_rows = 100,
                        .first_query = 300,
                        .heads = 2,
                        .key_value_heads = 1,
                        .window = 70,
                        .dtype = Dtype::kBFloat16});
  Guarded expected(inputs.OutCount(), Dtype::kBFloat16);
  RunAttention<BFloat16>(inputs, expected, false);
  const int64_t tiles = FirstVisibleKey(inputs.shape, 300) / kBlockKeys;
  ASSERT_GT(tiles, 0);
  for (int64_t i = 0; i < tiles * kBlockKeys * inputs.width; ++i) inputs.fused.Set(i, NAN);
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
        RunOnHost(RotateGrid(arguments), false,
                  [&](HostMachine& machine) { RotateBlock(machine, arguments); });
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
