// SPDX-License-Identifier: MIT
// The record of a sweep's file that lists samples without numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/record.h"
#include "data/store/record_reader.h"

namespace midscope {

inline constexpr const char* kFailuresRecord = "failures";

// failed_sample, failure_message [failure]. `failures`: reasons by sample number.
Record FailuresRecord(const std::map<int64_t, std::string>& failures);

// The reverse, of a file that has the record. Throws Error (failure) if it is damaged.
std::map<int64_t, std::string> ReadFailures(const RunReader& reader);

}  // namespace midscope
