// SPDX-License-Identifier: MIT
#include "core/model/changed_source.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "core/base/hashes.h"
#include "core/base/random.h"
#include "core/model/adapter_file.h"
#include "core/model/model_shapes.h"
#include "core/model/model_text.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {
namespace {

constexpr std::string_view kBias = ".bias";

// Returns a uniform number in (0, 1).
double OpenShare(SplitMix64& random) {
  constexpr int kUnused = 64 - 52;
  constexpr double kSteps = 4503599627370496.0;  // 2^52
  return (static_cast<double>(random.Next() >> kUnused) + 0.5) / kSteps;
}

// Returns a standard normal number by the ratio of two uniform ones (J. L. Leva, "A fast normal
// random number generator", 1992). The logarithm only decides whether a rare pair is rejected, so
// that results do not depend on the math library.
double Normal(SplitMix64& random) {
  constexpr double kWidth = 1.7156;  // slightly more than 2 sqrt(2 / e)
  constexpr double kCentreU = 0.449871;
  constexpr double kCentreV = -0.386595;
  constexpr double kA = 0.19600;
  constexpr double kB = 0.25472;
  constexpr double kInner = 0.27597;
  constexpr double kOuter = 0.27846;
  for (;;) {
    const double u = OpenShare(random);
    const double v = kWidth * (OpenShare(random) - 0.5);
    const double x = u - kCentreU;
    const double y = std::abs(v) - kCentreV;
    const double q = x * x + y * (kA * y - kB * x);
    if (q < kInner) return v / u;
    if (q <= kOuter && v * v <= -4 * std::log(u) * u * u) return v / u;
  }
}

uint64_t NameStream(const std::string& name) {
  constexpr uint64_t kOffset = 0xcbf29ce484222325;  // FNV-1a
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = kOffset;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * kPrime;
  return hash;
}

bool IsXieluConstant(const std::string& name) {
  return name.ends_with(".alpha_positive") || name.ends_with(".alpha_negative") ||
         name.ends_with(".beta") || name.ends_with(".epsilon");
}

ModelConfig RandomConfig(const ModelSource& model, uint64_t seed, double deviation) {
  ModelConfig config = model.config();
  config.quantisation = "F32";
  config.quantised_bytes = 0;
  config.stored_bytes = config.parameters * static_cast<int64_t>(sizeof(float));
  config.notes.push_back(
      fmt::format("its weights are random, as before training (@init): seed {}, standard deviation "
                  "{}; the weights of the file are not used",
                  seed, deviation));
  return config;
}

class RandomSource : public ChangedSource {
 public:
  RandomSource(std::unique_ptr<ModelSource> model, ModelConfig config, uint64_t seed,
               double deviation)
      : ChangedSource(std::move(model), std::move(config)), seed_(seed), deviation_(deviation) {}

  std::string path() const override {
    return PrintModelText({.name = base().path(), .init_seed = seed_, .adapter = "", .scale = 1});
  }
  std::string Hash() const override {
    const std::string text = fmt::format("{} @init:{} {}", base().Hash(), seed_, deviation_);
    return HashBytes(std::as_bytes(std::span(text)));
  }

 protected:
  bool Changes(const std::string& name) const override { return !IsXieluConstant(name); }

  void Fill(const std::string& name, const TensorRef& from, const kernels::BlockFormat& /*format*/,
            std::byte* out) const override {
    float* const values = reinterpret_cast<float*>(out);
    const auto size = static_cast<size_t>(from.rows * from.columns);
    const bool is_norm = name.find("norm") != std::string::npos;
    if (name.ends_with(kBias) || name.ends_with(".choice_bias")) {
      std::fill_n(values, size, 0.0f);
    } else if (name.ends_with(".mixer_decay_scale")) {
      const bool log = config().delta_rule.log_decays || config().state_space.log_decays;
      std::fill_n(values, size, log ? 0.0f : -1.0f);
    } else if (name.ends_with(".layer_scale") || name.ends_with(".expert_scale") ||
               name.ends_with(".mixer_decay_bias") || name.ends_with(".mixer_skip")) {
      std::fill_n(values, size, 1.0f);
    } else if (is_norm) {
      const bool adds_one = config().norm_adds_one && !name.ends_with(".mixer_norm");
      std::fill_n(values, size, adds_one ? 0.0f : 1.0f);
    } else {
      FillNormal(name, from, values);
    }
  }

 private:
  void FillNormal(const std::string& name, const TensorRef& from, float* values) const {
    const bool writes_stream = name.ends_with(".attention_out") || name.ends_with(".down");
    const bool divided = config().architecture == "gpt2" && writes_stream;
    const double deviation =
        divided ? deviation_ / std::sqrt(2.0 * static_cast<double>(config().layers)) : deviation_;
    constexpr int64_t kOperationsPerNumber = 32;
    const uint64_t stream = NameStream(name);
    ForRowRanges(
        from.rows, from.rows * from.columns * kOperationsPerNumber,
        [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            SplitMix64 random(SplitMix64(seed_, stream).Next(), static_cast<uint64_t>(row));
            for (int64_t i = 0; i < from.columns; ++i)
              values[row * from.columns + i] = static_cast<float>(deviation * Normal(random));
          }
        });
  }

  uint64_t seed_;
  double deviation_;
};

