// SPDX-License-Identifier: GPL-3.0-or-later
// Captions for numbers on the screen and in files. They are made from the record that contains the
// numbers, not from the requested setting.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/base/view_types.h"

namespace midscope {

class Session;

// The setting that the record was made with, from its attribute; "" if it has none.
QString SettingOf(const Record& record);

struct RecordName {
  QString setting;  // in full; "" if neither the record nor the file's prompt has it
  // "B: pi(1.5)", or "B, older setting: pi(1.5)". A long setting is elided; a named one is
  // shown by its name (SettingMarks). During a run: "B: ms-poe (12 of 30 layers done)".
  QString text;
  QString full;        // the same without elision, beside the name
  bool older = false;  // marked as not of the requested setting
};
// The caption of a side's record; "B" alone if `record` is null.
RecordName NameOf(const Session& session, Side side, const Record* record);
// The caption of a difference, "B − A (...; ...)", from the captions of both records.
RecordName NameOfDifference(const RecordName& a, const RecordName& b);

// The records that have arrived, sorted by name: for each name the record of A, else of B.
struct NamedRecord {
  std::string name;  // its name in the session
  const Record* record = nullptr;
};
std::vector<NamedRecord> RecordsOfEitherSide(const Session& session);

// Model and prompt of the numbers on the screen, for exported pictures: "SmolLM2, float32;
// list:lines=20, seed 1, sample 0, place 10, 271 tokens".
QString PromptRequestCaption(const Provenance& provenance, const Record* prompt);
// Model and prompt of the session's numbers, followed by the full names of the records.
QString CaptionWith(const Session& session, const std::vector<RecordName>& names);

}  // namespace midscope
