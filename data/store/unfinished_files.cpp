// SPDX-License-Identifier: MIT
#include "data/store/unfinished_files.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace midscope {
namespace {

constexpr std::string_view kRank = ".rank";

// For the name of a part of `file` ("run.h5.rank3") or of the part's journal, returns the part's
// number; nullopt for other files.
std::optional<int64_t> PartNumber(std::string_view name, std::string_view file) {
  if (!name.starts_with(file) || !name.substr(file.size()).starts_with(kRank)) return std::nullopt;
  name.remove_prefix(file.size() + kRank.size());
  if (name.ends_with(kJournalEnding)) name.remove_suffix(std::string_view(kJournalEnding).size());
  int64_t number = -1;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failed != std::errc() || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

// Returns the first bytes of a file: as many as kJournalMark has, or fewer if the file is shorter.
std::string FirstBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kJournalMark.size(), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

}  // namespace

std::string JournalPath(const std::string& path) { return path + kJournalEnding; }

bool HasJournal(const std::string& path) {
  const std::string journal = JournalPath(path);
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(journal, failed);
  if (failed) return std::filesystem::exists(journal, failed);
  return size > kJournalHeadBytes || !BeginsJournal(FirstBytes(journal));
}

bool IsJournal(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && FirstBytes(path) == kJournalMark;
}

bool BeginsJournal(std::string_view bytes) {
  return kJournalMark.starts_with(bytes.substr(0, kJournalMark.size()));
}

std::string FileOfJournal(const std::string& path) {
  return path.ends_with(kJournalEnding)
             ? path.substr(0, path.size() - std::string_view(kJournalEnding).size())
             : path;
}

std::string RankPath(const std::string& path, int64_t number) {
  return fmt::format("{}{}{}", path, kRank, number);
}

std::vector<std::string> RankParts(const std::string& path) {
  std::vector<std::string> parts;
  for (const int64_t number : RankNumbers(path)) parts.push_back(RankPath(path, number));
  return parts;
}

std::set<int64_t> RankNumbers(const std::string& path) {
  const std::filesystem::path file(path);
  std::set<int64_t> numbers;
  std::error_code ignored;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const auto number = PartNumber(entry.path().filename().string(), file.filename().string());
    if (number) numbers.insert(*number);
  }
  return numbers;
}

void RemoveRankParts(const std::string& path) {
  std::error_code ignored;
  for (const std::string& part : RankParts(path)) {
    std::filesystem::remove(JournalPath(part), ignored);
    std::filesystem::remove(part, ignored);
  }
}

}  // namespace midscope
