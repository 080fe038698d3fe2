// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <QString>

#include "core/base/record.h"
#include "gui/base/view_types.h"

namespace midscope {

// Error messages as text for widgets.

// Runs `work`. Returns the message of what it throws; "" where it returns.
QString ErrorText(const std::function<void()>& work);

// The text of a head, as in TransformerLens.

// "L12H3".
QString HeadText(HeadId head);

// "L12H3" (also "attn_L12_3"). Throws Error (usage).
HeadId ReadHeadId(const QString& text);

// A duration that is about to be spent, rounded up: "12 s", "9 min", "3 h".
QString DurationText(double seconds);

// The setting's text with the names of files of ratios without their folders: for labels.
QString WithoutFolders(const QString& setting);

// The model's displayed name: the name of its file without the ending, its folder, or the last part
// of a hub's name; `otherwise` where there is none.
QString ModelLabel(const QString& model, const QString& otherwise);

// Names of places of the gold passage: ranks, or depths in percent where the task has these.

// "50 %" where the prompt's place is printed as a share (its attribute place_text), else "10"; ""
// for none.
QString PlaceName(const Record& prompt);
// The prompt's name among those of its request: "50 %", "10", "gold 3 of 8" of own text with
// pieces, "own text".
QString PromptName(const Record& prompt);
// Names of places that are not their rank, from prompts, or from a file's record of a sweep.
std::map<double, QString> PlaceNames(const std::vector<Record>& prompts,
                                     const std::vector<Record>& file_records);

// Words for the identifiers of records and their arrays, wherever people read them. Files keep the
// identifiers.

// "Attention entropy" of attention_entropy; records with a better name than their identifier's
// words are in one list.
QString RecordTitle(const std::string& record);
// "Attention entropy: entropy by layer, head (nats)".
QString ArrayTitle(const std::string& record, const Array& array);
// "entropy" of the array, without its record.
QString ArrayWords(const std::string& array);

}  // namespace midscope
