// SPDX-License-Identifier: MIT
#include "probes/client/sent_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/hashes.h"
#include "probes/serve/message.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostBytes = 16 << 20;
constexpr std::string_view kEnds = "(),=+:\"";  // end a file name in a setting or task

bool IsFileHere(const std::string& name) {
  std::error_code failed;
  return name.find_first_of("./") != std::string::npos && fs::is_regular_file(name, failed);
}

}  // namespace

std::string SentFiles::NameThere(const std::string& path, const std::string& suffix) {
  std::error_code failed;
  if (fs::file_size(path, failed) > kMostBytes && !failed) {
    throw UsageError(path, "it is larger than 16 MB, the most that is sent to an engine",
                     "Copy it to the engine's machine, and give its name there");
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw Failure(path, "it cannot be read");
  return SentText(text, suffix);
}

std::string SentFiles::SentText(const std::string& text, const std::string& suffix) {
  ContentHash hash(ContentHashKind::kSha256, std::ssize(text));
  hash.Add(std::as_bytes(std::span(text)));
  const std::string digest = hash.Finish();
  const std::lock_guard lock(mutex_);
  std::string& name = names_[digest];
  if (name.empty()) {
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    const Message answer =
        link_.Call("write_file", {{"data", Message::binary(bytes)}, {"suffix", suffix}});
    name = answer.value("path", "");
  }
  return name;
}

std::string SentFiles::Sent(const std::string& text) {
  if (!link_.command().remote) return text;
  std::string sent;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find_first_of(kEnds, begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    sent += IsFileHere(word) ? NameThere(word, fs::path(word).extension().string()) : word;
    if (end < text.size()) sent += text[end];
    begin = end + 1;
  }
  return sent;
}

std::string SentFiles::SentFile(const std::string& path) {
  if (!link_.command().remote || !IsFileHere(path)) return path;
  return NameThere(path, "-" + fs::path(path).filename().string());
}

}  // namespace midscope
