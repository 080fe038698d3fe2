// SPDX-License-Identifier: MIT
#include "data/sweep/journal_summary.h"

#include "data/store/plan_text.h"
#include "data/sweep/sweep_journal.h"

namespace midscope {

JournalSummary SummariseJournal(const std::string& path) {
  JournalSummary summary;
  SweepJournal journal(path, JournalAccess::kReadUnlocked);
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
