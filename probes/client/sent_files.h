// SPDX-License-Identifier: MIT
// Files of this machine that requests name, for an engine on another machine.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "probes/client/engine_link.h"

namespace midscope {

// Sends each file once, at most 16 MB, and puts the name that it has there in its place.
// Thread-safe.
class SentFiles {
 public:
  // Does nothing for an engine of this machine. `link` must outlive this object.
  explicit SentFiles(EngineLink& link) : link_(link) {}

  // Returns the text of a setting or task, such as "ratios(head ratios.json)", with the names of
  // files that exist here replaced. Other names are those of the engine's machine. Throws Error
  // (failure) if a file cannot be read, (usage) if it is too large.
  std::string Sent(const std::string& text);
  // As above, for a file of results: if it exists here, the engine's file ends in its name.
  std::string SentFile(const std::string& path);
  // Sends a file with this text, and returns its name there, which ends in `suffix`.
  std::string SentText(const std::string& text, const std::string& suffix);

 private:
  std::string NameThere(const std::string& path, const std::string& suffix);

  EngineLink& link_;
  std::mutex mutex_;
  std::map<std::string, std::string> names_;  // guarded by mutex_: by the digest of the contents
};

}  // namespace midscope
