// SPDX-License-Identifier: MIT
// How long a layer of a model takes in each arithmetic, measured. Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "core/model/model_source.h"
#include "kernels/parallel.h"

namespace midscope {

// Seconds of one pass through the model's first layer, in each of `arithmetics`, with `rows` rows:
// median of several passes, the arithmetics in turns, so that what else the machine does meets all
// of them. [arithmetic][rows]; empty where its products are not those of `options` and the layer
// has no weights for them. `options`: those of the decoder but for the arithmetic. Takes tenths of
// a second for a small model, some seconds for a 7B one. Throws Error, Cancelled.
std::vector<std::vector<double>> TimeFirstLayer(const ModelSource& source,
                                                const DecoderOptions& options,
                                                const std::vector<Arithmetic>& arithmetics,
                                                const std::vector<int64_t>& rows,
                                                const kernels::Executor& executor,
                                                const JobContext& context);

}  // namespace midscope
