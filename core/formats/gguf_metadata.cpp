// SPDX-License-Identifier: MIT
#include "core/formats/gguf_metadata.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {

GgufMetadata::GgufMetadata(const GgufFile& file, std::string architecture)
    : file_(file), architecture_(std::move(architecture)) {}

void GgufMetadata::Fail(const std::string& reason, const std::string& remedy) const {
  throw Failure(file_.path().string(), reason, remedy);
}

std::string GgufMetadata::Key(std::string_view key) const {
  return architecture_ + "." + std::string(key);
}

bool GgufMetadata::Has(std::string_view key) const { return file_.Has(Key(key)); }

std::optional<int64_t> GgufMetadata::Integer(const std::string& full) const {
  const GgufValue* value = file_.FindValue(full);
  if (value == nullptr || !value->is_array) return file_.GetInt(full);
  const std::vector<int64_t> numbers = *file_.GetIntArray(full);
  const std::string layers = Key("block_count");
  const GgufValue* count = file_.FindValue(layers);
  if (full == layers || count == nullptr || count->is_array ||
      std::ssize(numbers) != file_.GetInt(layers)) {
    Fail(fmt::format("{} is an array of {} numbers; it must be one number, or one per layer", full,
                     numbers.size()));
  }
  for (size_t layer = 1; layer < numbers.size(); ++layer) {
    if (numbers[layer] == numbers[0]) continue;
    Fail(
        fmt::format("{} differs between layers ({} in layer 0, {} in layer {}), which is not "
                    "supported yet",
                    full, numbers[0], numbers[layer], layer));
  }
  return numbers.empty() ? std::nullopt : std::optional(numbers[0]);
}

int64_t GgufMetadata::Count(std::string_view key, int64_t max,
                            std::optional<int64_t> otherwise) const {
  const std::string full = Key(key);
  read_.insert(full);
  const auto found = Integer(full);
  if (!found && !otherwise) Fail("metadata " + full + " is missing", "Convert the model again");
  const int64_t value = found ? *found : *otherwise;
  if (value < 1 || value > max) {
    Fail(fmt::format("{} is {}; it must be from 1 to {}", full, value, max));
  }
  return value;
}

int64_t GgufMetadata::CountOrZero(std::string_view key, int64_t max) const {
  const std::string full = Key(key);
  read_.insert(full);
  const int64_t value = Integer(full).value_or(0);
  if (value < 0 || value > max) {
    Fail(fmt::format("{} is {}; it must be from 0 to {}", full, value, max));
  }
  return value;
}

std::vector<int64_t> GgufMetadata::CountsOfLayers(std::string_view key, int64_t layers, int64_t max,
                                                  int64_t least) const {
  const std::string full = Key(key);
  const GgufValue* value = file_.FindValue(full);
  if (value == nullptr || !value->is_array)
    return std::vector<int64_t>(static_cast<size_t>(layers), Count(key, max));
  read_.insert(full);
  std::vector<int64_t> counts = *file_.GetIntArray(full);
  if (std::ssize(counts) != layers) {
    Fail(fmt::format("{} holds {} numbers; the model has {} layers", full, counts.size(), layers));
  }
  for (const int64_t count : counts) {
    if (count < least || count > max)
      Fail(fmt::format("{} holds {}; each must be from {} to {}", full, count, least, max));
  }
  return counts;
}

double GgufMetadata::Positive(std::string_view key, std::optional<double> otherwise) const {
  const std::string full = Key(key);
  read_.insert(full);
  const auto found = file_.GetFloat(full);
  if (!found && !otherwise) Fail("metadata " + full + " is missing", "Convert the model again");
  const double value = found ? *found : *otherwise;
  if (!std::isfinite(value) || value <= 0.0) {
    Fail(fmt::format("{} is {}; it must be a positive number", full, value));
  }
  return value;
}

double GgufMetadata::PositiveOrZero(std::string_view key) const {
  if (file_.GetFloat(Key(key)).value_or(0.0) == 0.0) {
    read_.insert(Key(key));
    return 0.0;
  }
  return Positive(key);
}

bool GgufMetadata::Flag(std::string_view key, bool otherwise) const {
  read_.insert(Key(key));
  return file_.GetBool(Key(key)).value_or(otherwise);
}

std::vector<double> GgufMetadata::Numbers(std::string_view key, int64_t count) const {
  const std::string full = Key(key);
  read_.insert(full);
  const auto numbers = file_.GetFloatArray(full);
  if (!numbers) Fail("metadata " + full + " is missing", "Convert the model again");
  if (std::ssize(*numbers) != count) {
    Fail(fmt::format("{} holds {} numbers; the model has {} layers", full, numbers->size(), count));
  }
  for (const double number : *numbers) {
    if (!std::isfinite(number)) Fail(fmt::format("{} holds {}", full, number));
  }
  return *numbers;
}

std::vector<bool> GgufMetadata::Flags(std::string_view key) const {
  const GgufValue* value = file_.FindValue(Key(key));
  if (value == nullptr || !value->is_array) return {};
  read_.insert(Key(key));
  return *file_.GetBoolArray(Key(key));
}

std::string GgufMetadata::Text(std::string_view key, const std::string& otherwise) const {
  read_.insert(Key(key));
  return file_.GetString(Key(key)).value_or(otherwise);
}

void GgufMetadata::Ignore(std::string_view key) const { read_.insert(Key(key)); }

void GgufMetadata::CheckAllRead() const {
  const std::string prefix = architecture_ + ".";
  for (const std::string& key : file_.Keys()) {
    if (!key.starts_with(prefix) || read_.contains(key)) continue;
    Fail("metadata " + Quote(key) + " is set, which is not supported yet",
         "It may change the model's numbers, so the model is not run without it");
  }
}

}  // namespace midscope
