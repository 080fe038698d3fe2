// SPDX-License-Identifier: MIT
// An engine in another process, with the interface of a local engine (probes/engine/engine.h).
#pragma once

#include <memory>

#include "probes/client/engine_link.h"
#include "probes/engine/engine.h"

namespace midscope {

// Returns an engine whose calls throw the same exceptions as those of an engine in this process,
// and EngineEnded if the engine process ends during a call or has ended since the model was opened;
// Open starts a new process. Hooks in a CaptureRunRequest are not supported.
std::unique_ptr<Engine> MakeClientEngine(std::shared_ptr<EngineLink> link);

}  // namespace midscope
