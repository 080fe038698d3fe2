// SPDX-License-Identifier: MIT
// Samplers of position ids: sequences of N tokens that show a model positions of a context of L
// tokens, as training for longer contexts uses them. One file of this folder each, which samplers.h
// lists.
//
// clang-format off
//   const PositionSampler& cream = *FindPositionSampler("cream");
//   OptionSet options(cream.parameters);
//   options.SetText("strategy", "relativity");
//   const DrawPositions draw = PreparePositions(cream, {.tokens = 4096, .context = 32768}, options);
//   const PositionSample first = draw(0);
// clang-format on
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"

namespace midscope {

// One sequence that a sampler made: which tokens of a document it holds, and which position ids
// they get.

// Both [token], of the same length. position_id increases strictly. token_index does too, except in
// CREAM where the middle segment reaches into the tail of a short document, as in its public code.
struct PositionSample {
  std::vector<int64_t> token_index;  // index of the token in its document
  std::vector<int64_t> position_id;  // from 0 to PositionRequest::context - 1
  bool operator==(const PositionSample&) const = default;
};

inline constexpr int64_t kLargestPositionContext = 1 << 24;

struct PositionRequest {
  int64_t tokens = 0;    // N: tokens of a sample
  int64_t context = 0;   // L: position ids are below it; N to kLargestPositionContext
  int64_t document = 0;  // tokens of the document from which tokens are taken; 0: L of them
  uint64_t seed = 1;

  int64_t DocumentTokens() const { return document > 0 ? document : context; }
};

// Returns the sample of this index, from 0. It depends on the request, the options and the index
// alone, not on samples drawn before. Integers are drawn with core/base/random.h, so they are the
// same on every machine. Safe to call from several threads.
using DrawPositions = std::function<PositionSample(int64_t sample)>;

struct PositionSampler {
  std::string name;
  std::string summary;
  std::string source;
  std::vector<Parameter> parameters;  // all with a default, names of one word
  // Throws Error (usage) where the sampler cannot make such samples. Called by PreparePositions.
  DrawPositions (*prepare)(const PositionRequest& request, const OptionSet& options) = nullptr;
};

// In the order in which help lists them.
const std::vector<PositionSampler>& PositionSamplers();

// Null where no sampler has this name.
const PositionSampler* FindPositionSampler(std::string_view name);

// `options` are of sampler.parameters (a set with more parameters does as well). Throws Error
// (usage) for a request or options of which no sample can be made.
DrawPositions PreparePositions(const PositionSampler& sampler, const PositionRequest& request,
                               const OptionSet& options);

}  // namespace midscope
