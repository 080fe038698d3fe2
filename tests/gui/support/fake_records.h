// SPDX-License-Identifier: MIT
// The records that the fake engine plants. Their numbers are functions of places and settings.
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
// Twelve words. The answer " word" has rank 3 without a setting, and rank 1 at strength 2.
Record NextTokens(double strength);

}  // namespace midscope
