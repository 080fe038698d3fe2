// SPDX-License-Identifier: MIT
// A model source with the weights of an adapter added to its own.
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/hashes.h"
#include "core/model/adapter_file.h"
#include "core/model/changed_source.h"
#include "core/model/model_text.h"

namespace midscope {
namespace {

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

std::unique_ptr<ModelSource> WithAdapter(std::unique_ptr<ModelSource> model, AdapterFile adapter,
                                         double scale) {
  ModelConfig config = AdaptedConfig(*model, adapter, scale);
  return std::make_unique<AdaptedSource>(std::move(model), std::move(config), std::move(adapter),
                                         scale);
}

}  // namespace midscope
