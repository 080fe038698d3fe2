// SPDX-License-Identifier: MIT
// Models in the Hugging Face cache: `org/name` means models--org--name/snapshots/COMMIT in it,
// `org/name@REVISION` that of a branch, tag or commit. Nothing is downloaded here (hub_fetch.h
// does).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace midscope {

// $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else
// ~/.cache/huggingface/hub, as in huggingface_hub.
std::filesystem::path HuggingFaceCache();

// Whether the text is a valid name of a model: two parts of letters, digits, - _ . with one slash
// between, which cannot leave the folder.
bool IsModelName(const std::string& model);

// Whether the text is a valid branch, tag or commit: parts as above, with slashes between.
bool IsRevisionName(const std::string& revision);

// Whether the text has the form org/name or org/name@REVISION.
bool IsCachedModelName(const std::string& model);

// The folder of the model's snapshot: that of the revision; without one, that of refs/main, or the
// only one. nullopt where the cache does not have the model. Throws Error where it has the model,
// but not that snapshot or several.
std::optional<std::filesystem::path> FindCachedModel(const std::string& model);

}  // namespace midscope
