// SPDX-License-Identifier: MIT
// For tests of tasks that read files: a separate folder, and a tokenizer whose tokens are words.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "data/tasks/task.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/data/support/task_passages.h"

namespace midscope {

// A question over three documents, as published.
inline constexpr const char* kQuestion =
    R"({"question": "who wrote it", "answers": ["Ann Lee", "A. Lee"], "ctxs": [)"
    R"({"title": "One", "text": "First.", "isgold": false},)"
    R"({"title": "Two", "text": "By Ann Lee.", "isgold": true, "score": 1.5},)"
    R"({"title": "Three", "text": "Third.", "hasanswer": false}]})"
    "\n";

class TaskFiles : public ::testing::Test {
 protected:
  // The default name contains a comma, which a task spec must accept.
  std::string Write(const std::string& text, const std::string& name = "a,b.jsonl") const {
    folder_.Write(name, text);
    return folder_.File(name);
  }
  std::unique_ptr<Task> Make(const std::string& spec, const std::string& text) const {
    return MakeTask(spec + "file=" + Write(text), 1, {}, CountWords, WordEnds);
  }
  std::string Fails(const std::string& spec, const std::string& text) const {
    return ErrorOf([&] { Make(spec, text); }, ErrorKind::kFailure);
  }

  test::TemporaryFolder folder_;
};

}  // namespace midscope
