// SPDX-License-Identifier: MIT
// The arithmetic of rotary positions and of the published ways to stretch them: from base, rotated
// dimensions and factor to frequencies. Everything in double; nothing here depends on a model.
//
// d: rotated dimensions of a head (even), so d / 2 pairs; theta_j = base^(-2j/d), j = 0 .. d/2 - 1.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace midscope {

// theta [pair], radians a position (Su et al., arXiv 2104.09864).
std::vector<double> PlainFrequencies(double base, int64_t dimensions);

// Positions to turn once: 2 pi / frequency. [pair]
std::vector<double> Periods(std::span<const double> frequencies);

// Position interpolation (Chen et al., arXiv 2306.15595): positions divided by `factor`, which is
// the same as frequencies divided by it.
std::vector<double> InterpolatedFrequencies(std::span<const double> frequencies, double factor);

// NTK-aware: the base that leaves pair 0 as it is and divides the last pair's frequency by `factor`
// exactly: base * factor^(d/(d-2)). One rotated pair has frequency 1 whatever the base: the base is
// then multiplied by the factor.
double NtkBase(double base, double factor, int64_t dimensions);

// As above, growing with the sequence ("dynamic NTK", transformers and the YaRN repository): factor
// * tokens / original_context - (factor - 1) beyond the original context, unchanged within it.
double DynamicNtkBase(double base, double factor, int64_t dimensions, double original_context,
                      double tokens);

// Three things are called YaRN (Peng et al., arXiv 2309.00071). Between pairs that turn often
// enough within the original context (left alone) and those that hardly turn (divided by the
// factor)
//   kRepo    blends frequencies along a ramp that is linear in the pair's index (the public code,
//            transformers);
//   kPaper   blends frequencies along a ramp that is linear in the number of rotations (the paper's
//            definition);
//   kCream   blends wavelengths along kRepo's ramp (the code of PoSE and CREAM).
enum class YarnForm { kRepo, kPaper, kCream };

// "repo", "paper", "cream".
std::string_view YarnFormName(YarnForm form);

struct YarnSettings {
  double factor = 1.0;
  double original_context = 0;  // tokens
  double beta_fast = 32.0;      // rotations within the original context from which pairs stay
  double beta_slow = 1.0;       // ... and up to which they are divided by the factor
  YarnForm form = YarnForm::kRepo;
  bool truncate = true;  // whether the ramp is rounded outwards to whole pairs
};

// Where kRepo's ramp begins and ends, in pairs. As in the public code it is rounded outwards (but
// for `truncate` false, as transformers has it),
// `high` is held to d - 1 (not d/2 - 1), and an empty ramp is given a width of 0.001.
struct YarnRange {
  double low = 0;
  double high = 0;
};
YarnRange YarnCorrectionRange(double base, int64_t dimensions, const YarnSettings& settings);

// [pair]. Needs base > 1, factor > 0, original_context > 0, beta_fast > beta_slow > 0.
std::vector<double> YarnFrequencies(double base, int64_t dimensions, const YarnSettings& settings);

// NTK-by-parts as the YaRN repository had it before YaRN (LlamaPartNTKScaledRotaryEmbedding): pairs
// that turn at most 0.75 times within the original context are divided by the factor, those that
// turn 1.25 times or more have the NTK-aware base's frequency, and those that turn 16 times or more
// stay; between 2 and 16, and between 0.75 and 1.25, frequencies are blended along ramps as
// kRepo's. [pair]. Needs base > 1, factor > 0, original_context > 0.
std::vector<double> NtkByPartsFrequencies(double base, int64_t dimensions, double factor,
                                          double original_context);

// Factor of cos and sin (logits are multiplied by its square): 0.1 ln factor + 1; 1 up to factor 1.
double YarnMagnitude(double factor);

}  // namespace midscope
