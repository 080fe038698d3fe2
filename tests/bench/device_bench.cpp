// SPDX-License-Identifier: MIT
// Measures the cost of prompts of several lengths on a device, in one process, because large models
// take long to open.
//
//   device_bench DEVICE MODEL float32|bfloat16|float16 [auto|stored|expanded] [decode] TOKENS...
//
// The first line is a JSON object with facts about the device. Then follows one line per length,
// with milliseconds (the least of three) of: the logits alone; a run with captures (last-query
// attention, position-awareness score, the last residual row, a trace); the same with Ms-PoE, whose
// heads in a group have different positions, and with Self-Extend; one token after the prompt;
// what-ifs of one channel, with and without the attention of the last query, the latter also
// without recording, and of Ms-PoE's last row; and the device memory in use at that time. With
// `decode`, only the first of these and the token are measured. Prompts may be longer than the
// model's context, because times do not depend on the meaning of positions.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "core/compute/device_facts.h"
#include "core/compute/process_start.h"
#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/bench/argument_words.h"

namespace {

using midscope::Decoder;

double LeastMilliseconds(const std::function<void(int)>& work) {
  constexpr int kRepeats = 3;
  double least = 1e300;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work(i);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

midscope::Prompt RandomPrompt(const Decoder& decoder, int64_t tokens) {
  std::mt19937_64 random(1);
  midscope::Prompt prompt;
  const auto vocabulary = static_cast<uint64_t>(decoder.config().vocabulary);
  for (int64_t i = 0; i < tokens; ++i)
    prompt.ids.push_back(static_cast<int32_t>(random() % vocabulary));
  return prompt;
}

double PrefillMilliseconds(const Decoder& decoder, const std::vector<int32_t>& ids, bool captures,
                           const std::string& setting) {
  midscope::LastQueryAttention attention(decoder.config());
  midscope::PositionAwareness score(decoder.config());
  midscope::ResidualRows rows(decoder.config(), 1);
  midscope::RunRequest request;
  request.ids = ids;
  request.intervention = midscope::ParseIntervention(setting);
  const auto trace = captures ? decoder.MakeTrace(static_cast<int64_t>(ids.size())) : nullptr;
  if (captures) request.hooks = {&attention, &score, &rows};
  request.trace = trace.get();
  return LeastMilliseconds([&](int) {
    if (trace) trace->Truncate(0);
    decoder.RunOne(request);
  });
}

double TokenMilliseconds(const Decoder& decoder, std::vector<int32_t> ids) {
  const auto tokens = static_cast<int64_t>(ids.size());
  const auto trace = decoder.MakeTrace(tokens + 1);
  midscope::RunRequest request;
  request.trace = trace.get();
  request.ids = ids;
  decoder.RunOne(request);
  ids.push_back(ids.front());
  request.ids = ids;
  return LeastMilliseconds([&](int) {
    trace->Truncate(tokens);
    decoder.RunOne(request);
  });
}

// Memory in use by all programs on the first device.
int64_t TakenBytes(const Decoder& decoder) {
  const midscope::DeviceFacts facts =
      midscope::FactsOf(decoder.options().placement.shares.front().device);
  return facts.total_bytes - facts.free_bytes;
}

void PrintDevice(const midscope::DeviceName& device) {
  const midscope::DeviceFacts facts = midscope::FactsOf(device);
  std::printf(
      "{\"device\": \"%s\", \"name\": \"%s\", \"compute_capability\": \"%s\", \"total_bytes\": "
      "%ld, "
      "\"free_bytes\": %ld}\n",
      midscope::DeviceText(device).c_str(), facts.name.c_str(), facts.compute_capability.c_str(),
      static_cast<long>(facts.total_bytes), static_cast<long>(facts.free_bytes));
  std::fflush(stdout);
}

void MeasureDecoding(const std::shared_ptr<Decoder>& decoder, int64_t tokens) {
  const std::vector<int32_t> ids = RandomPrompt(*decoder, tokens).ids;
  std::printf("{\"tokens\": %ld, \"plain_ms\": %.2f, \"token_ms\": %.2f}\n",
              static_cast<long>(tokens), PrefillMilliseconds(*decoder, ids, false, "none"),
              TokenMilliseconds(*decoder, ids));
  std::fflush(stdout);
}

void Measure(const std::shared_ptr<Decoder>& decoder, int64_t tokens) {
  const midscope::Prompt prompt = RandomPrompt(*decoder, tokens);
  const double plain = PrefillMilliseconds(*decoder, prompt.ids, false, "none");
  const double captures = PrefillMilliseconds(*decoder, prompt.ids, true, "none");
  const double ms_poe = PrefillMilliseconds(*decoder, prompt.ids, false, "ms-poe");
  const double self_extend =
      PrefillMilliseconds(*decoder, prompt.ids, false, "self-extend(group=8, window=512)");
  const double token = TokenMilliseconds(*decoder, prompt.ids);
  midscope::WhatIf what_if(decoder, {prompt});
  what_if.Evaluate({});
  const auto change = [&](const std::string& before, const std::string& after, bool attention) {
    return LeastMilliseconds([&](int i) {
      what_if.Evaluate(midscope::ParseIntervention(before + std::to_string(i) + after), {},
                       attention);
    });
  };
  const double channel = change("channel(10, factor=-0.", ", layers=8-25)", true);
  const double channel_logits = change("channel(10, factor=-0.1", ", layers=8-25)", false);
  // Each changes another channel, so that none is replayed from a recording
  // (core/decoder/recorded_rows.h).
  const double channel_run = change("channel(1", ", factor=-0.1, layers=8-25)", false);
  const double last_row = change("ms-poe(max=1.6", ", rows=last)", true);
  std::printf(
      "{\"tokens\": %ld, \"plain_ms\": %.2f, \"captures_ms\": %.2f, \"ms_poe_ms\": %.2f, "
      "\"self_extend_ms\": %.2f, \"token_ms\": %.2f, \"what_if_channel_ms\": %.2f, "
      "\"what_if_channel_logits_ms\": %.2f, \"what_if_channel_run_ms\": %.2f, "
      "\"what_if_ms_poe_last_row_ms\": %.2f, "
      "\"taken_bytes\": %ld}\n",
      static_cast<long>(tokens), plain, captures, ms_poe, self_extend, token, channel,
      channel_logits, channel_run, last_row, static_cast<long>(TakenBytes(*decoder)));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  if (argc < 5) {
    std::fprintf(
        stderr,
        "device_bench DEVICE MODEL float32|bfloat16|float16 [auto|stored|expanded] [decode] "
        "TOKENS...\n");
    return 2;
  }
  try {
    midscope::DecoderOptions options;
    options.placement = midscope::ParsePlacement(argv[1]);
    options.dtype = midscope::DtypeOf(argv[3]);
    options.beyond_context = true;
    int next = 4;
    bool decodes = false;
    for (; next < argc && std::atol(argv[next]) == 0; ++next) {
      if (std::string(argv[next]) == "decode") {
        decodes = true;
      } else {
        options.weights = midscope::StorageOf(argv[next]);
      }
    }
    PrintDevice(options.placement.shares.front().device);
    const std::shared_ptr<Decoder> decoder = Decoder::Open(argv[2], options);
    for (; next < argc; ++next)
      (decodes ? MeasureDecoding : Measure)(decoder, std::atol(argv[next]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
