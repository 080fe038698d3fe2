// SPDX-License-Identifier: MIT
// What made a record, written on the record by the engine, so that whoever draws or saves it never
// has to name it after what is asked for at that moment. Attributes:
//
//   intervention   the setting, as PrintIntervention prints it: every argument stated
//   task           in full; "" for own text
//   seed, sample   of the task; 0 for own text; sample -1: the record is of several
//   place          gold position (place) of the prompt; 0: own text, or a record of all places
//   prompt_hash    XXH3-128 of the prompt: token ids, those of the answer, named spans; "" where
//                  the record is of all places
//   subject_hash   the same over the prompts of all places; "" where it is of several samples
//   model_hash     as Provenance::model_hash
//   dtype          the model's, as Provenance::dtype
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

struct RecordOrigin {
  std::string intervention{};  // "": the record is of no run (`prompt`) or says it on an axis
  std::string task{};
  int64_t seed = 0;
  int64_t sample = 0;
  int64_t place = 0;
  std::string prompt_hash{};
  std::string subject_hash{};
  std::string model_hash{};
  std::string dtype{};
};

// Writes the attributes. Those that say which run it was replace what a record (of a plugin) has
// under these names; `task`, `seed`, `sample` and `place` of its own stay.
void WriteOrigin(const RecordOrigin& origin, Record& record);

// XXH3-128 of the token ids of each prompt and its answer, and of its spans: 32 hexadecimal digits.
std::string PromptsHash(const std::vector<Prompt>& prompts);

}  // namespace midscope
