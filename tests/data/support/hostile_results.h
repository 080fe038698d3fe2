// SPDX-License-Identifier: MIT
// Files of results that somebody made to do harm, or that no program of ours would write.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace midscope::test {

enum class Reading {
  kRefused,  // every reader throws an Error
  kPartly,   // readers that reach the fault throw
  kHarmless  // its content is odd; no reader is harmed
};

struct HostileKind {
  std::string name;
  // Writes run.h5, or run.h5.journal, and what goes with it into an empty folder.
  std::function<void(const std::string& folder)> write;
  Reading reading = Reading::kRefused;
};

const std::vector<HostileKind>& HostileKinds();

// The hostile files that are journals of a sweep of this plan.
std::vector<HostileKind> HostileJournals(const std::string& sweep_plan);

}  // namespace midscope::test
