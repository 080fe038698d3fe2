// SPDX-License-Identifier: MIT
#include "probes/base/record_origin.h"

#include <span>

#include <fmt/format.h>

#include "core/base/hashes.h"

namespace midscope {

void WriteOrigin(const RecordOrigin& origin, Record& record) {
  if (!origin.intervention.empty()) record.attributes["intervention"] = origin.intervention;
  record.attributes["prompt_hash"] = origin.prompt_hash;
  record.attributes["subject_hash"] = origin.subject_hash;
  record.attributes["model_hash"] = origin.model_hash;
  record.attributes["dtype"] = origin.dtype;
  if (origin.products != "float") record.attributes["products"] = origin.products;
  record.attributes.emplace("task", origin.task);
  record.attributes.emplace("seed", origin.seed);
  record.attributes.emplace("sample", origin.sample);
  record.attributes.emplace("place", origin.place);
}

std::string PromptsHash(const std::vector<Prompt>& prompts) {
  // Each list of ids is preceded by its length, so that the prompts (1 2)(3) and (1)(2 3) differ.
  std::string text;
  const auto add = [&text](const auto& numbers) {
    text += fmt::format("{}:", numbers.size());
    for (const auto number : numbers) text += fmt::format("{} ", number);
  };
  for (const Prompt& prompt : prompts) {
    add(prompt.ids);
    add(prompt.answer_ids);
    for (const PromptSpan& span : prompt.spans) {
      add(std::vector<int64_t>{span.token_begin, span.token_end});
      text += fmt::format("{}:{}", span.name.size(), span.name);
    }
    text += '\n';
  }
  return HashBytes(std::as_bytes(std::span(text)));
}

}  // namespace midscope
