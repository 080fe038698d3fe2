// SPDX-License-Identifier: MIT
// Perplexities of documents: over the tokens of each document, and their mean over documents. The
// expected numbers are calculated by hand.
#include "probes/measure/statistics/document_perplexity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "probes/measure/statistics/outcome_statistics.h"

namespace midscope {
namespace {

SampleOutcome Window(int64_t sample, const std::string& document, double nats, int64_t tokens) {
  SampleOutcome outcome;
  outcome.sample = sample;
  outcome.group = document;
  outcome.answer_nll = {nats, 2 * nats};
  outcome.correct = {0, 0};
  outcome.answer_tokens = {tokens};
  return outcome;
}

TEST(DocumentPerplexity, IsTheMeanOverDocumentsNotOverTokens) {
  std::vector<SampleOutcome> outcomes = {
      Window(2, "document 10", 6, 2), Window(1, "document 2", 4, 3), Window(0, "document 2", 2, 3)};
  const std::vector<DocumentPerplexity> documents = DocumentPerplexities(outcomes, 2);
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].document, "document 2") << "in the order of the samples";
  EXPECT_EQ(documents[0].windows, 2);
  EXPECT_EQ(documents[0].tokens, 6);
  EXPECT_NEAR(documents[0].perplexity[0], std::exp(1.0), 1e-12);
  EXPECT_NEAR(documents[1].perplexity[0], std::exp(3.0), 1e-12);
  EXPECT_NEAR(documents[1].perplexity[1], std::exp(6.0), 1e-9);
  std::vector<CellStatistics> cells = SummariseOutcomes(outcomes, 2, 1, 1);
  AddPerplexity(outcomes, 1, cells);
  AddDocumentPerplexity(documents, cells);
  EXPECT_NEAR(cells[0].perplexity, std::exp(12.0 / 8), 1e-12);
  EXPECT_NEAR(cells[0].document_perplexity, (std::exp(1.0) + std::exp(3.0)) / 2, 1e-12);
  // Student's t for two values: mean +- 12.706 times half their difference.
  EXPECT_EQ(cells[0].document_perplexity_interval.low, 1) << "no perplexity is below 1";
  EXPECT_NEAR(
      cells[0].document_perplexity_interval.high,
      cells[0].document_perplexity + 12.706204736432095 * (std::exp(3.0) - std::exp(1.0)) / 2,
      1e-6);
  const Record means = OutcomeMeansRecord({"none", "pi(2)"}, {1}, cells);
  EXPECT_NE(means.FindArray(kDocumentPerplexity), nullptr);
  const Record record = DocumentPerplexityRecord({"none", "pi(2)"}, documents);
  EXPECT_EQ(record.FindArray("perplexity")->axes.front(), "document");
}

TEST(DocumentPerplexity, LeavesOutWindowsThatWereNotRun) {
  std::vector<SampleOutcome> outcomes = {Window(0, "a", 2, 2), Window(1, "b", 6, 2)};
  outcomes[1].failures = {"too long", ""};
  const std::vector<DocumentPerplexity> documents = DocumentPerplexities(outcomes, 2);
  EXPECT_TRUE(std::isnan(documents[1].perplexity[0]));
  std::vector<CellStatistics> cells = SummariseOutcomes(outcomes, 2, 1, 1);
  AddDocumentPerplexity(documents, cells);
  EXPECT_NEAR(cells[0].document_perplexity, std::exp(1.0), 1e-12);
  EXPECT_TRUE(std::isnan(cells[0].document_perplexity_interval.low)) << "one document";
  outcomes[0].group = "";
  EXPECT_TRUE(DocumentPerplexities(outcomes, 2).empty()) << "a text without documents";
}

}  // namespace
}  // namespace midscope
