// SPDX-License-Identifier: MIT
// Schema 1 of results files as a table. The documentation (`midscope help schema`, data/SCHEMA.md)
// is generated from it, and a test compares written files with it. run_store.h writes such files.
#pragma once

#include <string>
#include <vector>

namespace midscope {

// A kind of HDF5 object in a results file. SchemaObjects() lists all kinds, outermost first.
struct SchemaObject {
  std::string path;  // "/entry/RECORD/ARRAY"
  std::string kind;  // "group", "data set"
  std::string meaning;
};

struct SchemaAttribute {
  std::string object;  // path of the SchemaObject with this attribute
  std::string name;
  std::string type;    // "text", "texts", "int64", "int64 or text", "reference"
  bool always = true;  // whether every object of this kind has the attribute
  std::string meaning;
};

const std::vector<SchemaObject>& SchemaObjects();
// Returns all attributes that the schema defines. Groups of records also have other attributes.
const std::vector<SchemaAttribute>& SchemaAttributes();

// Returns the documentation of the schema, as Markdown.
std::string SchemaPage();

}  // namespace midscope
