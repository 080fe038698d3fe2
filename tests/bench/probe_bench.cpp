// SPDX-License-Identifier: MIT
// Measures the cost of the papers' probes compared with a run without hooks, on the embedded model.
//
//   probe_bench compare TOKENS [REPEATS]      plain and probed runs in turn: times, and their ratio
//   probe_bench plain|probes|perplexity TOKENS      one kind of run alone: its peak memory
//
// The probes are span_attention, key_information, head_scores, logit_lens and 8 hidden channels,
// together. The prompt is random tokens in pieces of 64, each a named passage, one of them gold.
// Prints one JSON object; times are CPU seconds, the least of REPEATS (default 3).

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "core/base/random.h"
#include "core/compute/process_start.h"
#include "core/decoder/decoder.h"
#include "probes/engine/run_probe.h"
#include "probes/measure/builtin/probe_registry.h"

namespace {

using midscope::Decoder;

// CPU time of all threads, user and system; on a shared machine it is a better measure than elapsed
// time.
double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Seconds(const std::function<void()>& work) {
  const double start = ProcessorSeconds();
  work();
  return ProcessorSeconds() - start;
}

midscope::Prompt MakePrompt(int64_t tokens, int64_t vocabulary) {
  constexpr int64_t kPiece = 64;
  midscope::SplitMix64 random(1);
  midscope::Prompt prompt;
  for (int64_t i = 0; i < tokens; ++i) {
    prompt.ids.push_back(
        static_cast<int32_t>(300 + random.Below(static_cast<uint64_t>(vocabulary - 300))));
  }
  for (int64_t begin = 0; begin + kPiece <= tokens; begin += kPiece) {
    prompt.spans.push_back({"pair " + std::to_string(begin / kPiece + 1), begin, begin + kPiece,
                            begin, begin + kPiece});
  }
  prompt.spans.push_back({"gold", kPiece, 2 * kPiece, kPiece, 2 * kPiece});
  return prompt;
}

class Runs {
 public:
  explicit Runs(int64_t tokens)
      : decoder_(Decoder::Open("embedded", {})),
        probes_(midscope::BuiltInProbes()),
        prompt_(MakePrompt(tokens, decoder_->config().vocabulary)) {}

  void Plain() const {
    midscope::RunRequest request;
    request.ids = prompt_.ids;
    decoder_->RunOne(request);
  }
  void Probed() const {
    Run("span_attention,key_information,head_scores,logit_lens", "0,100,215,300,350,400,446,500");
  }
  void Perplexity() const { Run("perplexity", ""); }

 private:
  void Run(const std::string& names, const std::string& channels) const {
    midscope::OptionSet options(probes_.Options());
    options.SetText("probes", names);
    options.SetText("channels", channels);
    midscope::RunProbes(*decoder_, prompt_, {}, probes_, options);
  }

  std::shared_ptr<const Decoder> decoder_;
  midscope::ProbeRegistry probes_;
  midscope::Prompt prompt_;
};

void Compare(const Runs& runs, int64_t tokens, int repeats) {
  double plain = 1e300;
  double probed = 1e300;
  double perplexity = 1e300;
  runs.Plain();
  for (int i = 0; i < repeats; ++i) {
    plain = std::min(plain, Seconds([&] { runs.Plain(); }));
    probed = std::min(probed, Seconds([&] { runs.Probed(); }));
    perplexity = std::min(perplexity, Seconds([&] { runs.Perplexity(); }));
  }
  std::printf(
      "{\"tokens\": %ld, \"plain_seconds\": %.3f, \"probes_seconds\": %.3f, \"probes_ratio\": "
      "%.3f, "
      "\"perplexity_seconds\": %.3f, \"perplexity_ratio\": %.3f}\n",
      static_cast<long>(tokens), plain, probed, probed / plain, perplexity, perplexity / plain);
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  if (argc < 3) {
    std::fprintf(stderr, "probe_bench compare|plain|probes|perplexity TOKENS [REPEATS]\n");
    return 2;
  }
  const std::string kind = argv[1];
  const int64_t tokens = std::atol(argv[2]);
  try {
    const Runs runs(tokens);
    if (kind == "compare") {
      Compare(runs, tokens, argc > 3 ? std::atoi(argv[3]) : 3);
      return 0;
    }
    if (kind == "plain") runs.Plain();
    if (kind == "probes") runs.Probed();
    if (kind == "perplexity") runs.Perplexity();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("{\"tokens\": %ld, \"kind\": \"%s\", \"peak_bytes\": %ld}\n",
                static_cast<long>(tokens), kind.c_str(), usage.ru_maxrss * 1024L);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "probe_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
