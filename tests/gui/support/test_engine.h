// SPDX-License-Identifier: MIT
// The engine process of tests of the window: a child or, if MIDSCOPE_TEST_REMOTE is set
// (over_ssh.sh), the process that this command reaches.
#pragma once

#include <cstdlib>
#include <memory>

#include "probes/client/engine_link.h"

namespace midscope::test {

inline std::shared_ptr<EngineLink> TestEngine() {
  const char* remote = std::getenv("MIDSCOPE_TEST_REMOTE");
  return std::make_shared<EngineLink>(remote ? RemoteEngine(remote) : LocalEngine());
}

}  // namespace midscope::test
