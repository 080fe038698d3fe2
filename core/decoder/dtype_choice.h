// SPDX-License-Identifier: MIT
// The dtype that runs a model fastest here: measured once for a machine, build and model's shape,
// and kept in the cache folder (dtype_times.json). bfloat16 is more than twice as fast as float32
// on CPUs that multiply it, and several times slower on those that do not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "core/model/model_source.h"
#include "kernels/parallel.h"

namespace midscope {

// Rows of the passes that are timed: a short question, a long prompt.
inline constexpr std::array<int64_t, 2> kTimedRows = {64, 512};

struct DtypeTimes {
  std::array<double, kTimedRows.size()> float32 = {};  // seconds of a layer, by kTimedRows
  std::array<double, kTimedRows.size()> bfloat16 = {};
  // How many times faster bfloat16 is: geometric mean over kTimedRows.
  double Speedup() const;
  // bfloat16 where it is more than 5 % faster. Closer than that, float32: what a repeated
  // measurement would turn over is not worth the precision.
  kernels::Dtype Fastest() const;
};

// The times that are kept for this machine, build, model and these options (threads, device,
// storage of the weights); nothing where they were not measured, or the file can't be read.
std::optional<DtypeTimes> KnownDtypeTimes(const ModelSource& source, const DecoderOptions& options);

// The same; measures and keeps them where there are none, and logs that it measures. A cache folder
// that can't be written costs a message and the measurement next time. Throws Error, Cancelled.
DtypeTimes FindDtypeTimes(const ModelSource& source, const DecoderOptions& options,
                          const kernels::Executor& executor, const JobContext& context);

// The dtype that a decoder with these options has: the fastest, where they ask for it. Logs it with
// its times; also where a bfloat16 that they ask for is slower than float32.
kernels::Dtype ResolveDtype(const ModelSource& source, const DecoderOptions& options,
                            const kernels::Executor& executor, const JobContext& context);

// The times of `model` (see OpenModel), as a decoder that takes the fastest dtype finds them. Logs
// them with what is fastest.
DtypeTimes FindDtypeTimes(const std::string& model, const DecoderOptions& options,
                          const JobContext& context);

// "a layer takes 2.1 ms in float32 and 0.9 ms in bfloat16 for 64 tokens, ...".
std::string DtypeTimesText(const DtypeTimes& times);

}  // namespace midscope
