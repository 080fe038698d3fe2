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
  std::vector<float> weight;  // [width]; if the file stores weight - 1, 1 has been added
  std::vector<float> bias;    // [width], or empty: none
};

// A projection with bias. Projections of the same input are stacked in one matrix, so that they
// cost one product.
struct Projection {
  WeightMatrix weight;      // [outputs, inputs]
  std::vector<float> bias;  // [outputs], or empty: none
};

struct MlpWeights {
  Projection gate_up;  // 2 * width outputs; width (up alone) if not gated
  Projection down;     // width inputs
};

// Weights of a layer with experts (ModelConfig::experts).
struct ExpertWeights {
  Projection router;               // [experts, hidden]
  std::vector<float> choice_bias;  // [experts], or empty: none
  // Only with ExpertSettings::beside_mlp; else empty.
  std::vector<float> scale;  // [experts]: a factor of the chosen experts' weights
  Norm router_norm;
  Norm input_norm;
  Norm output_norm;
  Norm mlp_norm;  // of the output of the layer's own MLP
  std::vector<MlpWeights> experts;
  MlpWeights shared;       // no outputs: none
  Projection shared_gate;  // [1, hidden]; no outputs: none
};

// Weights of attention over latent keys (ModelConfig::latent); query_key_value is then empty.
struct LatentWeights {
  Projection query_in;  // no outputs: none
  Norm query_in_norm;
  Projection query;      // heads * (plain + rotated) outputs
  Projection key;        // rank + rotated outputs
  Norm key_norm;         // [rank]
  Projection key_out;    // [heads * plain, rank]: maps the latent key to heads' keys
  Projection value_out;  // [heads * value, rank]: maps the latent key to heads' values
};

// Weights of a layer's mixer (delta rule, state space or convolution). Weights that this kind of
// mixer lacks are undefined. Vectors are in float32 and host memory. decay_bias, decay_scale and
// skip are [value heads] or [heads].
struct MixerWeights {
  // The input projection. Its outputs in order: for the delta rule query, key and value, gate,
  // rates, decays; for a state space gate, x, b and c, steps; for a convolution b, c and x.
  Projection input;
  at::Tensor input_scale;  // [outputs of `input`]: factors of its outputs
  at::Tensor decay_bias;   // bias of decays or steps
  at::Tensor decay_scale;  // negative
  at::Tensor taps;         // [rows of the convolution, channels]
  at::Tensor taps_bias;    // [channels]; undefined: none
  at::Tensor skip;
  at::Tensor norm;  // [value_dim], or of a state space [width]
  Projection out;   // MixerSizes::outputs inputs
};

// Returns the factors of a state space's projections (StateSpace::scales), one per output, float32
// in host memory; undefined if all are 1.
at::Tensor ProjectionScales(const StateSpace& space);

struct LayerWeights {
  MixerWeights mixer;  // only in layers with a mixer
  LatentWeights latent;
  XieluSettings xielu;         // used if the activation is kXielu
  Projection query_key_value;  // (heads + 2 key_value_heads) * head_dim outputs; q and k rows in
                               // half-split order; queries alone if keys are another layer's
  Projection attention_gate;   // heads * head_dim outputs; no outputs: none
  Projection attention_out;    // heads * head_dim inputs
  MlpWeights mlp;              // empty in layers of experts or without MLP
  ExpertWeights experts;       // only in layers with experts
  Norm attention_norm;         // input or stream norms; empty if the model has none
  Norm mlp_norm;
  Norm attention_output_norm;  // output norms; empty if the model has none
  Norm mlp_output_norm;
  std::vector<float> sinks;  // [heads], or empty: none
  float layer_scale = 1.0f;  // factor of the residual stream after the layer
  // For models with ModelConfig::layer_input_width; no outputs: none.
  Projection layer_input_gate;  // [width, hidden]
  Projection layer_input_out;   // [hidden, width]
  Norm layer_input_norm;
  std::vector<float> value_norm;  // [head_dim] ones, or empty: none
  // Weights of the norms of queries and keys: [head_dim], or [heads * head_dim]; empty: no norm. If
  // the model norms after the rotation, these are ones, the weights [head_dim] are in
  // rotated_*_norm, and rotated_norms is the product of both, by which queries are multiplied.
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
    if (mixer.out.weight.outputs() > 0) {
      visit(mixer.input);
      visit(mixer.out);
    }
    if (latent.key.weight.outputs() > 0) {
      if (latent.query_in.weight.outputs() > 0) visit(latent.query_in);
      for (Projection* part : {&latent.query, &latent.key, &latent.key_out, &latent.value_out})
        visit(*part);
    } else if (query_key_value.weight.outputs() > 0) {
      visit(query_key_value);
    }
    if (attention_gate.weight.outputs() > 0) visit(attention_gate);
    if (attention_out.weight.outputs() > 0) visit(attention_out);
    if (layer_input_gate.weight.outputs() > 0) {
      visit(layer_input_gate);
      visit(layer_input_out);
    }
    if (mlp.down.weight.outputs() > 0) visit_mlp(mlp);
    if (experts.experts.empty()) return;
    visit(experts.router);
    for (MlpWeights& expert : experts.experts) visit_mlp(expert);
    if (experts.shared.down.weight.outputs() > 0) visit_mlp(experts.shared);
    if (experts.shared_gate.weight.outputs() > 0) visit(experts.shared_gate);
  }
};

// Whether any projection of the layer is multiplied in integers
// (WeightMatrix::HasWholeNumberProducts).
bool HasWholeNumberProducts(LayerWeights& layer);

struct Weights {
  WeightMatrix embedding;        // [vocabulary, hidden]
  PositionEmbeddings positions;  // if learned or sinusoidal
  Norm embedding_norm;           // empty if the model has none
  Projection output;             // [vocabulary, hidden]; the embedding's matrix if tied
  // For models with ModelConfig::layer_input_width. layer_embedding [vocabulary, layers * width]
  // stays in the file. A projection of the ordinary embedding, normed per layer with weights
  // [width], is added to its rows.
  WeightMatrix layer_embedding;
  Projection layer_projection;
  std::vector<float> layer_projection_norm;
  Norm final_norm;
  std::vector<LayerWeights> layers;
};

// The form of expanded matrices: alone (if no layer is on the plain CPU), with a copy of their
// blocks (WeightMatrix::ExpandBesideBlocks) or packed (WeightMatrix::Pack).
enum class Expansion { kAlone, kBesideBlocks, kPacked };

struct WeightOptions {
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  WeightStorage storage = WeightStorage::kExpanded;
  Products products = Products::kFloat;
  Expansion expansion = Expansion::kBesideBlocks;
};

// Returns the options with kAuto resolved to a storage, and the expansion for these devices
// (PacksExpanded).
WeightOptions Resolved(WeightOptions requested, const ModelConfig& config,
                       const Placement& placement);

// Loads the weights. Matrices are expanded to the dtype one by one, or stay in `source`, which must
// then outlive them (kStored; kAuto must be resolved). Throws Error for a tensor that is missing or
// whose shape is not the described one, and for values that are not finite (in a stored matrix, on
// first use), and Cancelled.
Weights LoadWeights(const ModelSource& source, const WeightOptions& options,
                    const kernels::Executor& executor, const JobContext& context);

// Loads only the embedding (left in `source`) and layer 0, for passes through the first layer.
Weights LoadFirstLayer(const ModelSource& source, const WeightOptions& options,
                       const kernels::Executor& executor, const JobContext& context);

}  // namespace midscope
