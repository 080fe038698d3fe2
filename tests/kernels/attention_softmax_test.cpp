// SPDX-License-Identifier: MIT
// Contract: the running softmax of Attention is within the dtype's tolerance of the definition for
// logits of any size and for any order of keys, and rows do not affect each other.
#include <gtest/gtest.h>

#include "kernels/attention.h"
#include "tests/kernels/support/attention_case.h"
#include "tests/kernels/support/every_target.h"

namespace midscope::kernels {
namespace {

// Hidden keys with logits far above all others must not move the others out of float32's range.
TEST(AttentionSoftmax, HiddenKeysDoNotRaiseTheMaximum) {
  AttentionCase inputs({.query_rows = 60,
                        .first_query = 100,
                        .heads = 1,
                        .key_value_heads = 1,
                        .rotated = false,
                        .hidden = {{0, 90}}});
  const int64_t dim = inputs.shape.head_dim;
  for (int64_t row = 0; row < inputs.shape.key_rows; ++row) {
    for (int64_t i = 0; i < dim; ++i) {
      if (row >= 100) inputs.fused.Set(row * inputs.width + i, 4.0f);
      if (row < 90) inputs.fused.Set(row * inputs.width + dim + i, 20.0f);
    }
  }
  EXPECT_LE(DifferenceFromDefinition(inputs, Dtype::kFloat32), 5e-5);
}

// With large logits, the running maximum must keep 2^x in range, and a later block may raise it
// considerably.
void CheckHoldsWithLargeLogits() {
  AttentionCase inputs({.query_rows = 150, .heads = 3, .key_value_heads = 1, .head_dim = 64});
  for (float& scale : inputs.scales) scale *= 60;
  // Logits of about 500 carry an error of 500 * 2^-24, which is the relative error of a weight.
  EXPECT_LE(DifferenceFromDefinition(inputs, Dtype::kFloat32), 5e-4);
}

TEST(AttentionSoftmax, HoldsWithLargeLogits) { OnEveryTarget(CheckHoldsWithLargeLogits); }

// Each query's logits raise only its own running maximum: logits of one row that grow by thousands
// change no bit of another row.
void CheckRowsDoNotFeelOthers() {
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
    for (const int64_t near : {0, 70}) {
      CaseShape c{.query_rows = 150, .first_query = 30, .heads = 2, .key_value_heads = 1};
      c.near = near;
      c.sinks = near > 0;
      c.dtype = dtype;
      AttentionCase inputs(c);
      Guarded before(inputs.OutCount(), dtype);
      Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                inputs.Out(before, dtype), SerialExecutor());
      constexpr int64_t kChanged = 61;
      const int64_t out_width = c.heads * c.head_dim;
      for (int64_t i = 0; i < out_width; ++i) {
        const int64_t at = (c.first_query + kChanged) * inputs.width + i;
        inputs.fused.Set(at, 900 * inputs.fused.At(at));
      }
      Guarded after(inputs.OutCount(), dtype);
      Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                inputs.Out(after, dtype), SerialExecutor());
      for (int64_t i = 0; i < inputs.OutCount(); ++i) {
        if (i / out_width == kChanged) continue;
        ASSERT_EQ(before.At(i), after.At(i)) << "element " << i;
      }
      EXPECT_NE(before.At(kChanged * out_width), after.At(kChanged * out_width));
    }
  }
}

TEST(AttentionSoftmax, RowsDoNotFeelOthers) { OnEveryTarget(CheckRowsDoNotFeelOthers); }

// With equal logits far below 0, also behind hidden keys and windows, each row is the mean of the
// values that it sees.
void CheckHoldsWithLogitsFarBelowZero() {
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
    for (const int64_t window : {0, 75}) {
      AttentionCase inputs({.query_rows = 100,
                            .first_query = 130,
                            .heads = 1,
                            .key_value_heads = 1,
                            .rotated = false,
                            .window = window,
                            .hidden = {{0, 70}},
                            .dtype = dtype});
      const int64_t dim = inputs.shape.head_dim;
      for (int64_t row = 0; row < inputs.shape.key_rows; ++row) {
        for (int64_t i = 0; i < dim; ++i) {
          inputs.fused.Set(row * inputs.width + i, 4.0f);
          inputs.fused.Set(row * inputs.width + dim + i, -20.0f);
        }
      }
      EXPECT_LE(DifferenceFromDefinition(inputs, dtype), AttentionTolerance(dtype)) << window;
    }
  }
}

TEST(AttentionSoftmax, HoldsWithLogitsFarBelowZero) {
  OnEveryTarget(CheckHoldsWithLogitsFarBelowZero);
}

}  // namespace
}  // namespace midscope::kernels
