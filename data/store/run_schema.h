// SPDX-License-Identifier: MIT
// Schema 1 of results files as a table, from which the documentation (`midscope help schema`,
// data/SCHEMA.md) and the test of real files are generated. run_store.h writes such files.
#pragma once

#include <string>
#include <vector>

namespace midscope {

// A kind of object in a file; SchemaObjects() lists them outermost first.
struct SchemaObject {
  std::string path;  // "/entry/RECORD/ARRAY"
  std::string kind;  // "group", "data set"
  std::string meaning;
};

struct SchemaAttribute {
  std::string object;  // path of its SchemaObject
  std::string name;
  std::string type;    // "text", "texts", "int64", "int64 or text", "reference"
  bool always = true;  // whether every object of the kind has it
  std::string meaning;
};

const std::vector<SchemaObject>& SchemaObjects();
// Attributes that the schema defines. The group of a record also has the record's own attributes.
const std::vector<SchemaAttribute>& SchemaAttributes();

// Returns the documentation of the schema, as Markdown.
std::string SchemaPage();

}  // namespace midscope
