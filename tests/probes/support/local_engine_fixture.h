// SPDX-License-Identifier: MIT
// The window's engine on the embedded model, with its records by name.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "probes/engine/engine.h"

namespace midscope::testing {

inline const Record& Find(const std::vector<Record>& records, const std::string& name) {
  for (const Record& record : records) {
    if (record.name == name) return record;
  }
  throw std::runtime_error("no record " + name);
}

template <typename T>
const std::vector<T>& Data(const Record& record, const std::string& array) {
  return std::get<std::vector<T>>(record.FindArray(array)->data);
}

class LocalEngineFixture : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    engine = MakeLocalEngine();
    engine->Open({}, {});
  }
  static void TearDownTestSuite() { engine.reset(); }

  static std::vector<Record> SetSmallTask() {
    PromptRequest prompt_request;
    prompt_request.task = "list:lines=4";
    prompt_request.places = "1,4";
    return engine->SetPrompt(prompt_request, {});
  }

  static inline std::unique_ptr<Engine> engine;
};

}  // namespace midscope::testing
