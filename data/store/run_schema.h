// SPDX-License-Identifier: MIT
// Schema 1 of the results files as a table, the one source of the documentation (`midscope help
// schema`, data/SCHEMA.md) and of the test that checks real files. Writing: run_store.h.
#pragma once

#include <string>
#include <vector>

namespace midscope {

// Kinds of objects in a file, outermost first.
struct SchemaObject {
  std::string path;  // "/entry/RECORD/ARRAY"
  std::string kind;  // "group", "data set"
  std::string meaning;
};

struct SchemaAttribute {
  std::string object;  // path of its SchemaObject
  std::string name;
  std::string type;    // "text", "texts", "int64", "int64 or text", "reference"
  bool always = true;  // whether every such object has it
  std::string meaning;
};

const std::vector<SchemaObject>& SchemaObjects();
// Attributes of RECORD that the schema defines; a record's own attributes are beside them.
const std::vector<SchemaAttribute>& SchemaAttributes();

// The page, as Markdown.
std::string SchemaPage();

}  // namespace midscope
