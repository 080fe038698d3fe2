// SPDX-License-Identifier: MIT
// Answers the requests of one client: the engine as a process (PROTOCOL.md).
#pragma once

#include <memory>

#include "probes/engine/engine.h"

namespace midscope {

// Reads requests from `input` and writes answers to `output`, which it closes, until the input
// ends; then cancels what is running. Requests for the model run one after the other; a newer
// what_if supersedes waiting and running ones. Never throws; returns the exit status, 0.
int ServeClient(int input, int output, std::unique_ptr<Engine> engine);

}  // namespace midscope
