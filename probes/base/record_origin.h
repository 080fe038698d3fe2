// SPDX-License-Identifier: MIT
// Origin of a record: attributes that the engine writes, so that viewers and files describe a
// record by how it was made and not by the currently requested setting:
//
// clang-format off
//   intervention   the setting, as PrintIntervention prints it, with every argument
//   task           with all parameters; "" for own text
//   seed, sample   of the task; 0 for own text; sample -1: the record covers several samples
//   place          gold position (place) of the prompt; 0: own text, or a record of all places
//   prompt_hash    XXH3-128 of the prompt's token ids, answer token ids and named spans; "" if
//                  the record is of all places
//   subject_hash   XXH3-128 over the prompts of all places; "" if the record covers several samples
//   model_hash     equal to Provenance::model_hash
//   dtype          equal to Provenance::dtype
//   products       equal to Provenance::products; absent if that is "float"
// clang-format on
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

struct RecordOrigin {
  std::string intervention{};  // the setting; "": no run (`prompt`), or a setting axis
  std::string task{};
  int64_t seed = 0;
  int64_t sample = 0;
  int64_t place = 0;
  std::string prompt_hash{};
  std::string subject_hash{};
  std::string model_hash{};
  std::string dtype{};
  std::string products = "float";
};

// Writes the origin as attributes of the record. Existing attributes of these names are replaced,
// except `task`, `seed`, `sample` and `place`.
void WriteOrigin(const RecordOrigin& origin, Record& record);

// Returns the XXH3-128 of each prompt's token ids, its answer's token ids and its spans, as 32
// hexadecimal digits.
std::string PromptsHash(const std::vector<Prompt>& prompts);

}  // namespace midscope
