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
  computed.values.resize(static_cast<size_t>(from->rows * from->columns));
  Fill(name, *from, computed.values.data());
  base_->DontNeed(*from);
  computed.tensor = {*kernels::FindBlockFormat(static_cast<uint32_t>(kernels::BlockType::kF32)),
                     reinterpret_cast<const std::byte*>(computed.values.data()),
                     from->rows,
                     from->columns,
                     from->columns * static_cast<int64_t>(sizeof(float)),
                     {},
                     from->file_name};
  return &computed.tensor;
}

void ChangedSource::DontNeed(const TensorRef& tensor) const {
  const std::lock_guard lock(mutex_);
  for (auto& [name, computed] : computed_) {
    if (&computed.tensor != &tensor) continue;
    std::vector<float>().swap(computed.values);  // assigning {} would keep the memory
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
