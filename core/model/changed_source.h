// SPDX-License-Identifier: MIT
// Model sources that compute some tensors from another source: with an adapter's weights added
// (WithAdapter, adapter_file.h), or with random weights. Internal to core/model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model_source.h"

namespace midscope {

// Find computes a tensor, which stays in memory until DontNeed; a later Find computes it again.
// Thus if the decoder expands the weights, at most a few computed tensors are in memory.
class ChangedSource : public ModelSource {
 public:
  ChangedSource(std::unique_ptr<ModelSource> base, ModelConfig config)
      : base_(std::move(base)), config_(std::move(config)) {}

  const ModelConfig& config() const override { return config_; }
  const TensorRef* Find(const std::string& name) const override;
  std::unique_ptr<Tokenizer> MakeTokenizer() const override { return base_->MakeTokenizer(); }
  void DontNeed(const TensorRef& tensor) const override;
  void CheckWhole() const override { base_->CheckWhole(); }

 protected:
  const ModelSource& base() const { return *base_; }
  // Whether Find must compute the tensor instead of returning the base source's tensor.
  virtual bool Changes(const std::string& name) const = 0;
  // Returns the format of a computed tensor, which is also Fill's output format; by default F32.
  virtual kernels::BlockFormat FormatOf(const std::string& name) const;
  // Writes a computed tensor [rows, columns] to `out`. `from`: the base source's tensor.
  virtual void Fill(const std::string& name, const TensorRef& from,
                    const kernels::BlockFormat& format, std::byte* out) const = 0;

 private:
  struct Computed {
    std::vector<std::byte> values;
    TensorRef tensor;
  };

  std::unique_ptr<ModelSource> base_;
  ModelConfig config_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Computed> computed_;
};

// Splits [0, rows) into disjoint ranges and calls work(begin, end) for each, on all of the
// machine's threads, or only on the calling thread if there are fewer than about a million
// `operations`. `work` must not throw.
void ForRowRanges(int64_t rows, int64_t operations,
                  const std::function<void(int64_t begin, int64_t end)>& work);

inline constexpr double kInitialDeviation = 0.02;  // if config.json has no initializer_range

// Returns the model with its weights replaced by random initial weights (MODEL@init), which shows
// how the model behaves before training.
//
// The rule is that of transformers for most families: matrices, embeddings and attention sinks are
// normal with mean 0 and standard deviation initializer_range of config.json, or kInitialDeviation
// without one (GGUF files); norms are 1, biases 0; for gpt2, the output matrices of attention and
// MLP are divided by sqrt(2 layers). Differences from transformers: another random generator; no
// factors of other families; the embedding of a padding token is not zeroed; the four constants of
// the xIELU activation are read from the file. The weights must exist in the file, although they
// are not read.
//
// Every tensor has a separate random stream, seeded by the tensor's name and `seed`; values are
// equal on every machine.
std::unique_ptr<ModelSource> WithRandomWeights(std::unique_ptr<ModelSource> model, uint64_t seed,
                                               double deviation);

}  // namespace midscope
