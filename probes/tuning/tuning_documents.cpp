// SPDX-License-Identifier: MIT
#include "probes/tuning/tuning_documents.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/hashes.h"
#include "data/tasks/data_folder.h"
#include "data/tasks/haystack.h"
#include "data/tasks/text_documents.h"

namespace midscope {
namespace {

// Collects documents until there are enough.
class DocumentReader {
 public:
  DocumentReader(const DocumentRequest& request, const Tokenizer& tokenizer,
                 const JobContext& context)
      : request_(request), tokenizer_(tokenizer), context_(context) {
    if (tokenizer.add_bos()) begin_ = tokenizer.begin_ids();
    waiting_ = begin_;
  }

  // Returns whether another document is needed.
  bool Add(const std::string& text) {
    context_.ThrowIfCancelled();
    const bool joins = request_.packing == DocumentPacking::kJoin;
    if (joins && waiting_.size() > begin_.size() && tokenizer_.eos_id())
      waiting_.push_back(*tokenizer_.eos_id());
    const std::vector<int32_t> ids = tokenizer_.EncodeIds(text);
    waiting_.insert(waiting_.end(), ids.begin(), ids.end());
    const bool is_enough = std::ssize(waiting_) >= request_.least_tokens;
    longest_ = std::max(longest_, std::ssize(waiting_));
    if (is_enough) {
      documents_.ids.push_back(std::move(waiting_));
      context_.Report(
          {"read documents", std::ssize(documents_.ids), request_.documents, "documents"});
    } else if (!joins) {
      ++documents_.left_out;
    }
    if (is_enough || !joins) waiting_ = begin_;
    return std::ssize(documents_.ids) < request_.documents;
  }

  TuningDocuments Finish() {
    if (documents_.ids.empty()) {
      const bool joins = request_.packing == DocumentPacking::kJoin;
      throw Failure(
          "data",
          fmt::format("a sample needs {} tokens; {} {}", request_.least_tokens,
                      joins ? "all documents together have" : "the longest document has", longest_),
          joins ? "Give more data, or fewer --tokens"
                : "Give fewer --tokens, or --packing join to join documents");
    }
    return std::move(documents_);
  }

 private:
  const DocumentRequest& request_;
  const Tokenizer& tokenizer_;
  const JobContext& context_;
  std::vector<int32_t> begin_;
  std::vector<int32_t> waiting_;  // the document that is being made
  int64_t longest_ = 0;
  TuningDocuments documents_;
};

std::vector<std::string> DocumentFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const std::vector<std::string> found = DataFiles(path, {".txt", ".jsonl", ".jsonl.gz"});
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace

TuningDocuments ReadTuningDocuments(const DocumentRequest& request, const Tokenizer& tokenizer,
                                    const JobContext& context) {
  DocumentReader reader(request, tokenizer, context);
  bool is_needed = true;
  for (const std::string& file : DocumentFiles(request.files)) {
    if (!is_needed) break;
    if (IsJsonLinesFile(file)) {
      ForEachDocument(file, request.field, [&](const std::string&, const std::string& text) {
        return is_needed = reader.Add(text);
      });
    } else {
      is_needed = reader.Add(ReadHaystack(file));
    }
  }
  return reader.Finish();
}

std::string DocumentFilesHash(const std::vector<std::string>& files) {
  std::string hashes;
  for (const std::string& file : DocumentFiles(files)) hashes += HashFile(file) + "\n";
  return HashBytes(std::as_bytes(std::span(hashes)));
}

}  // namespace midscope
