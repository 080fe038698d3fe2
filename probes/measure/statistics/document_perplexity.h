// SPDX-License-Identifier: MIT
// Perplexities of the documents of a text task, and their mean over documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/measure/statistics/outcome_measures.h"
#include "probes/measure/statistics/outcome_statistics.h"

namespace midscope {

// Name of the record of perplexities, and of the array of means in record outcome_means.
inline constexpr const char* kDocumentPerplexity = "document_perplexity";

struct DocumentPerplexity {
  std::string document;            // name: SampleOutcome::group of its windows
  int64_t windows = 0;             // samples
  int64_t tokens = 0;              // scored tokens
  std::vector<double> perplexity;  // [setting]; NaN if the setting was run on none of its windows
};

// Returns exp(nats / scored tokens) of every document, over its windows on which the setting was
// run, in the order of their first samples. Empty if the outcomes have no documents or no
// likelihoods. The task has one place.
std::vector<DocumentPerplexity> DocumentPerplexities(std::vector<SampleOutcome> outcomes,
                                                     size_t settings);

// Sets document_perplexity of the cells to the mean over documents, each with the same weight, as
// in Table 3 of CREAM (arXiv 2406.07138), with an interval by Student's t over documents. `cells`:
// [setting].
void AddDocumentPerplexity(const std::vector<DocumentPerplexity>& documents,
                           std::vector<CellStatistics>& cells);

// Makes record document_perplexity: perplexity [document, setting], windows and tokens [document].
Record DocumentPerplexityRecord(const std::vector<std::string>& settings,
                                const std::vector<DocumentPerplexity>& documents);

}  // namespace midscope
