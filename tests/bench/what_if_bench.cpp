// SPDX-License-Identifier: MIT
// Measures the cost of a changed setting, and the delay until a cancelled run ends, on the embedded
// model or another.
//
//   what_if_bench speed TOKENS float32|bfloat16 [REPEATS [MODEL]]
//   what_if_bench cancel TOKENS float32|bfloat16 [COUNT [MODEL]]
//
// speed: a full run, then what-ifs with another factor of one channel (layers 8-25), another
// maximum of Ms-PoE, another window of Self-Extend. Times are the least of REPEATS (default 3);
// ratios are to the full run of the same process. cancel: milliseconds from setting the flag to the
// end of the run, COUNT times (default 200) at random moments of a run that begins in a random
// layer and lasts one or two layers (this covers every moment of a full run equally, without
// waiting for full runs), and COUNT / 10 times at random moments of complete runs with a new trace.
// Prints one JSON object.

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/compute/process_start.h"
#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"

namespace {

using midscope::Decoder;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<int32_t> Ids(int64_t tokens, int64_t vocabulary) {
  std::vector<int32_t> ids;
  ids.reserve(static_cast<size_t>(tokens));
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < tokens; ++i) {
    ids.push_back(static_cast<int32_t>(300 + random() % static_cast<uint64_t>(vocabulary - 300)));
  }
  return ids;
}

double Least(int repeats, const std::function<void(int)>& work) {
  double least = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    work(i);
    least = std::min(least, SecondsSince(start));
  }
  return least;
}

void PrintChange(const char* name, double seconds, double full) {
  if (std::isnan(seconds)) {
    std::printf(", \"%s_ms\": null", name);
  } else {
    std::printf(", \"%s_ms\": %.2f, \"%s_speedup\": %.1f", name, seconds * 1e3, name,
                full / seconds);
  }
}

void Speed(const std::shared_ptr<Decoder>& decoder, const std::vector<int32_t>& ids, int repeats) {
  midscope::Prompt prompt;
  prompt.ids = ids;
  midscope::WhatIf what_if(decoder, {prompt});
  const double first = Least(1, [&](int) { what_if.Evaluate({}); });
  const double full = std::min(first, Least(repeats - 1, [&](int) {
                                 midscope::WhatIf again(decoder, {prompt});
                                 again.Evaluate({});
                               }));
  const auto evaluate = [&](const std::string& setting) {
    return what_if.Evaluate(midscope::ParseIntervention(setting));
  };
  const auto number = [](int i) { return std::to_string(1 + i); };
  const double channel = Least(5 * repeats, [&](int i) {
    evaluate("channel(100, factor=-" + number(i) + ", layers=8-25)");
  });
  evaluate("none");
  const double ms_poe_last =
      Least(5 * repeats, [&](int i) { evaluate("ms-poe(max=1.6" + number(i) + ", rows=last)"); });
  evaluate("ms-poe(max=1.5)");
  const double ms_poe =
      Least(repeats, [&](int i) { evaluate("ms-poe(max=1.6" + number(i) + ")"); });
  const double crop = Least(repeats, [&](int i) {
    const auto tokens = static_cast<int64_t>(ids.size());
    evaluate("crop(span=" + std::to_string(tokens / 2 + i) + ":" + std::to_string(tokens / 2 + 20) +
             ")");
  });
  evaluate("self-extend(group=2, window=64)");
  const double self_extend =
      Least(repeats, [&](int i) { evaluate("self-extend(group=2, window=7" + number(i) + ")"); });
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"tokens\": %zu, \"full_ms\": %.1f", ids.size(), full * 1e3);
  PrintChange("channel_factor", channel, full);
  PrintChange("ms_poe_max_of_the_last_row", ms_poe_last, full);
  PrintChange("ms_poe_max", ms_poe, full);
  PrintChange("crop_in_the_middle", crop, full);
  PrintChange("self_extend_window", self_extend, full);
  std::printf(", \"kept_bytes\": %ld, \"peak_bytes\": %ld}\n",
              static_cast<long>(what_if.trace(0)->bytes()),
              static_cast<long>(usage.ru_maxrss) * 1024);
}

