// SPDX-License-Identifier: MIT
// The documents of one of a user's lines, in the forms that retrieval logs have. Internal to data/.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"

namespace midscope {

struct OwnDocument {
  std::string text;   // "TITLE: TEXT", or the text alone if there is no title
  std::string id;     // "": none
  std::string title;  // "": none
  bool is_gold = false;
};

// Reads the documents in the field `name`: one text, or a list of texts, objects or pairs
// [title, sentences], or an object of columns. Throws Error (failure).
std::vector<OwnDocument> ReadOwnDocuments(const JsonFields& fields, const std::string& name);

// Returns an object of lists of one length, {"title": [...], "text": [...]}, as a list of objects,
// and other values unchanged.
nlohmann::json RowsOf(const nlohmann::json& columns);

// Returns the text of a string, or the digits of a number; "" for other values.
std::string TextOrDigits(const nlohmann::json& value);

}  // namespace midscope
