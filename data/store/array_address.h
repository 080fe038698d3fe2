// SPDX-License-Identifier: MIT
// Addresses of arrays without their record.
#pragma once

#include <string_view>

#include "data/store/record_reader.h"

namespace midscope {

// As ParseRunAddress, but "run.h5::ARRAY" becomes "run.h5::RECORD/ARRAY" if no record has that name
// and only one has that array. Throws Error (failure) if several have it. `reader`: of the file.
RunAddress FindRunAddress(std::string_view address, const RunReader& reader);

}  // namespace midscope
