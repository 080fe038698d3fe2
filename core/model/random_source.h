// SPDX-License-Identifier: MIT
// A model with random weights instead of its own (MODEL@init): what a model does before training.
//
// The rule is that of transformers for most families: matrices, embeddings and attention sinks are
// normal with mean 0 and standard deviation initializer_range of config.json, or 0.02 without one
// (GGUF files); norms are 1, biases 0; for gpt2, the output matrices of attention and MLP are
// divided by sqrt(2 layers). Departures: the numbers are ours, not PyTorch's; other families' own
// factors are ignored; the embedding of a padding token is not zeroed; xIELU's four constants are
// the file's. The weights must exist in the file, although they are not read.
#pragma once

#include <cstdint>
#include <memory>

#include "core/model/model_source.h"

namespace midscope {

inline constexpr double kInitialDeviation = 0.02;

// Every tensor has its own random stream, which depends on its name and the seed; the numbers are
// equal on every machine.
std::unique_ptr<ModelSource> WithRandomWeights(std::unique_ptr<ModelSource> model, uint64_t seed,
                                               double deviation);

}  // namespace midscope
