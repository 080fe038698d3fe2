// SPDX-License-Identifier: MIT
// The fields of Provenance with the names that files give them; the one list that the store and the
// exports go by.
#pragma once

#include <string>

#include "core/base/record.h"

namespace midscope {

// visit(const char* name, field&) for each field; `Origin` is Provenance or const Provenance, a
// field std::string or int64_t.
template <typename Origin, typename Visit>
void ForEachField(Origin& provenance, Visit&& visit) {
  // Stops compiling when Provenance gets another field.
  auto& [program, version, created, command, model_path, model_hash, architecture, dtype, weights,
         device, threads, seed, options_json, libraries] = provenance;
  visit("program", program);
  visit("version", version);
  visit("created", created);
  visit("command", command);
  visit("model_path", model_path);
  visit("model_hash", model_hash);
  visit("architecture", architecture);
  visit("dtype", dtype);
  visit("weights", weights);
  visit("device", device);
  visit("threads", threads);
  visit("seed", seed);
  visit("options_json", options_json);
  visit("libraries", libraries);
}

}  // namespace midscope
