// SPDX-License-Identifier: MIT
// Where the records of a batch's finished prompts are until all are done: in memory, or in a folder
// beside the batch's file, so that nothing that is done gets lost and several processes may share
// the work.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// A prompt of a batch: the number of the sample, and the place of its gold piece.
using PromptKey = std::pair<int64_t, int64_t>;

class PromptStore {
 public:
  virtual ~PromptStore() = default;
  virtual bool Has(const PromptKey& prompt) const = 0;
  // Throws Error (failure).
  virtual void Keep(const PromptKey& prompt, std::vector<Record> records) = 0;
  // Each is taken once. Throws Error (failure).
  virtual std::vector<Record> Take(const PromptKey& prompt) = 0;
};

class PromptsInMemory : public PromptStore {
 public:
  bool Has(const PromptKey& prompt) const override { return records_.contains(prompt); }
  void Keep(const PromptKey& prompt, std::vector<Record> records) override {
    records_[prompt] = std::move(records);
  }
  std::vector<Record> Take(const PromptKey& prompt) override {
    return std::move(records_.extract(prompt).mapped());
  }

 private:
  std::map<PromptKey, std::vector<Record>> records_;
};

// The folder FILE.prompts with one file per prompt. A file is there whole or not at all, so that a
// kill at any moment loses no more than the prompts that are running.
class KeptPrompts : public PromptStore {
 public:
  static std::string FolderOf(const std::string& file) { return file + ".prompts"; }
  // The plan of the prompts that are kept of the file; "" if there are none. Throws Error
  // (failure).
  static std::string PlanIn(const std::string& file);

  // Makes the folder. Throws Error: (usage) it exists and `resume` is false; (failure) it holds
  // prompts of another plan, or cannot be made.
  KeptPrompts(const std::string& file, std::string plan_json, Provenance provenance, bool resume);

  bool Has(const PromptKey& prompt) const override;
  void Keep(const PromptKey& prompt, std::vector<Record> records) override;
  std::vector<Record> Take(const PromptKey& prompt) override;
  // Removes the folder.
  void Remove() const;

 private:
  std::string FileOf(const PromptKey& prompt) const;

  std::string folder_;
  std::string plan_json_;
  Provenance provenance_;
};

}  // namespace midscope
