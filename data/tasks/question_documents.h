// SPDX-License-Identifier: MIT
// Questions with the documents that answer them, from files of SQuAD and HotpotQA. Internal to
// data/.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace midscope {

struct DocumentQuestion {
  std::string question;
  std::vector<std::string> answers;
  // Indices of documents: those that answer, then others that come with the question whatever the
  // length, then those of the same article, which come before any other.
  std::vector<size_t> gold;
  std::vector<size_t> own;
  std::vector<size_t> related;
};

struct QuestionDocuments {
  std::vector<std::string> documents;  // all different, sorted
  std::vector<DocumentQuestion> questions;
};

// SQuAD: {"data": [{"paragraphs": [{"context", "qas": [...]}]}]}, without questions that are
// impossible. HotpotQA: [{"question", "answer", "context": [[title, [sentences]]],
// "supporting_facts": [[title, number]]}]; a document is its title and its text. Throws Error
// (failure) that names the file and the item: it can't be read, is larger than 1 GiB or of another
// form.
QuestionDocuments ReadQuestionDocuments(const std::string& path);

}  // namespace midscope
