// SPDX-License-Identifier: MIT
#include "data/tasks/own_documents.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/tasks/own_lines.h"

namespace midscope {
namespace {

using Json = nlohmann::json;

// Fields that mark a document as gold (it contains the answer).
constexpr const char* kGoldMarks[] = {"isgold",      "is_gold",       "gold",       "relevant",
                                      "is_relevant", "is_supporting", "is_selected"};

// Fields with the identifier of a document, to which the line's field `gold` may refer.
constexpr const char* kIdFields[] = {"id",          "_id",        "id_", "doc_id",  "docid",
                                     "document_id", "passage_id", "pid", "chunk_id"};

// Fields with an inner object that contains the document's text, as in LlamaIndex, LangChain,
// Qdrant, Elasticsearch and Pinecone.
constexpr const char* kInnerDocuments[] = {"node",    "kwargs",  "document", "doc",
                                           "payload", "_source", "metadata"};

// Returns a JSON string, or a list of sentences joined to one text; nullopt for other values.
std::optional<std::string> TextIn(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const auto is_text = [](const Json& sentence) { return sentence.is_string(); };
  if (!value.is_array() || value.empty() || !std::all_of(value.begin(), value.end(), is_text))
    return std::nullopt;
  std::string text;
  for (const Json& sentence : value) {
    const auto& words = sentence.get_ref<const std::string&>();
    if (!text.empty() && !words.starts_with(' ') && !text.ends_with(' ')) text += ' ';
    text += words;
  }
  return text;
}

std::optional<std::string> TextOf(const Json& document) {
  for (const std::string& key : TextFieldNames()) {
    const auto value = document.find(key);
    if (value == document.end()) continue;
    if (auto text = TextIn(*value)) return text;
  }
  return std::nullopt;
}

bool IsMarked(const Json& document) {
  return std::any_of(std::begin(kGoldMarks), std::end(kGoldMarks), [&](const char* key) {
    const auto mark = document.find(key);
    if (mark == document.end()) return false;
    return mark->is_boolean() ? mark->get<bool>() : mark->is_number_integer() && *mark == 1;
  });
}

// Sets identifier, title and gold mark of the document from a JSON object; returns the text.
std::optional<std::string> ReadObject(const Json& object, OwnDocument& document) {
  for (const char* key : kIdFields) {
    const auto id = object.find(key);
    if (id == object.end() || !document.id.empty()) continue;
    document.id = TextOrDigits(*id);
  }
  const auto title = object.find("title");
  if (title != object.end() && title->is_string()) document.title = title->get<std::string>();
  document.is_gold = document.is_gold || IsMarked(object);
  std::optional<std::string> text = TextOf(object);
  for (const char* key : kInnerDocuments) {
    const auto inner = object.find(key);
    if (!text && inner != object.end() && inner->is_object()) text = ReadObject(*inner, document);
  }
  return text;
}

OwnDocument ReadDocument(const JsonFields& fields, const std::string& name, const Json& value) {
  OwnDocument document;
  std::optional<std::string> text;
  if (value.is_object()) {
    text = ReadObject(value, document);
    if (!text) {
      fields.Fail("has a document in " + Quote(name) + " without a text; its text must be named " +
                  Joined(TextFieldNames(), " or "));
    }
  } else if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_array()) {
    document.title = value[0].get<std::string>();
    text = TextIn(value[1]);
  } else {
    text = value.is_string() ? TextIn(value) : std::nullopt;
  }
  if (!text) {
    fields.Fail("has a field " + Quote(name) +
                " with a document that is neither text nor object nor [title, sentences]");
  }
  if (text->empty()) {
    fields.Fail("has an empty document in " + Quote(name));
  }
  document.text = document.title.empty() ? *text : document.title + ": " + *text;
  return document;
}

}  // namespace

std::string TextOrDigits(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : "";
}

Json RowsOf(const Json& columns) {
  if (!columns.is_object() || columns.empty()) return columns;
  const size_t size = columns.begin()->is_array() ? columns.begin()->size() : 0;
  const bool alike = std::all_of(columns.begin(), columns.end(), [&](const Json& column) {
    return column.is_array() && column.size() == size;
  });
  if (!alike) return columns;
  Json rows = Json::array();
  for (size_t i = 0; i < size; ++i) {
    Json row = Json::object();
    for (const auto& [key, column] : columns.items()) row[key] = column[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<OwnDocument> ReadOwnDocuments(const JsonFields& fields, const std::string& name) {
  const Json value = RowsOf(fields.Need(name));
  if (value.is_string()) return {ReadDocument(fields, name, value)};
  if (!value.is_array()) fields.Fail("has a field " + Quote(name) + " that is not a list");
  std::vector<OwnDocument> documents;
  documents.reserve(value.size());
  for (const Json& one : value) documents.push_back(ReadDocument(fields, name, one));
  return documents;
}

}  // namespace midscope
