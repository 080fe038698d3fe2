// SPDX-License-Identifier: MIT
// Reads the documents of one line of a user's file, in the forms that occur in retrieval logs.
// Internal to data/.
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

// Reads the documents in the field `name`: one text, a list of texts, objects or pairs [title,
// sentences], or an object of columns. Throws Error (failure) for anything else.
std::vector<OwnDocument> ReadOwnDocuments(const JsonFields& fields, const std::string& name);

// Converts an object of equally long lists, {"title": [...], "text": [...]}, to a list of objects;
// returns other values unchanged.
nlohmann::json RowsOf(const nlohmann::json& columns);

// Returns the text of a string, or the digits of a number; "" for other values.
std::string TextOrDigits(const nlohmann::json& value);

}  // namespace midscope
