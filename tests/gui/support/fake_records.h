// SPDX-License-Identifier: MIT
// The records that the fake engine plants: numbers that follow from places and settings.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/intervention/intervention.h"

namespace midscope {

Record PromptOf(int64_t place);
Record AttentionRecord(int64_t place, double strength);
Record CountedKeysRecord(double strength);
Record PerHead(const std::string& record_name, const std::string& array,
               const std::function<float(int64_t, int64_t)>& value);
Record HiddenRecord(const std::vector<int64_t>& channels, double strength);
Record OutcomeRecord(const std::string& setting, const std::vector<int64_t>& places,
                     double strength);
Record MeansRecord(const std::vector<Intervention>& settings, const std::vector<int64_t>& places,
                   int64_t samples);
// Twelve words; the answer " word" is the third under no setting, and first under a strength of 2.
Record NextTokens(double strength);

}  // namespace midscope
