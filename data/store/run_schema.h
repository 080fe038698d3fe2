// SPDX-License-Identifier: MIT
// Schema 1 of the files of results as a table: what stands where, so that the documentation
// (`midscope help schema`, data/SCHEMA.md) and the test that looks into real files have one source.
// How it is written: run_store.h.
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
// Of RECORD, what the schema uses itself; a record's own attributes stand beside them.
const std::vector<SchemaAttribute>& SchemaAttributes();

// The page, as Markdown.
std::string SchemaPage();

}  // namespace midscope
