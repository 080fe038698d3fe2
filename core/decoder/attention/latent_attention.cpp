// SPDX-License-Identifier: MIT
#include "core/decoder/attention/latent_attention.h"

#include <ATen/ATen.h>

#include "core/decoder/project.h"

namespace midscope {
namespace {

at::Tensor Projected(const LatentStep& step, const at::Tensor& x, const Projection& projection) {
  at::Tensor y = at::empty({x.size(0), projection.weight.outputs()}, x.options());
  Project(step.ops, x, projection, y, step.context);
  return y;
}

at::Tensor Normed(const LatentStep& step, const at::Tensor& x, const Norm& norm) {
  const at::Tensor source = x.contiguous();
  at::Tensor y = at::empty_like(source);
  step.ops.Normalise(NormKind::kRms, source, norm,
                     static_cast<float>(step.config.latent.norm_epsilon), y, {});
  return y;
}

// Returns the rotated elements [..., rotated] in half-split order (pairs i, i + rotated / 2).
at::Tensor HalfSplit(const LatentStep& step, const at::Tensor& x) {
  if (!step.config.latent.interleaved) return x;
  std::vector<int64_t> pairs = x.sizes().vec();
  pairs.back() /= 2;
  pairs.push_back(2);
  return x.reshape(pairs).transpose(-1, -2).reshape(x.sizes());
}

// Returns the projection's weights as [heads, outputs per head, rank].
at::Tensor ByHead(const LatentStep& step, const Projection& projection) {
  const at::Tensor& matrix = projection.weight.expanded();
  return matrix.view({step.config.heads, -1, step.config.latent.rank});
}

}  // namespace

void ProjectLatentQueries(const LatentStep& step, const at::Tensor& x, const at::Tensor& queries) {
  const ModelConfig& config = step.config;
  const LatentAttention& latent = config.latent;
  const int64_t rows = x.size(0);
  const int64_t rotated = config.rope_dimensions;
  const bool in_two = latent.query_rank > 0;
  const at::Tensor input =
      in_two ? Normed(step, Projected(step, x, step.weights.query_in), step.weights.query_in_norm)
             : x;
  const at::Tensor query =
      Projected(step, input, step.weights.query).view({rows, config.heads, latent.plain + rotated});
  const at::Tensor heads = queries.unflatten(1, at::IntArrayRef{config.heads, config.head_dim});
  heads.narrow(2, 0, rotated).copy_(HalfSplit(step, query.narrow(2, latent.plain, rotated)));
  const at::Tensor plain = query.narrow(2, 0, latent.plain).transpose(0, 1);
  heads.narrow(2, rotated, latent.rank)
      .copy_(at::bmm(plain, ByHead(step, step.weights.key_out)).transpose(0, 1));
}

void ProjectLatentKey(const LatentStep& step, const at::Tensor& x, const at::Tensor& key) {
  const int64_t rank = step.config.latent.rank;
  const int64_t rotated = step.config.rope_dimensions;
  const at::Tensor projected = Projected(step, x, step.weights.key);
  const at::Tensor normed = Normed(step, projected.narrow(1, 0, rank), step.weights.key_norm);
  key.narrow(1, 0, rotated).copy_(HalfSplit(step, projected.narrow(1, rank, rotated)));
  key.narrow(1, rotated, rank).copy_(normed);
}

void ValueOfLatentKey(const ModelConfig& config, const at::Tensor& key, const at::Tensor& value) {
  const int64_t rotated = config.rope_dimensions;
  value.narrow(1, 0, rotated).zero_();
  value.narrow(1, rotated, config.latent.rank).copy_(key.narrow(1, rotated, config.latent.rank));
}

void ProjectLatent(const LatentStep& step, const at::Tensor& x, const at::Tensor& projected) {
  const int64_t width = step.config.head_dim;
  const int64_t queries = step.config.heads * width;
  ProjectLatentQueries(step, x, projected.narrow(1, 0, queries));
  const at::Tensor key = projected.narrow(1, queries, width);
  ProjectLatentKey(step, x, key);
  ValueOfLatentKey(step.config, key, projected.narrow(1, queries + width, width));
}

at::Tensor ExpandLatent(const LatentStep& step, const at::Tensor& z) {
  const ModelConfig& config = step.config;
  const at::Tensor heads = z.view({z.size(0), config.heads, config.head_dim})
                               .narrow(2, config.rope_dimensions, config.latent.rank)
                               .transpose(0, 1);
  const at::Tensor values = at::bmm(heads, ByHead(step, step.weights.value_out).transpose(1, 2));
  return values.transpose(0, 1).reshape({z.size(0), config.heads * config.latent.value});
}

}  // namespace midscope
