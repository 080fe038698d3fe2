// SPDX-License-Identifier: GPL-3.0-or-later
// What numbers are called on the screen and in files: by the record that holds them, never by what
// is asked for at that moment.
#pragma once

#include <QString>
#include <vector>

#include "core/base/record.h"
#include "gui/base/view_types.h"

namespace midscope {

class Session;

// The setting that made the record, as the record says it; "" where it does not.
QString SettingOf(const Record& record);

struct RecordName {
  QString setting;     // in full; "" where neither the record nor the file's prompt says it
  QString text;        // "B: pi(1.5)", or "B, not of what is asked: pi(1.5)"; long ones shortened
  QString full;        // the same in full length
  bool older = false;  // to be marked as not of what is asked
};
// Of a side's record, which may be null: "B" alone.
RecordName NameOf(const Session& session, Side side, const Record* record);
// Both names where both are there, "B − A: ..." of a difference.
RecordName NameOfDifference(const RecordName& a, const RecordName& b);

// "SmolLM2, float32; list:lines=20, seed 1, sample 0, place 10, 271 tokens": what the numbers on
// the screen are of, beside their settings; for exported pictures.
QString PromptRequestCaption(const Provenance& provenance, const Record* prompt);
// The same of the session's, and the names in full.
QString CaptionWith(const Session& session, const std::vector<RecordName>& names);

}  // namespace midscope
