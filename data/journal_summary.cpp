// SPDX-License-Identifier: MIT
#include "data/journal_summary.h"

#include <filesystem>
#include <fstream>

#include "data/plan_text.h"
#include "data/sweep_journal.h"

namespace midscope {

bool IsJournal(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kJournalMark.size(), '\0');
  return file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) &&
         bytes == kJournalMark;
}

std::string FileOfJournal(const std::string& path) {
  return path.ends_with(kJournalEnding)
             ? path.substr(0, path.size() - std::string_view(kJournalEnding).size())
             : path;
}

JournalSummary SummariseJournal(const std::string& path) {
  JournalSummary summary;
  SweepJournal journal(path, JournalAccess::kLook);
  summary.torn_bytes = journal.Load([&](const JournalEntry& entry, int64_t) {
    switch (entry.kind) {
      case JournalEntry::Kind::kPlan:
        CheckJsonText(path, "plan", entry.text);
        summary.plan_json = entry.text;
        break;
      case JournalEntry::Kind::kSample:
        summary.finished.insert(entry.sample);
        summary.failed.erase(entry.sample);
        break;
      case JournalEntry::Kind::kFailure:
        summary.failed.insert(entry.sample);
        break;
    }
  });
  return summary;
}

}  // namespace midscope
