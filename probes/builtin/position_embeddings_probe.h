// SPDX-License-Identifier: MIT
// The embeddings of positions, learned or sinusoidal, as a table of waves.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record position_embeddings, of models whose positions are embeddings (gpt2, opt, xglm):
// position_embedding [position, channel], embedding_length [position], dominant_period and
// period_share [channel] (of the channel's Fourier transform over positions, without its mean),
// similarity and sinusoidal_similarity [distance] (mean over positions of the cosine of two rows so
// far apart; what Vaswani et al.'s table of that width has: the mean of cos(distance theta_j)).
ProbeType PositionEmbeddingsProbe();

}  // namespace midscope
