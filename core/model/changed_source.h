// SPDX-License-Identifier: MIT
// Model sources with some tensors computed from those of another one: with an adapter's weights
// added (WithAdapter, adapter_file.h), or random. Internal to core/model.
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

// Computes a tensor when Find first returns it and frees it in DontNeed; a later Find computes it
// again. Thus if the decoder expands the weights, at most a few computed tensors are in memory.
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
  // Whether the tensor, which the other source has, is computed.
  virtual bool Changes(const std::string& name) const = 0;
  // Returns the format in which Fill computes a tensor; by default F32.
  virtual kernels::BlockFormat FormatOf(const std::string& name) const;
  // Computes [rows, columns] of the tensor `from`, row by row in the decoder's order.
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

// Calls work(begin, end) for disjoint ranges that cover [0, rows) on all of the machine's threads;
// on the calling thread if there are fewer than about a million `operations`. `work` must not
// throw.
void ForRowRanges(int64_t rows, int64_t operations,
                  const std::function<void(int64_t begin, int64_t end)>& work);

inline constexpr double kInitialDeviation = 0.02;  // of config.json files that state none

// Returns the model with random weights instead of its own (MODEL@init): what a model does before
// training.
//
// The rule is that of transformers for most families: matrices, embeddings and attention sinks are
// normal with mean 0 and standard deviation initializer_range of config.json, or kInitialDeviation
// without one (GGUF files); norms are 1, biases 0; for gpt2, the output matrices of attention and
// MLP are divided by sqrt(2 layers). Departures: the numbers are ours, not PyTorch's; other
// families' own factors are ignored; the embedding of a padding token is not zeroed; xIELU's four
// constants are the file's. The weights must exist in the file, although they are not read.
//
// Every tensor has its own random stream, which depends on its name and the seed; the numbers are
// equal on every machine.
std::unique_ptr<ModelSource> WithRandomWeights(std::unique_ptr<ModelSource> model, uint64_t seed,
                                               double deviation);

}  // namespace midscope
