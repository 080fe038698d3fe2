// SPDX-License-Identifier: MIT
// Usage: engine_bench [PAIRS [STEPS]]. Measures a factor step, request to reply, of an engine in
// this process, then of one in a child process (MIDSCOPE_PROGRAM, or midscope beside this program),
// on the embedded model; prints medians in milliseconds.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/compute/process_start.h"
#include "core/terms/intervention_text.h"
#include "probes/client/client_engine.h"
#include "probes/engine/engine.h"

namespace {

using Clock = std::chrono::steady_clock;

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Step {
  double milliseconds;  // request to reply
  double own;           // of these, the run by the engine's own account
};

Step Measure(midscope::Engine& engine, int step, bool attention) {
  midscope::WhatIfRequest request;
  request.intervention = midscope::ParseIntervention(fmt::format(
      "channel(100, factor={}, layers=8-25)", -1 + 0.01 * step + (attention ? 0.001 : 0.0)));
  request.attention = attention;
  const auto start = Clock::now();
  const midscope::WhatIfReply reply = engine.WhatIf(request, {}, {});
  return {std::chrono::duration<double, std::milli>(Clock::now() - start).count(),
          1e3 * reply.cost.seconds};
}

void MeasureSteps(midscope::Engine& engine, const char* name, int steps) {
  for (const bool attention : {false, true}) {
    std::vector<double> all;
    std::vector<double> beyond;
    for (int step = -3; step < steps; ++step) {
      const Step one = Measure(engine, step, attention);
      if (step < 0) continue;  // the first make the cache
      all.push_back(one.milliseconds);
      beyond.push_back(one.milliseconds - one.own);
    }
    fmt::print("{}, {} attention: {:.1f} ms, beyond the run {:.2f}\n", name,
               attention ? "with" : "without", Median(all), Median(beyond));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  midscope::PrepareProcess(words);
  const int pairs = count > 1 ? std::atoi(words[1]) : 28;
  const int steps = count > 2 ? std::atoi(words[2]) : 40;
  midscope::PromptRequest prompt;
  prompt.task = fmt::format("kv:pairs={}", pairs);
  prompt.places = "10";  // one prompt
  const auto measure = [&](midscope::Engine& engine, const char* name) {
    engine.Open({.model = "embedded", .dtype = "float32"}, {});
    engine.SetPrompt(prompt, {});
    MeasureSteps(engine, name, steps);
  };
  measure(*midscope::MakeLocalEngine(), "in this process");
  measure(
      *midscope::MakeClientEngine(std::make_shared<midscope::EngineLink>(midscope::LocalEngine())),
      "in a child");
  return 0;
}
