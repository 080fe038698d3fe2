// SPDX-License-Identifier: MIT
// Stores the records of the finished prompts of a batch of probe runs until all have finished: in
// memory, or in a folder beside the results file, so that finished work is not lost and several
// processes can share the batch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Identifies a prompt of a batch: sample number and place of its gold piece.
using PromptKey = std::pair<int64_t, int64_t>;

class PromptStore {
 public:
  virtual ~PromptStore() = default;
  virtual bool Has(const PromptKey& prompt) const = 0;
  // Stores the records of a finished prompt. Throws Error (failure).
  virtual void Keep(const PromptKey& prompt, std::vector<Record> records) = 0;
  // Removes and returns the records of a prompt. Throws Error (failure).
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

// Stores prompts in the folder FILE.prompts, with one file per prompt. Files are written
// atomically, so that a killed process loses only the prompts that it was running.
class KeptPrompts : public PromptStore {
 public:
  static std::string FolderOf(const std::string& file) { return file + ".prompts"; }
  // Returns the plan of the prompts stored for the results file `file`, as JSON; "" if there are
  // none. Throws Error (failure).
  static std::string PlanIn(const std::string& file);

  // Creates the folder. Throws Error: (usage) if it exists and `resume` is false; (failure) if it
  // contains prompts of another plan or cannot be created.
  KeptPrompts(const std::string& file, std::string plan_json, Provenance provenance, bool resume);

  bool Has(const PromptKey& prompt) const override;
  void Keep(const PromptKey& prompt, std::vector<Record> records) override;
  std::vector<Record> Take(const PromptKey& prompt) override;
  // Removes the folder with all stored prompts.
  void Remove() const;

 private:
  std::string FileOf(const PromptKey& prompt) const;

  std::string folder_;
  std::string plan_json_;
  Provenance provenance_;
};

}  // namespace midscope
