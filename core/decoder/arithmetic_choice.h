// SPDX-License-Identifier: MIT
// The arithmetic that runs a model fastest here: measured once for a machine, build and model's
// shape, and kept in the cache folder (dtype_times.json). bfloat16 is more than twice as fast as
// float32 on CPUs that multiply it, and several times slower on those that do not; there products
// in 16-bit integers are faster, and much closer to float32.
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

// Rows of the passes that are timed: a short question, a long prompt.
inline constexpr std::array<int64_t, 2> kTimedRows = {64, 512};

struct ArithmeticTimes {
  struct Timed {
    Arithmetic arithmetic;
    std::array<double, kTimedRows.size()> seconds = {};  // of a layer, by kTimedRows
  };
  // From the most exact to the least: float32, perhaps with products in int16, bfloat16.
  std::vector<Timed> timed;

  // How many times faster than float32 it is: geometric mean over kTimedRows.
  double Speedup(const Timed& one) const;
  // The most exact one that no other beats by more than 5 %: what a repeated measurement would turn
  // over is not worth the precision. choose_products: also of those that have other products than
  // float32's.
  Arithmetic Fastest(bool choose_products) const;
};

// The times that are kept for this machine, build, model and these options (threads, device,
// products, storage of the weights); nothing where they were not measured, or the file can't be
// read. options.dtype does not matter; int16 is timed where it is available (products in float are
// requested, and the model has weights for it).
std::optional<ArithmeticTimes> KnownArithmeticTimes(const ModelSource& source,
                                                    const DecoderOptions& options);

// As above, but measures and stores the times where there are none, and logs that it measures.
// Where the cache folder cannot be written, a message is logged and the next call measures again.
// Throws Error, Cancelled.
ArithmeticTimes FindArithmeticTimes(const ModelSource& source, const DecoderOptions& options,
                                    const kernels::Executor& executor, const JobContext& context);

// The arithmetic that a decoder with these options has: the fastest, where they request it. Logs it
// with its times; also where a requested bfloat16 is slower than float32.
Arithmetic ResolveArithmetic(const ModelSource& source, const DecoderOptions& options,
                             const kernels::Executor& executor, const JobContext& context);

// The times of `model` (see OpenModel), as a decoder that takes the fastest finds them. Logs them
// with what is fastest.
ArithmeticTimes FindArithmeticTimes(const std::string& model, const DecoderOptions& options,
                                    const JobContext& context);

// "a layer takes 2.1 ms in float32 and 0.9 ms in bfloat16 for 64 tokens; ...".
std::string ArithmeticTimesText(const ArithmeticTimes& times);

// "bfloat16"; "float32 with --products int16".
std::string AutoDtypeText(const Arithmetic& fastest);

// How long a layer of a model takes in each arithmetic, measured. Internal to core.

// Seconds of one pass through the model's first layer, in each of `arithmetics`, with `rows` rows:
// median of several passes, the arithmetics in turns, so that other load of the machine affects all
// of them. [arithmetic][rows]; empty where its products are not those of `options` and the layer
// has no weights for them. `options`: those of the decoder except the arithmetic. Takes tenths of a
// second for a small model, some seconds for a 7B one. Throws Error, Cancelled.
std::vector<std::vector<double>> TimeFirstLayer(const ModelSource& source,
                                                const DecoderOptions& options,
                                                const std::vector<Arithmetic>& arithmetics,
                                                const std::vector<int64_t>& rows,
                                                const kernels::Executor& executor,
                                                const JobContext& context);

}  // namespace midscope
