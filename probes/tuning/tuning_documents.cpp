// SPDX-License-Identifier: MIT
#include "probes/tuning/tuning_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/hashes.h"
#include "data/formats/json_lines.h"
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
    if (!request.chat && tokenizer.add_bos()) begin_ = tokenizer.begin_ids();
    Begin();
  }

  bool AddText(const std::string& text) {
    return Add({tokenizer_.EncodeIds(text), {}}, tokenizer_.eos_id());
  }
  bool AddConversation(const JsonFields& line) {
    return Add(ConversationDocument(line, *request_.chat, tokenizer_), std::nullopt);
  }

  TuningDocuments Finish() {
    if (documents_.documents.empty()) {
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
  void Begin() { waiting_ = {begin_, std::vector<uint8_t>(request_.chat ? begin_.size() : 0)}; }

  // `separator`: token between joined documents. Returns whether another document is needed.
  bool Add(const TuningDocument& added, std::optional<int32_t> separator) {
    context_.ThrowIfCancelled();
    const bool joins = request_.packing == DocumentPacking::kJoin;
    if (joins && waiting_.ids.size() > begin_.size() && separator)
      waiting_.ids.push_back(*separator);
    waiting_.ids.insert(waiting_.ids.end(), added.ids.begin(), added.ids.end());
    waiting_.in_loss.insert(waiting_.in_loss.end(), added.in_loss.begin(), added.in_loss.end());
    const int64_t tokens = std::ssize(waiting_.ids);
    const bool is_enough = tokens >= request_.least_tokens;
    longest_ = std::max(longest_, tokens);
    std::vector<TuningDocument>& documents = documents_.documents;
    if (is_enough) {
      documents.push_back(std::move(waiting_));
      context_.Report({"read documents", std::ssize(documents), request_.documents, "documents"});
    } else if (!joins) {
      ++documents_.left_out;
    }
    if (is_enough || !joins) Begin();
    return std::ssize(documents) < request_.documents;
  }

  const DocumentRequest& request_;
  const Tokenizer& tokenizer_;
  const JobContext& context_;
  std::vector<int32_t> begin_;
  TuningDocument waiting_;  // the document that is being made
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
    if (request.chat) {
      ForEachJsonLine(file, [&](const JsonFields& line) {
        if (is_needed) is_needed = reader.AddConversation(line);
      });
    } else if (IsJsonLinesFile(file)) {
      ForEachDocument(file, request.field, [&](const std::string&, const std::string& text) {
        return is_needed = reader.AddText(text);
      });
    } else {
      is_needed = reader.AddText(ReadHaystack(file));
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
