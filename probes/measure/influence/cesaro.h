// SPDX-License-Identifier: MIT
// The influence of tokens on the last one in a decoder whose attention is even over all earlier
// tokens, without weights (Chowdhury 2026, arXiv 2603.10123): rows of powers of
// N = (1 - alpha) I + alpha M, where M is the Cesaro matrix, M[i, j] = 1 / (i + 1) for j <= i, and
// alpha is the share of attention in the output of a layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace midscope {

// Returns the influence of each token: the last row of N^layers, [token]; its sum is 1. tokens >=
// 1.
std::vector<double> CesaroInfluence(int64_t tokens, int64_t layers, double alpha);

// Returns the mean over each of `parts` equal parts of a curve by token, divided by the mean over
// all tokens. If a part is shorter than a token, its value is that of the token that covers it.
std::vector<double> RelativeByPart(std::span<const double> by_token, int64_t parts);

struct CesaroFit {
  double alpha = 0;  // fitted share of attention: one of 0.01, 0.02, ..., 0.99
  // Root mean square of the difference of the natural logarithms of fit and curve.
  double difference = 0;
};

// Fits alpha to a curve by equal parts of the prompt, relative to the mean over all tokens
// (RelativeByPart), by least squares of differences of logarithms. NaN if a value of the curve is
// not above 0.
CesaroFit FitCesaro(std::span<const double> by_part, int64_t tokens, int64_t layers);

}  // namespace midscope
