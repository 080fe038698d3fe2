// SPDX-License-Identifier: MIT
// Infini-attention's segments and compressive memory (arXiv 2404.07143, sections 2.1 and 2.2), for
// models that were not trained with it: the gate is a parameter. Internal to core.
//
// Rows attend to the keys of their own segment, and to all earlier segments through a matrix M per
// key-value head: with s(x) = ELU(x) + 1 and q and k before rotation, row i reads s(q) M / (s(q)
// z). A finished segment updates the memory by M += s(K)^T V (linear) or M += s(K)^T (V - s(K) M /
// (s(K) z)) (delta), z += sum of s(k). Output: gate * read + (1 - gate) * local. Rows of the first
// segment have no memory: their output is the local part unscaled, where equation 10 taken
// literally would scale it by 1 - gate.
//
// Memory: key_value_heads * head_dim * (head_dim + 1) float32 per layer, independent of the
// prompt's length. Time: head_dim^2 per key and key-value head to add, and per row and head to
// read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/intervention/intervention.h"
#include "core/plan/attention_plan.h"
#include "kernels/parallel.h"

namespace midscope {

// One layer's compressive memory, as stored in a trace.
struct SegmentMemory {
  int64_t segment = 0;  // tokens
  MemoryUpdate update = MemoryUpdate::kLinear;
  int64_t rows = 0;     // rows 0 .. rows - 1 have been added
  at::Tensor matrix;    // [key_value_heads, head_dim, head_dim] float32; undefined while rows is 0
  at::Tensor key_sums;  // [key_value_heads, head_dim, 1] float32
};

// Adds segments to `state` until it contains rows 0 .. rows - 1 (whole segments); starts from an
// empty state if `state` was made with other settings or contains later rows. k and v [>= rows,
// key_value_heads * head_dim]. Throws Cancelled.
void AdvanceMemory(const CompressiveMemory& memory, const at::Tensor& k, const at::Tensor& v,
                   int64_t head_dim, int64_t rows, kernels::CancelFlag cancel,
                   SegmentMemory& state);

// Adds gate times the memory's output for queries q [row, heads * head_dim] to z [row, heads *
// head_dim], which must already hold (1 - gate) * local.
void AddMemory(const CompressiveMemory& memory, const SegmentMemory& state, const at::Tensor& q,
               int64_t head_dim, const at::Tensor& z);

// Multiplies x [row, head, n] in place by factors [head].
void ScaleHeads(const std::vector<float>& factors, const at::Tensor& x);

}  // namespace midscope
