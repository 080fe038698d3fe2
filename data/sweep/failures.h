// SPDX-License-Identifier: MIT
// The record that lists the failed samples of a sweep.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/record.h"
#include "data/store/record_reader.h"

namespace midscope {

inline constexpr const char* kFailuresRecord = "failures";

// Makes the record: arrays failed_sample and failure_message [failure]. `failures`: error messages
// by sample number.
Record FailuresRecord(const std::map<int64_t, std::string>& failures);

// Reads the failures of a file that has the record. Throws Error (failure) if the record is
// damaged.
std::map<int64_t, std::string> ReadFailures(const RunReader& reader);

}  // namespace midscope
