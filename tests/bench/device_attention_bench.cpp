// SPDX-License-Identifier: MIT
// Measures the attention of one layer on a device: TFLOP/s of causal attention of random q, k and
// v, including the rotation of q and k, at several lengths.
//
//   device_attention_bench DEVICE float32|bfloat16|float16 HEADS KEY_VALUE_HEADS HEAD_DIM TOKENS...
//
// Prints one JSON line per length with TFLOP/s (4 x head_dim for each query and visible key, over
// all heads; the best of five) for equal positions in all heads, for different positions within a
// group of heads (Ms-PoE), for near and far keys (Self-Extend), with a soft cap, and with boosted
// keys.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/base/timing.h"
#include "core/compute/aten_executor.h"
#include "core/compute/layer_devices.h"
#include "core/compute/placement.h"
#include "core/compute/process_start.h"
#include "tests/bench/argument_words.h"

namespace {

using midscope::kernels::Dtype;

struct Heads {
  int64_t query;
  int64_t key_value;
  int64_t dim;
};

struct Kind {
  const char* name;
  double ratio_step;  // difference of the ratio between successive heads
  int64_t near;       // 0: all keys are near
  float softcap;
  bool boosts;  // boosts a quarter of the keys
};
constexpr Kind kKinds[] = {{"equal_positions", 0, 0, 0, false},
                           {"ms_poe", 0.02, 0, 0, false},
                           {"self_extend", 0, 512, 0, false},
                           {"soft_cap", 0, 0, 30, false},
                           {"boost", 0, 0, 0, true}};

class Attention {
 public:
  Attention(const midscope::LayerOps& ops, const Heads& heads, int64_t tokens, at::ScalarType type)
      : ops_(ops), heads_(heads), tokens_(tokens) {
    const auto values = [&](int64_t of) {
      return at::randn({tokens, of * heads.dim}).to(ops.device(), type);
    };
    q_ = values(heads.query);
    k_ = values(heads.key_value);
    v_ = values(heads.key_value);
    out_ = at::empty_like(q_);
  }

  double Teraflops(const Kind& kind) {
    constexpr int kRepeats = 5;
    const midscope::RotaryTables tables = Tables(kind);
    const midscope::kernels::AttentionShape shape{tokens_,          tokens_,    0, heads_.query,
                                                  heads_.key_value, heads_.dim, 0, kind.softcap};
    double least = 1e300;
    for (int i = 0; i < kRepeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      ops_.Attention(shape, q_, k_, v_, tables, out_, nullptr);
      out_.narrow(0, 0, 1).cpu();  // waits for the device
      least = std::min(least, midscope::SecondsSince(start));
    }
    const double pairs = static_cast<double>(tokens_) * static_cast<double>(tokens_ + 1) / 2;
    return 4 * pairs * static_cast<double>(heads_.query * heads_.dim) / least / 1e12;
  }

 private:
  midscope::kernels::RotaryView View(midscope::RotaryTables* tables, double ratio) {
    std::vector<double> frequencies(static_cast<size_t>(heads_.dim / 2));
    for (size_t i = 0; i < frequencies.size(); ++i) {
      frequencies[i] =
          std::pow(1e4, -static_cast<double>(i) / static_cast<double>(frequencies.size()));
    }
    const auto table = cache_.Reserve({frequencies, 1.0, ratio, {}}, tokens_);
    if (!ops_.forms_tables()) table->Fill(executor_);
    tables->owned.push_back(table);
    return table->View();
  }

  midscope::RotaryTables Tables(const Kind& kind) {
    midscope::RotaryTables tables;
    for (int64_t head = 0; head < heads_.query; ++head) {
      const double ratio = 1 + kind.ratio_step * static_cast<double>(head);
      tables.q.push_back(View(&tables, ratio));
      tables.k.push_back(View(&tables, ratio));
      tables.scale.push_back(1.0f / std::sqrt(static_cast<float>(heads_.dim)));
      if (kind.near == 0) continue;
      tables.far_q.push_back(View(&tables, 8 * ratio));
      tables.far_k.push_back(View(&tables, 8 * ratio));
    }
    tables.softcap = kind.softcap;
    tables.near = kind.near;
    if (kind.boosts) tables.edits.factors = {{tokens_ / 4, tokens_ / 2, 2, false}};
    return tables;
  }

  const midscope::LayerOps& ops_;
  const Heads heads_;
  const int64_t tokens_;
  midscope::AtenExecutor executor_;
  midscope::RotaryCache cache_;
  at::Tensor q_, k_, v_, out_;
};

void Measure(const midscope::LayerOps& ops, const Heads& heads, int64_t tokens,
             at::ScalarType type) {
  Attention attention(ops, heads, tokens, type);
  std::printf("{\"tokens\": %ld", static_cast<long>(tokens));
  for (const Kind& kind : kKinds)
    std::printf(", \"%s_tflops\": %.2f", kind.name, attention.Teraflops(kind));
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  if (argc < 7) {
    std::fprintf(stderr,
                 "device_attention_bench DEVICE float32|bfloat16|float16 HEADS KEY_VALUE_HEADS "
                 "HEAD_DIM TOKENS...\n");
    return 2;
  }
  try {
    const c10::InferenceMode inference;
    midscope::Placement placement = midscope::ParsePlacement(argv[1]);
    placement.shares.front().layers = 1;
    const Dtype dtype = midscope::DtypeOf(argv[2]);
    const midscope::AtenExecutor executor;
    const midscope::LayerDevices devices(placement, dtype, executor);
    const Heads heads{std::atol(argv[3]), std::atol(argv[4]), std::atol(argv[5])};
    for (int i = 6; i < argc; ++i)
      Measure(devices.Of(0), heads, std::atol(argv[i]), midscope::TorchType(dtype));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device_attention_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
