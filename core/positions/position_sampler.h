// SPDX-License-Identifier: MIT
// Samplers of position ids: they make sequences of N tokens with positions from a context of L
// tokens, as used in training for longer contexts. Each sampler has one file in this folder;
// samplers.h lists them.
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
#include "core/base/random.h"

namespace midscope {

// One sequence from a sampler: which tokens of a document it contains, and their position ids.
// Both members are [token], of the same length. position_id increases strictly. token_index does
// too, except with CREAM if the middle segment overlaps the tail of a short document, as in its
// public code.
struct PositionSample {
  std::vector<int64_t> token_index;  // index of the token in its document
  std::vector<int64_t> position_id;  // from 0 to PositionRequest::context - 1
  bool operator==(const PositionSample&) const = default;
};

inline constexpr int64_t kLargestPositionContext = 1 << 24;

struct PositionRequest {
  int64_t tokens = 0;    // N: number of tokens in a sample
  int64_t context = 0;   // L: all position ids are below it; from N to kLargestPositionContext
  int64_t document = 0;  // number of tokens in the document that the sample is taken from; 0: L
  uint64_t seed = 1;

  int64_t DocumentTokens() const { return document > 0 ? document : context; }
};

// Returns the sample with this index, from 0. It depends only on the request, the options and the
// index, not on earlier samples. Integers are drawn with core/base/random.h, so they are the same
// on every machine. Can be called from several threads.
using DrawPositions = std::function<PositionSample(int64_t sample)>;

struct PositionSampler {
  std::string name;
  std::string summary;
  std::string source;
  std::vector<Parameter> parameters;  // all have a default and a name of one word
  // Throws Error (usage) if the sampler cannot make such samples. Called by PreparePositions.
  DrawPositions (*prepare)(const PositionRequest& request, const OptionSet& options) = nullptr;
};

// Returns the samplers in the order in which help lists them.
const std::vector<PositionSampler>& PositionSamplers();

// Returns null if no sampler has this name.
const PositionSampler* FindPositionSampler(std::string_view name);

// `options` must have the sampler's parameters, and may have others. Throws Error (usage) for a
// request or options for which no sample can be made.
DrawPositions PreparePositions(const PositionSampler& sampler, const PositionRequest& request,
                               const OptionSet& options);

// Makes the choice of a sampler, which must be given.
Parameter SamplerChoice(const std::string& name, const std::string& help);

// Returns the parameters of all samplers as options of a command, grouped by sampler.
std::vector<Parameter> SamplerOptions();

// Throws Error (usage) if an option of a sampler that is not one of `samplers` is set.
void CheckSamplerOptions(const std::vector<const PositionSampler*>& samplers,
                         const OptionSet& options);

// Code shared by samplers: a sample's random numbers and runs of integers. Internal to
// core/positions.

// Returns a uniform integer in [first, last], both inclusive; first <= last.
inline int64_t UniformInteger(SplitMix64& random, int64_t first, int64_t last) {
  return first + static_cast<int64_t>(random.Below(static_cast<uint64_t>(last - first) + 1));
}

// Returns a uniform multiple of 2^-53 in [0, 1).
inline double UniformShare(SplitMix64& random) {
  return static_cast<double>(random.Next() >> 11) * 0x1p-53;
}

// Appends the `count` integers first, first + 1, ...
inline void AppendRun(std::vector<int64_t>& values, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values.push_back(first + i);
}

}  // namespace midscope
