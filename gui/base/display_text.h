// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QString>

#include "core/base/record.h"
#include "gui/base/view_types.h"

namespace midscope {

// Texts of error messages for widgets.

// Runs `work`. Returns the message of the exception that it throws, or "" if it returns.
QString ErrorText(const std::function<void()>& work);

// The name of a head, in the notation of TransformerLens.

// Returns text such as "L12H3".
QString HeadText(HeadId head);

// Reads "L12H3" or "attn_L12_3". Throws Error (usage) for any other text.
HeadId ReadHeadId(const QString& text);

// Text of an expected duration, rounded up: "12 s", "9 min", "3 h".
QString DurationText(double seconds);
// Returns an action with its cost: "Scan: 6750 runs, about 2 min"; without a time if it is unknown.
QString WithCost(const QString& action, const QString& work, std::optional<double> seconds);

// The setting's text for labels: paths of ratio files are reduced to file names.
QString WithoutFolders(const QString& setting);

// The model's displayed name: its file name without the extension, its folder's name, or the last
// part of its name on the hub; `otherwise` if there is none.
QString ModelLabel(const QString& model, const QString& otherwise);

// Displayed names of the places of the gold passage: ranks, or depths in percent for tasks that
// define places by depth.

// "50 %" if the prompt's place is printed as a share (its attribute place_text), else its rank,
// such as "10"; "" if it has no place.
QString PlaceName(const Record& prompt);
// The prompt's name among the prompts of its request: "50 %", "10", "gold 3 of 8" (the user's own
// text with pieces), or "own text".
QString PromptName(const Record& prompt);
// Names of the places whose name differs from their rank, by place. Read from the prompts and from
// the sweep records of a file.
std::map<double, QString> PlaceNames(const std::vector<Record>& prompts,
                                     const std::vector<Record>& file_records);

// Displayed words for the identifiers of records and their arrays. Files contain the identifiers.

// Returns "Attention entropy" for attention_entropy. Records with a better title than the words of
// their identifier are in one list.
QString RecordTitle(const std::string& record);
// Returns text such as "Attention entropy: entropy by layer, head (nats)".
QString ArrayTitle(const std::string& record, const Array& array);
// The name of the array without the name of its record, such as "entropy".
QString ArrayWords(const std::string& array);
// Returns the name followed by the unit: "entropy (nats)".
QString NameWithUnit(const std::string& name, const std::string& unit);

}  // namespace midscope
