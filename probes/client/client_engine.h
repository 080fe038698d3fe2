// SPDX-License-Identifier: MIT
// The engine of a process, with the interface of one in this process (probes/engine/engine.h).
//
//   auto link = std::make_shared<EngineLink>(LocalEngine());
//   std::unique_ptr<Engine> engine = MakeClientEngine(link);
//   ModelSummary model = engine->Open({.model = "embedded"}, {});
#pragma once

#include <memory>

#include "probes/client/engine_link.h"
#include "probes/engine/engine.h"

namespace midscope {

// Calls throw what those of a local engine throw, and EngineEnded if the process ends during a call
// or has ended since the model was opened; Open starts a new process. Hooks in a CaptureRunRequest
// are not supported.
std::unique_ptr<Engine> MakeClientEngine(std::shared_ptr<EngineLink> link);

}  // namespace midscope
