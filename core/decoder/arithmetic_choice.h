// SPDX-License-Identifier: MIT
// Determines the arithmetic that runs a model fastest on this machine. It is measured once per
// machine, build and shape of model, and stored in the cache folder (dtype_times.json). bfloat16 is
// more than twice as fast as float32 on CPUs with bfloat16 products, and several times slower on
// others. On those, products in 16-bit integers are faster, and much closer to float32.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "core/model/model_source.h"
#include "kernels/parallel.h"

namespace midscope {

// Numbers of rows in the timed passes: a short question, a long prompt.
inline constexpr std::array<int64_t, 2> kTimedRows = {64, 512};

struct ArithmeticTimes {
  struct Timed {
    Arithmetic arithmetic;
    std::array<double, kTimedRows.size()> seconds = {};  // time per layer, for each of kTimedRows
  };
  // From the most to the least exact: float32, possibly with products in int16, then bfloat16.
  std::vector<Timed> timed;

  // Returns the speedup over float32: the geometric mean over kTimedRows.
  double Speedup(const Timed& one) const;
  // Returns the most exact arithmetic that no other beats by more than 5 %, because a gain that
  // another measurement might reverse is not worth the precision. choose_products: whether
  // arithmetics with other products than float32's are candidates.
  Arithmetic Fastest(bool choose_products) const;
};

// Returns the stored times for this machine, build, model and these options (threads, device,
// products, storage of the weights); nullopt if they were not measured or the file cannot be read.
// options.dtype is ignored; int16 is timed if it is available (products in float are requested, and
// the model has weights for it).
std::optional<ArithmeticTimes> KnownArithmeticTimes(const ModelSource& source,
                                                    const DecoderOptions& options);

// Like KnownArithmeticTimes, but measures and stores the times if there are none, and logs that it
// measures. If the cache folder cannot be written, this is logged and the next call measures again.
// Throws Error or Cancelled.
ArithmeticTimes FindArithmeticTimes(const ModelSource& source, const DecoderOptions& options,
                                    const kernels::Executor& executor, const JobContext& context);

// Returns the arithmetic for a decoder with these options: the fastest, if they request it, which
// is logged with its times. Also logs if a requested bfloat16 is slower than float32.
Arithmetic ResolveArithmetic(const ModelSource& source, const DecoderOptions& options,
                             const kernels::Executor& executor, const JobContext& context);

// Returns the times of `model` (see OpenModel), like a decoder that chooses the fastest arithmetic.
// Logs them with the fastest one.
ArithmeticTimes FindArithmeticTimes(const std::string& model, const DecoderOptions& options,
                                    const JobContext& context);

// Returns "a layer takes 2.1 ms in float32 and 0.9 ms in bfloat16 for 64 tokens; ...".
std::string ArithmeticTimesText(const ArithmeticTimes& times);

// Returns "bfloat16" or "float32 with --products int16".
std::string AutoDtypeText(const Arithmetic& fastest);

// Measures how long a layer of a model takes in each arithmetic. Internal to core.

// Returns [arithmetic][rows]: the seconds of one pass through the model's first layer in each of
// `arithmetics` with each number of `rows`. Takes the median of several passes that alternate
// between the arithmetics, so that other load of the machine affects all of them. An arithmetic's
// entry is empty if its products differ from those of `options` and the layer has no weights for
// them. `options`: those of the decoder except the arithmetic. Takes tenths of a second for a small
// model, some seconds for a 7B one. Throws Error, Cancelled.
std::vector<std::vector<double>> TimeFirstLayer(const ModelSource& source,
                                                const DecoderOptions& options,
                                                const std::vector<Arithmetic>& arithmetics,
                                                const std::vector<int64_t>& rows,
                                                const kernels::Executor& executor,
                                                const JobContext& context);

}  // namespace midscope
