// SPDX-License-Identifier: MIT
// A small sweep of the embedded model, in a separate folder.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "data/sweep/sweep_store.h"
#include "probes/model/provenance.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/sweep.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/probes/support/open_model.h"

namespace midscope {

class SweepTest : public ::testing::Test {
 protected:
  SweepRun MakeRun(const std::vector<std::string>& settings, int64_t samples = 2) {
    SweepRun run;
    run.decoder = testing::EmbeddedModel();
    run.plan.samples = samples;
    run.plan.places = {1, 4};
    for (const std::string& text : settings) run.plan.settings.push_back(ReadSetting(text));
    task_ = MakeTaskFor(run.decoder->tokenizer(), "list:lines=4", 1);
    run.plan.task = task_->name();
    run.questions = [this, places = run.plan.places](int64_t sample) {
      return TaskQuestions(testing::EmbeddedModel()->tokenizer(), *task_, places, sample);
    };
    return run;
  }

  SweepStore Store(const SweepRun& run, bool resume = false) {
    SweepStoreOptions options;
    options.resume = resume;
    return SweepStore::Create(File(), PlanJson(run.plan, *run.decoder),
                              MakeProvenance(*run.decoder, "test", 1, "{}"), options);
  }

  std::string File() const { return folder_.File("run.h5"); }

  test::TemporaryFolder folder_;
  std::unique_ptr<Task> task_;
};

inline constexpr const char* kFlip = "channel(100, factor=-1, layers=8-25)";
inline constexpr const char* kMsPoe = "ms-poe(min=1.2, max=1.8)";

}  // namespace midscope
