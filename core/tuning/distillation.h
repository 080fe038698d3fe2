// SPDX-License-Identifier: MIT
// Pos2Distill (Wang et al., arXiv 2508.15709, EMNLP 2025): the model with the gold passage at a
// place where it finds it teaches itself for the others. The loss is that of the public code,
// AMAP-ML/Pos2Distill ffa9715, kd/loss_design.py (AdaptiveKLWeightedKLLoss): per sample, the
// divergence KL(teacher || student) of the answer's tokens, at temperature 1; over a batch,
// weights by place. Departures: the answer is the task's, not one that the model generates; other
// passages keep their order, which the code shuffles; a batch is that of one process, and its
// weighted divergences are averaged, where the code adds them per process and averages processes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace midscope {

// Returns the log probabilities [tokens, vocabulary] of the sequence's last `tokens` tokens, each
// given those before it. logits [token, vocabulary].
at::Tensor LastLogProbabilities(const at::Tensor& logits, int64_t tokens);

// Returns the mean over tokens of KL(teacher || student) in nats: a scalar. Both are log
// probabilities [token, vocabulary].
at::Tensor Divergence(const at::Tensor& teacher, const at::Tensor& student);

// Returns the weights [sample] of a batch from its divergences [sample], not negative, and places
// [sample]. First place (0): 1 per sample. Another place p with n_p samples, of P such places in
// the batch: P softmax_p(mean divergence of place) / n_p * divergence / largest divergence at p. If
// all divergences at a place are 0, its weights are 0.
std::vector<double> DistillationWeights(std::span<const double> divergences,
                                        std::span<const int64_t> places);

}  // namespace midscope