// Sets the flag after `delay` seconds of `work`. Returns the seconds until it ends, negative if it
// had ended before.
double Latency(double delay, const std::function<void(const midscope::JobContext&)>& work) {
  std::atomic<bool> cancel{false};
  std::atomic<bool> ended{false};
  Clock::time_point end;
  midscope::JobContext context;
  context.cancel = &cancel;
  std::thread worker([&] {
    try {
      work(context);
    } catch (const midscope::Cancelled&) {
    }
    end = Clock::now();
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  const bool late = ended;
  const auto set = Clock::now();
  cancel = true;
  worker.join();
  return late ? -1 : std::chrono::duration<double>(end - set).count();
}

void PrintLatencies(const char* name, std::vector<double> seconds) {
  std::erase_if(seconds, [](double latency) { return latency < 0; });
  std::sort(seconds.begin(), seconds.end());
  const size_t count = seconds.size();
  const auto at = [&](double share) {
    const auto index = static_cast<size_t>(std::ceil(share * static_cast<double>(count)));
    return count == 0 ? 0.0 : seconds[std::min(count, std::max<size_t>(index, 1)) - 1] * 1e3;
  };
  std::printf(", \"%s\": {\"count\": %zu, \"median_ms\": %.1f, \"p99_ms\": %.1f, \"max_ms\": %.1f}",
              name, count, at(0.5), at(0.99), at(1));
}

void Cancellations(const Decoder& decoder, const std::vector<int32_t>& ids, int count) {
  const auto tokens = static_cast<int64_t>(ids.size());
  const int64_t layers = decoder.config().layers;
  midscope::LastQueryAttention attention(decoder.config());
  midscope::RunRequest request;
  request.ids = ids;
  request.hooks = {&attention};
  auto trace = decoder.MakeTrace(tokens);
  request.trace = trace.get();
  const double full = Least(1, [&](int) { decoder.RunOne(request); });
  const std::vector<midscope::AttentionPlan> plans = trace->plans();

  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<double> in_layers;
  in_layers.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto first = static_cast<int64_t>(random() % static_cast<uint64_t>(layers));
    // Runs that begin in the last layers also compute the logits.
    const double delay = 1.2 * share(random) * full / static_cast<double>(layers);
    request.rerun = midscope::RunRequest::Rerun{std::vector<int64_t>(decoder.config().layers, 0)};
    std::fill_n(request.rerun->first_row.begin(), first, tokens);
    in_layers.push_back(Latency(
        delay, [&](const midscope::JobContext& context) { decoder.RunOne(request, context); }));
    // The same setting was run, so the rows of the trace are still valid.
    trace->Set(tokens, tokens, plans);
  }
  request.rerun.reset();
  std::vector<double> whole;
  whole.reserve(static_cast<size_t>(count));
  for (int i = 0; i < std::max(count / 10, 1); ++i) {
    const double delay = share(random) * full;
    whole.push_back(Latency(delay, [&](const midscope::JobContext& context) {
      const auto fresh = decoder.MakeTrace(tokens);
      request.trace = fresh.get();
      decoder.RunOne(request, context);
    }));
  }
  std::printf("{\"tokens\": %ld, \"full_ms\": %.0f", static_cast<long>(tokens), full * 1e3);
  PrintLatencies("in_layers", in_layers);
  PrintLatencies("whole_runs", whole);
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  if (argc < 4) {
    std::fprintf(stderr,
                 "what_if_bench speed|cancel TOKENS float32|bfloat16 [REPEATS|COUNT [MODEL]]\n");
    return 2;
  }
  midscope::DecoderOptions options;
  if (std::string(argv[3]) == "bfloat16") options.dtype = midscope::kernels::Dtype::kBFloat16;
  try {
    const auto decoder = Decoder::Open(argc > 5 ? argv[5] : "embedded", options);
    const std::vector<int32_t> ids = Ids(std::atol(argv[2]), decoder->config().vocabulary);
    if (std::string(argv[1]) == "speed") {
      Speed(decoder, ids, argc > 4 ? std::atoi(argv[4]) : 3);
    } else {
      Cancellations(*decoder, ids, argc > 4 ? std::atoi(argv[4]) : 200);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "what_if_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
