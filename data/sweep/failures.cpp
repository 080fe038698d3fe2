// SPDX-License-Identifier: MIT
#include "data/sweep/failures.h"

#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"

namespace midscope {
namespace {

constexpr const char* kFailedSample = "failed_sample";
constexpr const char* kFailureMessage = "failure_message";

}  // namespace

Record FailuresRecord(const std::map<int64_t, std::string>& failures) {
  std::vector<int64_t> samples;
  std::vector<std::string> messages;
  for (const auto& [sample, message] : failures) {
    samples.push_back(sample);
    messages.push_back(message);
  }
  Record record;
  record.name = kFailuresRecord;
  record.axes = {{"failure", static_cast<int64_t>(samples.size()), "", {}, {}}};
  record.arrays = {
      {kFailedSample, {"failure"}, std::move(samples), "", "number of the sample"},
      {kFailureMessage, {"failure"}, std::move(messages), "", "why it could not be run"}};
  return record;
}

std::map<int64_t, std::string> ReadFailures(const RunReader& reader) {
  const ArrayData samples = reader.ReadArray(kFailuresRecord, kFailedSample).data;
  const ArrayData messages = reader.ReadArray(kFailuresRecord, kFailureMessage).data;
  const auto* numbers = std::get_if<std::vector<int64_t>>(&samples);
  const auto* texts = std::get_if<std::vector<std::string>>(&messages);
  if (!numbers || !texts || numbers->size() != texts->size()) {
    throw Failure(reader.path(), "has a damaged list of failed samples");
  }
  std::map<int64_t, std::string> failures;
  for (size_t i = 0; i < numbers->size(); ++i) failures[(*numbers)[i]] = (*texts)[i];
  return failures;
}

}  // namespace midscope
