// SPDX-License-Identifier: MIT
// Reads documents one by one: a text field of each line of a JSONL file, or the files of a folder.
#pragma once

#include <functional>
#include <string>

namespace midscope {

// Receives a document's name ("document 3", "book.txt") and text; returns whether to read another.
using OnDocument = std::function<bool(const std::string& name, std::string text)>;

// Whether the name ends in .jsonl or .jsonl.gz.
bool IsJsonLinesFile(const std::string& path);

// Throws Error (usage), which lists the text fields of the file's first line, for a task `task`
// that got a JSONL file without the name of a field (its lines are JSON objects, not text).
[[noreturn]] void RefuseWithoutField(const std::string& task, const std::string& path);

// Calls `document` for the text in `field` of every line of a JSONL file or, if `field` is empty,
// for every file *.txt of a folder, by name; stops when it returns false. Throws Error (failure) if
// a file cannot be read or is not UTF-8, or if a line lacks the field.
void ForEachDocument(const std::string& path, const std::string& field, const OnDocument& document);

}  // namespace midscope
