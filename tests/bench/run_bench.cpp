// SPDX-License-Identifier: MIT
// Measures the time and memory of a run, on the embedded model or another. Each process makes one
// measurement, so that its peak memory is that of the measurement.
//
//   run_bench open|prefill|rows|plain|decode TOKENS float32|bfloat16|auto
//             [REPEATS [MODEL [WEIGHTS [float|int16|int8]]]]
//
// auto: the rule of --dtype auto. WEIGHTS: auto, stored or
// expanded. open: from the call until a prompt could be run. prefill: last-query attention,
// position-awareness score, the last residual rows, 8 hidden channels over all positions, with a
// trace. rows: one hidden channel, for which the last layer must compute all rows. plain: logits
// alone, for which it computes only the last row. decode: ten tokens after the prompt, one by one.
// Prints one JSON object; times are the least of REPEATS (default 0: as many as fit in 3 seconds,
// at least 2 and at most 20). For what-ifs, see what_if_bench.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/base/timing.h"
#include "core/compute/process_start.h"
#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "tests/bench/argument_words.h"

namespace {

using midscope::Decoder;

// Minimum time and number of repetitions, as in peers/passes.py.
constexpr double kSeconds = 3;
constexpr int kFewestPasses = 2;
constexpr int kMostPasses = 20;

// `repeats` = 0: as defined above.
double Least(int repeats, const std::function<void()>& work) {
  double least = 1e300;
  const auto begin = std::chrono::steady_clock::now();
  const auto more = [&](int done) {
    if (repeats > 0) return done < repeats;
    return done < kFewestPasses || (done < kMostPasses && midscope::SecondsSince(begin) < kSeconds);
  };
  for (int i = 0; more(i); ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    least = std::min(least, midscope::SecondsSince(start));
  }
  return least;
}

int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

std::vector<int32_t> Ids(int64_t tokens, int64_t vocabulary) {
  std::vector<int32_t> ids;
  uint64_t state = 1;
  for (int64_t i = 0; i < tokens; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    ids.push_back(
        static_cast<int32_t>(300 + (state >> 33) % static_cast<uint64_t>(vocabulary - 300)));
  }
  return ids;
}

void Prefill(const Decoder& decoder, const std::vector<int32_t>& ids, const std::string& kind,
             int repeats) {
  const auto& config = decoder.config();
  const auto tokens = static_cast<int64_t>(ids.size());
  const bool captures = kind == "prefill";
  const auto trace = captures ? decoder.MakeTrace(tokens) : nullptr;
  midscope::LastQueryAttention attention(config);
  midscope::PositionAwareness score(config);
  midscope::ResidualRows rows(config, 1);
  midscope::HiddenChannels channels(config, {0, 100, 215, 300, 350, 400, 446, 500});
  midscope::HiddenChannels channel(config, {0});
  midscope::RunRequest request;
  request.ids = ids;
  if (captures) request.hooks = {&attention, &score, &rows, &channels};
  if (kind == "rows") request.hooks = {&channel};
  request.trace = trace.get();
  const double seconds = Least(repeats, [&] {
    if (trace) trace->Truncate(0);
    decoder.RunOne(request);
  });
  std::printf(
      "{\"tokens\": %ld, \"seconds\": %.4f, \"tokens_per_second\": %.0f, \"peak_bytes\": %ld}\n",
      static_cast<long>(tokens), seconds, static_cast<double>(tokens) / seconds,
      static_cast<long>(PeakBytes()));
}

// Decodes tokens after the prompt, one by one.
void Decode(const Decoder& decoder, const std::vector<int32_t>& ids, int repeats) {
  constexpr int64_t kDecoded = 10;
  std::vector<int32_t> all = ids;
  for (int64_t i = 0; i < kDecoded; ++i) all.push_back(ids[static_cast<size_t>(i)]);
  const auto tokens = static_cast<int64_t>(ids.size());
  const auto trace = decoder.MakeTrace(tokens + kDecoded);
  midscope::RunRequest request;
  request.trace = trace.get();
  request.ids = ids;
  decoder.RunOne(request);
  const double seconds = Least(repeats, [&] {
    trace->Truncate(tokens);
    for (int64_t i = 1; i <= kDecoded; ++i) {
      request.ids = std::span(all).first(static_cast<size_t>(tokens + i));
      decoder.RunOne(request);
    }
  });
  std::printf("{\"tokens\": %ld, \"seconds\": %.4f, \"tokens_per_second\": %.1f}\n",
              static_cast<long>(kDecoded), seconds, static_cast<double>(kDecoded) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  if (argc < 4) {
    std::fprintf(stderr,
                 "run_bench open|prefill|rows|plain|decode TOKENS float32|bfloat16|auto "
                 "[REPEATS [MODEL [WEIGHTS [float|int16|int8]]]]\n"
                 "decode: ten tokens after the prompt, one by one\n");
    return 2;
  }
  const std::string kind = argv[1];
  midscope::DecoderOptions options;
  options.dtype = midscope::DtypeOf(argv[3]);
  options.auto_dtype = std::string(argv[3]) == "auto";
  const int repeats = argc > 4 ? std::atoi(argv[4]) : 0;
  const std::string model = argc > 5 ? argv[5] : "embedded";
  if (argc > 6) options.weights = midscope::StorageOf(argv[6]);
  if (argc > 7) options.products = midscope::FindProducts(argv[7]).value_or(options.products);
  try {
    std::shared_ptr<Decoder> decoder;
    const double opened = Least(1, [&] { decoder = Decoder::Open(model, options); });
    if (kind == "open") {
      std::printf("{\"seconds\": %.4f, \"peak_bytes\": %ld}\n", opened,
                  static_cast<long>(PeakBytes()));
      return 0;
    }
    const std::vector<int32_t> ids = Ids(std::atol(argv[2]), decoder->config().vocabulary);
    if (kind == "decode") {
      Decode(*decoder, ids, repeats);
    } else {
      Prefill(*decoder, ids, kind, repeats);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
