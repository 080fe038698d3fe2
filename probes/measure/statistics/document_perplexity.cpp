// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/document_perplexity.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "probes/base/records.h"
#include "probes/measure/statistics/intervals.h"

namespace midscope {

std::vector<DocumentPerplexity> DocumentPerplexities(std::vector<SampleOutcome> outcomes,
                                                     size_t settings) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const auto& a, const auto& b) { return a.sample < b.sample; });
  std::vector<DocumentPerplexity> documents;
  std::vector<std::vector<double>> nats;    // [document][setting]
  std::vector<std::vector<double>> scored;  // [document][setting], tokens
  for (const SampleOutcome& outcome : outcomes) {
    if (outcome.group.empty() || outcome.answer_nll.size() != settings ||
        outcome.answer_tokens.empty()) {
      return {};
    }
    const auto found = std::find_if(
        documents.begin(), documents.end(),
        [&](const DocumentPerplexity& each) { return each.document == outcome.group; });
    const auto index = static_cast<size_t>(found - documents.begin());
    if (found == documents.end()) {
      documents.push_back({outcome.group, 0, 0, {}});
      nats.emplace_back(settings);
      scored.emplace_back(settings);
    }
    ++documents[index].windows;
    documents[index].tokens += outcome.answer_tokens.front();
    for (size_t i = 0; i < settings; ++i) {
      if (!outcome.Ran(i)) continue;
      nats[index][i] += outcome.answer_nll[i];
      scored[index][i] += static_cast<double>(outcome.answer_tokens.front());
    }
  }
  for (size_t index = 0; index < documents.size(); ++index) {
    for (size_t i = 0; i < settings; ++i) {
      const double tokens = scored[index][i];
      documents[index].perplexity.push_back(tokens > 0 ? std::exp(nats[index][i] / tokens)
                                                       : kUndefined);
    }
  }
  return documents;
}

void AddDocumentPerplexity(const std::vector<DocumentPerplexity>& documents,
                           std::vector<CellStatistics>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    std::vector<double> values;
    for (const DocumentPerplexity& document : documents) {
      if (std::isfinite(document.perplexity[i])) values.push_back(document.perplexity[i]);
    }
    if (values.empty()) continue;
    cells[i].document_perplexity = Mean(values);
    const Interval interval = MeanInterval(values);
    // Clips the interval at 1, the least perplexity; NaN, for a single document, stays NaN.
    cells[i].document_perplexity_interval = {interval.low < 1 ? 1 : interval.low, interval.high};
  }
}

Record DocumentPerplexityRecord(const std::vector<std::string>& settings,
                                const std::vector<DocumentPerplexity>& documents) {
  std::vector<std::string> names;
  std::vector<double> perplexity;
  std::vector<int64_t> windows;
  std::vector<int64_t> tokens;
  for (const DocumentPerplexity& document : documents) {
    names.push_back(document.document);
    windows.push_back(document.windows);
    tokens.push_back(document.tokens);
    perplexity.insert(perplexity.end(), document.perplexity.begin(), document.perplexity.end());
  }
  Record record;
  record.name = kDocumentPerplexity;
  record.axes = {LabelledAxis("document", names), LabelledAxis("setting", settings)};
  record.arrays = {
      {"perplexity",
       {"document", "setting"},
       std::move(perplexity),
       "",
       "exp of the nats per scored token of the document"},
      {"windows", {"document"}, std::move(windows), "", "samples of the document"},
      {"tokens", {"document"}, std::move(tokens), "tokens", "scored tokens of the document"}};
  record.signal = "perplexity";
  return record;
}

}  // namespace midscope
