// SPDX-License-Identifier: GPL-3.0-or-later
// What panels keep in session files (gui/files/session_file.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gui/base/view_types.h"

namespace midscope {

struct PanelState {
  int64_t channel = 100;
  int64_t samples = 20;  // of the means
  std::optional<HeadId> head;
  std::string probe_options = "{}";  // CaptureRunRequest::probe_options
};

}  // namespace midscope
