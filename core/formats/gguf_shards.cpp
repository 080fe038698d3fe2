// SPDX-License-Identifier: MIT
#include "core/formats/gguf_shards.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace midscope {
namespace {

constexpr size_t kDigits = 5;

// Removes a five-digit number and the `separator` before it from the end of `text`, and returns the
// number; 0 if `text` does not end in this way.
int64_t TakeNumber(std::string_view separator, std::string_view* text) {
  const size_t size = separator.size() + kDigits;
  if (text->size() < size) return 0;
  const std::string_view end = text->substr(text->size() - size);
  const std::string_view digits = end.substr(separator.size());
  if (!end.starts_with(separator) || !std::all_of(digits.begin(), digits.end(), IsDigit)) return 0;
  text->remove_suffix(size);
  return std::stoll(std::string(digits));
}

}  // namespace

std::string GgufShardName::OfShard(int64_t shard) const {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, shard, count);
}

std::optional<GgufShardName> ParseGgufShardName(std::string_view file_name) {
  constexpr std::string_view kEnding = ".gguf";
  if (!file_name.ends_with(kEnding)) return std::nullopt;
  file_name.remove_suffix(kEnding.size());
  const int64_t count = TakeNumber("-of-", &file_name);
  const int64_t number = count == 0 ? 0 : TakeNumber("-", &file_name);
  if (number < 1 || number > count) return std::nullopt;
  return GgufShardName{std::string(file_name), number, count};
}

bool IsLaterGgufShard(std::string_view file_name) {
  const auto name = ParseGgufShardName(file_name);
  return name && name->number > 1;
}

std::vector<std::filesystem::path> GgufModelsAmong(std::vector<std::filesystem::path> files) {
  std::erase_if(files, [](const std::filesystem::path& file) {
    return file.extension() != ".gguf" || IsLaterGgufShard(file.filename().string());
  });
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace midscope
