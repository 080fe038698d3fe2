// SPDX-License-Identifier: MIT
// How long a layer of a model takes in each dtype, measured. Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "core/model/model_source.h"
#include "kernels/parallel.h"

namespace midscope {

// Seconds of one pass through the model's first layer, in each of `dtypes`, with `rows` rows:
// median of several passes, the dtypes in turns, so that what else the machine does meets all of
// them. [dtype][rows]. `options`: those of the decoder but for the dtype. Takes tenths of a second
// for a small model, some seconds for a 7B one. Throws Error, Cancelled.
std::vector<std::vector<double>> TimeFirstLayer(const ModelSource& source,
                                                const DecoderOptions& options,
                                                const std::vector<kernels::Dtype>& dtypes,
                                                const std::vector<int64_t>& rows,
                                                const kernels::Executor& executor,
                                                const JobContext& context);

}  // namespace midscope
