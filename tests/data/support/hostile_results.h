// SPDX-License-Identifier: MIT
// Results files that were made to do harm, or that no program of this project would write.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace midscope::test {

enum class Reading {
  kRefused,  // every reader throws an Error
  kPartly,   // readers that reach the fault throw an Error
  kHarmless  // unusual content that harms no reader
};

struct HostileKind {
  std::string name;
  // Writes run.h5 or run.h5.journal, and files that belong to it, into an empty folder.
  std::function<void(const std::string& folder)> write;
  Reading reading = Reading::kRefused;
};

const std::vector<HostileKind>& HostileKinds();

// The hostile files that are journals of a sweep with this plan.
std::vector<HostileKind> HostileJournals(const std::string& sweep_plan);

}  // namespace midscope::test
