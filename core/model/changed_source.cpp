// SPDX-License-Identifier: MIT
#include "core/model/changed_source.h"

#include <algorithm>
#include <thread>

#include "kernels/quantised/dequantise.h"

namespace midscope {

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

}  // namespace midscope
