// SPDX-License-Identifier: MIT
// A decoder's weights. Internal to core.
#pragma once

#include <vector>

#include "core/base/job.h"
#include "core/compute/arithmetic.h"
#include "core/compute/placement.h"
#include "core/compute/position_embeddings.h"
#include "core/compute/weight_matrix.h"
#include "core/model/model_config.h"
#include "core/model/model_source.h"
#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope {

struct Norm {
  std::vector<float> weight;  // [width]; where files keep weight - 1, 1 has been added
  std::vector<float> bias;    // [width], or empty: none
};

// Projections that read the same input are in one matrix, so that they cost one product.
struct Projection {
  WeightMatrix weight;      // [outputs, inputs]
  std::vector<float> bias;  // [outputs], or empty: none
};

struct MlpWeights {
  Projection gate_up;  // 2 * width outputs; width (up) where not gated
  Projection down;     // width inputs
};

// Weights of a layer with experts (ModelConfig::experts).
struct ExpertWeights {
  Projection router;               // [experts, hidden]
  std::vector<float> choice_bias;  // [experts], or empty: none
  std::vector<MlpWeights> experts;
  MlpWeights shared;       // without outputs: none
  Projection shared_gate;  // [1, hidden]; without outputs: none
};

// Those of attention over latent keys (ModelConfig::latent), whose query_key_value is empty.
struct LatentWeights {
  Projection query_in;  // without outputs: none
  Norm query_in_norm;
  Projection query;      // heads * (plain + rotated) outputs
  Projection key;        // rank + rotated outputs
  Norm key_norm;         // [rank]
  Projection key_out;    // [heads * plain, rank]: what makes heads' keys of the latent one
  Projection value_out;  // [heads * value, rank]: likewise their values
};

struct LayerWeights {
  LatentWeights latent;
  XieluSettings xielu;         // where that is the activation
  Projection query_key_value;  // (heads + 2 key_value_heads) * head_dim outputs; q and k rows in
                               // half-split order
  Projection attention_out;    // heads * head_dim inputs
  MlpWeights mlp;              // not in layers with experts
  ExpertWeights experts;       // in these alone
  Norm attention_norm;         // input or stream norms; empty where the model has none
  Norm mlp_norm;
  Norm attention_output_norm;  // output norms, likewise
  Norm mlp_output_norm;
  std::vector<float> sinks;  // [heads], or empty: none
  // [head_dim], or for all heads; empty: none. For norms after the rotation: ones; the weights,
  // [head_dim], are in rotated_*_norm, and those of queries times those of keys, by which queries
  // are multiplied, in rotated_norms.
  std::vector<float> query_norm;
  std::vector<float> key_norm;
  std::vector<float> rotated_query_norm;
  std::vector<float> rotated_key_norm;
  std::vector<float> rotated_norms;

  // Calls `visit` with every projection.
  template <typename Visit>
  void VisitProjections(const Visit& visit) {
    const auto visit_mlp = [&](MlpWeights& part) {
      visit(part.gate_up);
      visit(part.down);
    };
    if (latent.key.weight.outputs() > 0) {
      if (latent.query_in.weight.outputs() > 0) visit(latent.query_in);
      for (Projection* part : {&latent.query, &latent.key, &latent.key_out, &latent.value_out})
        visit(*part);
    } else {
      visit(query_key_value);
    }
    visit(attention_out);
    if (experts.experts.empty()) return visit_mlp(mlp);
    visit(experts.router);
    for (MlpWeights& expert : experts.experts) visit_mlp(expert);
    if (experts.shared.down.weight.outputs() > 0) visit_mlp(experts.shared);
    if (experts.shared_gate.weight.outputs() > 0) visit(experts.shared_gate);
  }
};

// Whether any projection is multiplied in integers (WeightMatrix::HasWholeNumberProducts).
bool HasWholeNumberProducts(LayerWeights& layer);

struct Weights {
  WeightMatrix embedding;        // [vocabulary, hidden]
  PositionEmbeddings positions;  // where they are learned or sinusoidal
  Norm embedding_norm;           // empty where the model has none
  Projection output;             // [vocabulary, hidden]; the embedding's matrix where tied
  Norm final_norm;
  std::vector<LayerWeights> layers;
};

// The form of layers' expanded matrices: alone (none is on the plain CPU), beside their blocks
// (WeightMatrix::ExpandBesideBlocks) or packed (WeightMatrix::Pack).
enum class Expansion { kAlone, kBesideBlocks, kPacked };

struct WeightOptions {
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  WeightStorage storage = WeightStorage::kExpanded;
  Products products = Products::kFloat;
  Expansion expansion = Expansion::kBesideBlocks;
};

// With the storage that kAuto comes to, and the expansion for these devices (PacksExpanded).
WeightOptions Resolved(WeightOptions asked, const ModelConfig& config, const Placement& placement);

// Matrices expanded to the dtype one by one, or left in `source`, which must then outlive them
// (kStored; not kAuto). Throws Error for a tensor that is missing or has another shape than the
// source's description, and for values that are not finite (in a stored matrix: when it is first
// used); Cancelled.
Weights LoadWeights(const ModelSource& source, const WeightOptions& options,
                    const kernels::Executor& executor, const JobContext& context);

// The weights that a pass through the first layer reads: the embedding (left in `source`) and that
// layer.
Weights LoadFirstLayer(const ModelSource& source, const WeightOptions& options,
                       const kernels::Executor& executor, const JobContext& context);

}  // namespace midscope
