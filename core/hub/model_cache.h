// SPDX-License-Identifier: MIT
// Models in the Hugging Face cache: `org/name` stands for
// models--org--name/snapshots/COMMIT in it, `org/name@REVISION` for that of a branch, tag or
// commit. Nothing is downloaded here (hub_fetch.h does).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace midscope {

// $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else
// ~/.cache/huggingface/hub: as huggingface_hub has it.
std::filesystem::path HuggingFaceCache();

// Whether the text can be the name of a model there: two parts of letters, digits, - _ . with one
// slash between; nothing that leads elsewhere.
bool IsModelName(const std::string& model);

// Whether the text can be a branch, a tag or a commit: parts as above, with slashes between.
bool IsRevisionName(const std::string& revision);

// Whether the text reads org/name or org/name@REVISION.
bool IsCachedModelName(const std::string& model);

// The folder of the model's snapshot: that of the revision; without one, that of refs/main, or the
// only one. Nothing where the cache has no such model. Throws Error where it has it without a
// snapshot that can be told.
std::optional<std::filesystem::path> FindCachedModel(const std::string& model);

}  // namespace midscope
