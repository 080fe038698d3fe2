// SPDX-License-Identifier: MIT
// What to scan, as described options: of `midscope scan` and of the window's form.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "probes/scan/scan_kind.h"

namespace midscope {

// over, with, layers, channels, pairs, span.
std::vector<Parameter> ScanParameters();

// Of these options. Throws Error (usage): a text that cannot be read, an option of another kind
// than the one that is scanned.
ScanRange ReadScanRange(const OptionSet& options);

}  // namespace midscope
