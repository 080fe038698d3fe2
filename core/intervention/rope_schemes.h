// SPDX-License-Identifier: MIT
// The arithmetic of rotary position embeddings (RoPE) and of published methods that extend their
// context: computes frequencies from base, rotated dimensions and factor. Everything is in double;
// nothing here depends on a model.
//
// d: rotated dimensions of a head (even), so d / 2 pairs; theta_j = base^(-2j/d), j = 0 .. d/2 - 1.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace midscope {

// Returns theta: [pair], radians per position (Su et al., arXiv 2104.09864).
std::vector<double> PlainFrequencies(double base, int64_t dimensions);

// Returns the number of positions per full turn, 2 pi / frequency: [pair].
std::vector<double> Periods(std::span<const double> frequencies);

// Position interpolation (Chen et al., arXiv 2306.15595): returns the frequencies divided by
// `factor`, which has the same effect as dividing the positions by it.
std::vector<double> InterpolatedFrequencies(std::span<const double> frequencies, double factor);

// NTK-aware scaling: returns the base that leaves pair 0 unchanged and divides the last pair's
// frequency by exactly `factor`: base * factor^(d/(d-2)). If there is only one rotated pair, its
// frequency is 1 whatever the base, and the base is multiplied by the factor.
double NtkBase(double base, double factor, int64_t dimensions);

// "Dynamic NTK" of transformers and the YaRN repository: returns NtkBase for the factor `factor` *
// tokens / original_context - (`factor` - 1) if the sequence is longer than the original context,
// else the unchanged base.
double DynamicNtkBase(double base, double factor, int64_t dimensions, double original_context,
                      double tokens);

// The three variants of YaRN (Peng et al., arXiv 2309.00071). Pairs that turn often enough
// within the original context are unchanged, and pairs that hardly turn are divided by the factor.
// Between the two,
//   kRepo    blends frequencies along a ramp that is linear in the pair's index (the public code,
//            transformers);
//   kPaper   blends frequencies along a ramp that is linear in the number of rotations (the paper's
//            definition);
//   kCream   blends wavelengths along kRepo's ramp (the code of PoSE and CREAM).
enum class YarnForm { kRepo, kPaper, kCream };

// Returns "repo", "paper" or "cream".
std::string_view YarnFormName(YarnForm form);

struct YarnSettings {
  double factor = 1.0;
  double original_context = 0;  // tokens
  double beta_fast = 32.0;      // pairs with more rotations in the original context are unchanged
  double beta_slow = 1.0;       // pairs with fewer are divided by the factor
  YarnForm form = YarnForm::kRepo;
  bool truncate = true;  // whether the ramp is rounded outwards to whole pairs
};

// The pair indices at which kRepo's ramp begins and ends. As in the public code, they are rounded
// outwards (unless `truncate` is false, as in transformers), `high` is at most d - 1 (not d/2 - 1),
// and an empty ramp is given a width of 0.001.
struct YarnRange {
  double low = 0;
  double high = 0;
};
YarnRange YarnCorrectionRange(double base, int64_t dimensions, const YarnSettings& settings);

// Returns YaRN's frequencies: [pair]. Requires base > 1, factor > 0, original_context > 0,
// beta_fast > beta_slow > 0.
std::vector<double> YarnFrequencies(double base, int64_t dimensions, const YarnSettings& settings);

// NTK-by-parts, YaRN's predecessor in the YaRN repository (LlamaPartNTKScaledRotaryEmbedding):
// pairs that turn at most 0.75 times within the original context are divided by the factor, those
// that turn 1.25 times or more have the NTK-aware base's frequency, and those that turn 16 times or
// more are unchanged; between 2 and 16, and between 0.75 and 1.25, frequencies are blended along
// ramps like kRepo's. Returns [pair]. Requires base > 1, factor > 0, original_context > 0.
std::vector<double> NtkByPartsFrequencies(double base, int64_t dimensions, double factor,
                                          double original_context);

// Returns YaRN's factor of cos and sin, 0.1 ln(factor) + 1, or 1 if factor <= 1. Logits are
// multiplied by its square.
double YarnMagnitude(double factor);

}  // namespace midscope
