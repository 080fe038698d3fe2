// SPDX-License-Identifier: MIT
#include "probes/engine/settled_outcomes.h"

#include <algorithm>
#include <utility>

#include "core/base/record_names.h"
#include "core/intervention/term_type.h"
#include "core/terms/intervention_text.h"
#include "probes/base/record_origin.h"
#include "probes/engine/loaded_prompts.h"
#include "probes/engine/reply_cache.h"

namespace midscope {
namespace {

std::string KeyOf(const std::string& prompts, const Intervention& setting) {
  return prompts + '\n' + PrintIntervention(WithoutNeutralTerms(setting));
}

size_t SizeInBytes(const SettledOutcome& settled) {
  size_t bytes = BytesOf(settled.outcome);
  for (const std::vector<Record>& records : settled.of_places) {
    for (const Record& record : records) bytes += BytesOf(record);
  }
  return bytes;
}

}  // namespace

std::string SettledKeyOf(const LoadedPrompts& loaded) {
  std::string key = loaded.origin.subject_hash + ' ' + loaded.request.task + ' ' +
                    std::to_string(loaded.request.seed) + ' ' +
                    std::to_string(loaded.request.sample);
  for (const auto& [name, prompt] : loaded.source_prompts)
    key += ' ' + name + '=' + PromptsHash({prompt});
  return key;
}

void ReplaceBySettled(const SettledOutcome& settled, size_t place, std::vector<Record>& records) {
  for (const Record& known : settled.of_places.at(place)) {
    const auto found = std::find_if(records.begin(), records.end(), [&known](const Record& record) {
      return record.name == known.name;
    });
    if (found == records.end()) continue;
    if (found->axes.front().size == known.axes.front().size) found->arrays = known.arrays;
    for (const auto& [name, value] : known.attributes) found->attributes[name] = value;
  }
}

const SettledOutcome* SettledOutcomes::Find(const std::string& prompts,
                                            const Intervention& setting) {
  const std::string key = KeyOf(prompts, setting);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&key](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return &found->outcome;
}

const SettledOutcome& SettledOutcomes::Add(const std::string& prompts, const Intervention& setting,
                                           SettledOutcome outcome) {
  Entry entry{KeyOf(prompts, setting), std::move(outcome)};
  entry.bytes = sizeof(Entry) + entry.key.size() + SizeInBytes(entry.outcome);
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  while (bytes_ > limit_ && entries_.size() > 1) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return entries_.front().outcome;
}

std::optional<double> SettledOutcomes::NoiseOf(const std::string& prompts) const {
  const auto found = noise_.find(prompts);
  return found == noise_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace midscope
