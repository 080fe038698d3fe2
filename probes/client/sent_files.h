// SPDX-License-Identifier: MIT
// Sends files that requests name from this machine to an engine on another machine.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "probes/client/engine_link.h"

namespace midscope {

// Sends each file once, at most 16 MB, and replaces its name by the name of the copy on the
// engine's machine. Thread-safe.
class SentFiles {
 public:
  // For an engine on this machine, this class sends nothing. `link` must outlive this object.
  explicit SentFiles(EngineLink& link) : link_(link) {}

  // Returns the text of a setting or task, such as "ratios(head ratios.json)", after sending the
  // files that exist on this machine and replacing their names. Other names refer to files on the
  // engine's machine. Throws Error (failure) if a file cannot be read, (usage) if it is too large.
  std::string Sent(const std::string& text);
  // Sends a results file if it exists on this machine, and returns the name of the copy, which ends
  // in the file's own name; returns other names unchanged. Throws in the same cases as Sent().
  std::string SentFile(const std::string& path);
  // Sends a file that contains `text`; returns its name on the engine's machine, ending in
  // `suffix`.
  std::string SentText(const std::string& text, const std::string& suffix);

 private:
  std::string NameThere(const std::string& path, const std::string& suffix);

  EngineLink& link_;
  std::mutex mutex_;
  std::map<std::string, std::string> names_;  // guarded by mutex_: keyed by digest of contents
};

}  // namespace midscope
