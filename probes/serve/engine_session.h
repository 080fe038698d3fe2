// SPDX-License-Identifier: MIT
// The state of an engine process between requests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "data/store/record_reader.h"
#include "data/sweep/sample_view.h"
#include "probes/engine/engine.h"
#include "probes/serve/wire_arrays.h"

namespace midscope {

class EngineSession {
 public:
  explicit EngineSession(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Engine& engine() { return *engine_; }
  bool has_model = false;
  bool has_prompt = false;
  // Describes the open model; valid if has_model.
  ModelSummary model;

  // Returns the records as a list for an answer, and holds the arrays for which a frame has no
  // space.
  Message RecordsMessage(const std::vector<Record>& records) {
    const std::lock_guard lock(mutex);
    return WireWriter(held).Write(records);
  }

  // Arrays and open results files, which methods on several threads use: lock `mutex` first.
  std::mutex mutex;
  HeldArrays held;
  std::map<int64_t, std::unique_ptr<RunReader>> files;
  int64_t last_file = 0;
  // Bytes of arrays that a client sends in slices, by the numbers that it gave them.
  std::map<int64_t, std::vector<uint8_t>> received;

  // Files that are read one sample at a time: lock `views_mutex` first, not both mutexes.
  std::mutex views_mutex;
  std::map<std::string, std::unique_ptr<SampleView>> views;  // by path

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace midscope
