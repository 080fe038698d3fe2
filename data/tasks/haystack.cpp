// SPDX-License-Identifier: MIT
#include "data/tasks/haystack.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/tasks/word_lists.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostTextBytes = uint64_t{256} << 20;

std::vector<fs::path> TextFiles(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (auto entry = fs::directory_iterator(path, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".txt") files.push_back(entry->path());
  }
  if (error) throw Failure(path.string(), "cannot be read: " + error.message());
  if (files.empty()) throw Failure(path.string(), "the folder must contain a file *.txt");
  std::sort(files.begin(), files.end());
  return files;
}

void AppendFile(const fs::path& path, std::string& text) {
  if (PathExists(path) && !fs::is_regular_file(path)) {
    throw Failure(path.string(), "is not a file", "Give a text file or a folder of them");
  }
  const std::string part = ReadWholeFile(path.string(), kMostTextBytes - text.size(),
                                         "256 MiB, together with the files before it");
  CheckUtf8(path.string(), part);
  text += PlainText(part);
}

std::string Sentence(SplitMix64& random) {
  // Sentence templates. Placeholders: A is an adjective, N a noun, P a person.
  static constexpr std::array<const char*, 12> kForms = {
      "The A N stood next to the A N for most of the year.",
      "P kept a N in the A drawer and never spoke of it.",
      "Nobody could say why the N was so A that morning.",
      "In the end the A N turned out to be as A as the N.",
      "P and P agreed that a A N needs a A N.",
      "Some say that every N has its A side.",
      "There was a A N on the table, and beside it a N.",
      "When the A N was gone, P looked for another N.",
      "A good N is A, but a better one is also A.",
      "The N that P had painted looked A in the light.",
      "It takes a A N to make P think of a N.",
      "Later P wrote that the N had been A all along."};
  const std::string form = kForms[random.Below(kForms.size())];
  std::string sentence;
  for (size_t i = 0; i < form.size(); ++i) {
    const bool alone =
        (i == 0 || form[i - 1] == ' ') &&
        (i + 1 == form.size() || form[i + 1] == ' ' || form[i + 1] == '.' || form[i + 1] == ',');
    const bool article = i == 0 && form.starts_with("A good");
    const auto pick = [&](const std::vector<std::string>& words) {
      sentence += words[random.Below(words.size())];
    };
    if (alone && form[i] == 'A' && !article) {
      pick(PlainAdjectives());
    } else if (alone && form[i] == 'N') {
      pick(PlainNouns());
    } else if (alone && form[i] == 'P') {
      pick(FirstNames());
    } else {
      sentence += form[i];
    }
  }
  return sentence;
}

}  // namespace

std::string ReadHaystack(const std::string& path) {
  std::string text;
  for (const fs::path& file : TextFiles(path)) AppendFile(file, text);
  if (text.empty()) throw Failure(path, "the text is empty");
  return text;
}

std::string MakeHaystack(int64_t bytes, SplitMix64 random) {
  constexpr int kSentences = 6;  // sentences per paragraph
  std::string text;
  while (static_cast<int64_t>(text.size()) < bytes) {
    if (!text.empty()) text += "\n\n";
    for (int i = 0; i < kSentences; ++i) text += (i > 0 ? " " : "") + Sentence(random);
  }
  return text;
}

std::string RepeatedText(const std::string& text, int64_t bytes, uint64_t offset) {
  size_t begin = 0;
  if (offset > 0) {
    const size_t stop = text.find(". ", offset % text.size());
    begin = stop == std::string::npos ? 0 : stop + 2;
  }
  std::string repeated = text.substr(begin);
  while (static_cast<int64_t>(repeated.size()) < bytes) repeated += text;
  return repeated;
}

}  // namespace midscope
