// SPDX-License-Identifier: GPL-3.0-or-later
// Names of numbers on the screen and in files, from the record that holds them, not from the
// requested setting.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/base/view_types.h"

namespace midscope {

class Session;

// The setting that made the record, from its attribute; "" where it has none.
QString SettingOf(const Record& record);

struct RecordName {
  QString setting;  // in full; "" where neither the record nor the file's prompt has it
  // "B: pi(1.5)", or "B, not of what is asked: pi(1.5)"; elided where long, the setting's name
  // where it has one (SettingMarks). During a run: "B: ms-poe (12 of 30 layers done)".
  QString text;
  QString full;        // the same in full length, beside the name
  bool older = false;  // marked as not of the requested setting
};
// Name of a side's record; for null "B" alone.
RecordName NameOf(const Session& session, Side side, const Record* record);
// "B − A: ..." of a difference where both exist.
RecordName NameOfDifference(const RecordName& a, const RecordName& b);

// "SmolLM2, float32; list:lines=20, seed 1, sample 0, place 10, 271 tokens": model and prompt of
// the numbers on the screen, for exported pictures.
// The records that have arrived, sorted by name: of each name that of A, else that of B.
struct NamedRecord {
  std::string name;  // under which the session has it
  const Record* record = nullptr;
};
std::vector<NamedRecord> RecordsOfEitherSide(const Session& session);

QString PromptRequestCaption(const Provenance& provenance, const Record* prompt);
// As above, for the session, with the full names.
QString CaptionWith(const Session& session, const std::vector<RecordName>& names);

}  // namespace midscope