ModelConfig AdaptedConfig(const ModelSource& model, const AdapterFile& adapter, double scale) {
  ModelConfig config = model.config();
  if (!adapter.recipe.empty()) {
    config.notes.push_back("the adapter " + adapter.path + " was tuned with " + adapter.recipe +
                           "; it changes weights only: choose the position scheme with --with");
  }
  if (scale == 0) return config;
  for (const auto& [name, pair] : adapter.pairs) {
    const auto columns = static_cast<int64_t>(pair.a.size()) / pair.rank;
    const auto elements = static_cast<int64_t>(pair.b.size()) / pair.rank * columns;
    const TensorRef* tensor = model.Find(name);
    if (tensor == nullptr) continue;
    const int64_t stored = tensor->rows * tensor->row_bytes;
    config.stored_bytes += elements * static_cast<int64_t>(sizeof(float)) - stored;
    if (tensor->format.elements > 1) config.quantised_bytes -= stored;
    model.DontNeed(*tensor);
  }
  return config;
}

class AdaptedSource : public ChangedSource {
 public:
  AdaptedSource(std::unique_ptr<ModelSource> model, ModelConfig config, AdapterFile adapter,
                double scale)
      : ChangedSource(std::move(model), std::move(config)),
        adapter_(std::move(adapter)),
        scale_(scale) {}

  std::string path() const override {
    ModelText text = ParseModelText(base().path());
    text.adapter = adapter_.path;
    text.scale = scale_;
    return PrintModelText(text);
  }
  std::string Hash() const override {
    const double alpha = adapter_.pairs.begin()->second.scale;
    const std::string text =
        fmt::format("{} {} {} {}", base().Hash(), adapter_.hash, alpha, scale_);
    return HashBytes(std::as_bytes(std::span(text)));
  }

 protected:
  bool Changes(const std::string& name) const override {
    return scale_ != 0 && adapter_.pairs.contains(name);
  }

  void Fill(const std::string& name, const TensorRef& from, const kernels::BlockFormat& /*format*/,
            std::byte* values) const override {
    const LowRankPair& pair = adapter_.pairs.at(name);
    const int64_t columns = from.columns;
    const double scale = scale_ * pair.scale;
    ForRowRanges(from.rows, from.rows * columns * pair.rank, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        float* out = reinterpret_cast<float*>(values) + row * columns;
        kernels::Dequantise(from.format.type, from.Row(row), columns, out);
        for (int64_t r = 0; r < pair.rank; ++r) {
          const auto b =
              static_cast<float>(scale * pair.b[static_cast<size_t>(row * pair.rank + r)]);
          const float* a = pair.a.data() + r * columns;
          for (int64_t i = 0; i < columns; ++i) out[i] += b * a[i];
        }
      }
    });
  }

 private:
  AdapterFile adapter_;
  double scale_;
};

}  // namespace

const TensorRef* ChangedSource::Find(const std::string& name) const {
  const TensorRef* from = base_->Find(name);
  if (from == nullptr || !Changes(name)) return from;
  const std::lock_guard lock(mutex_);
  Computed& computed = computed_[name];
  if (!computed.values.empty()) return &computed.tensor;
  const kernels::BlockFormat format = FormatOf(name);
  const int64_t row_bytes = from->columns / format.elements * format.bytes;
  computed.values.resize(static_cast<size_t>(from->rows * row_bytes));
  Fill(name, *from, format, computed.values.data());
  base_->DontNeed(*from);
  computed.tensor = {format, computed.values.data(), from->rows, from->columns, row_bytes,
                     {},     from->file_name};
  return &computed.tensor;
}

kernels::BlockFormat ChangedSource::FormatOf(const std::string& /*name*/) const {
  return *kernels::FindBlockFormat(static_cast<uint32_t>(kernels::BlockType::kF32));
}

void ChangedSource::DontNeed(const TensorRef& tensor) const {
  const std::lock_guard lock(mutex_);
  for (auto& [name, computed] : computed_) {
    if (&computed.tensor != &tensor) continue;
    std::vector<std::byte>().swap(computed.values);  // assigning {} would keep the memory
    return;
  }
  base_->DontNeed(tensor);
}

void ForRowRanges(int64_t rows, int64_t operations,
                  const std::function<void(int64_t begin, int64_t end)>& work) {
  constexpr int64_t kLeastOperations = 1 << 20;
  const int64_t threads =
      std::clamp<int64_t>(operations / kLeastOperations, 1,
                          std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, rows));
  std::vector<std::jthread> others;
  for (int64_t i = 1; i < threads; ++i)
    others.emplace_back([&, i] { work(rows * i / threads, rows * (i + 1) / threads); });
  work(0, rows / threads);
}

std::unique_ptr<ModelSource> WithRandomWeights(std::unique_ptr<ModelSource> model, uint64_t seed,
                                               double deviation) {
  ModelConfig config = RandomConfig(*model, seed, deviation);
  return std::make_unique<RandomSource>(std::move(model), std::move(config), seed, deviation);
}

std::unique_ptr<ModelSource> WithAdapter(std::unique_ptr<ModelSource> model, AdapterFile adapter,
                                         double scale) {
  ModelConfig config = AdaptedConfig(*model, adapter, scale);
  return std::make_unique<AdaptedSource>(std::move(model), std::move(config), std::move(adapter),
                                         scale);
}

}  // namespace midscope
