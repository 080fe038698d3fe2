// SPDX-License-Identifier: MIT
// For tests of tasks that read files: a separate folder, and a tokenizer whose tokens are words.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "data/tasks/task.h"
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
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("midscope_task_files_" + std::to_string(::getpid()) + "_" + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The default name contains a comma, which a task spec must accept.
  std::string Write(const std::string& text, const std::string& name = "a,b.jsonl") const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::unique_ptr<Task> Make(const std::string& spec, const std::string& text) const {
    return MakeTask(spec + "file=" + Write(text), 1, {}, CountWords, WordEnds);
  }
  std::string Fails(const std::string& spec, const std::string& text) const {
    return ErrorOf([&] { Make(spec, text); }, ErrorKind::kFailure);
  }

  std::filesystem::path folder_;
};

}  // namespace midscope
