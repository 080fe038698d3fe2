// SPDX-License-Identifier: MIT
// Finds models in the Hugging Face cache: `org/name` means its folder
// models--org--name/snapshots/COMMIT, and `org/name@REVISION` the snapshot of a branch, tag or
// commit. Nothing is downloaded here; hub_fetch.h does that.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace midscope {

// Returns $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else
// ~/.cache/huggingface/hub, as in huggingface_hub.
std::filesystem::path HuggingFaceCache();

// Whether the text is a valid name of a model: two parts of letters, digits, - _ . with one slash
// between them, which cannot refer to another folder.
bool IsModelName(const std::string& model);

// Whether the text may name a branch, tag or commit: letters, digits, - _ . and slashes between
// parts.
bool IsRevisionName(const std::string& revision);

// Whether the text has the form org/name or org/name@REVISION.
bool IsCachedModelName(const std::string& model);

// Returns the folder of the model's snapshot for the revision; without a revision, for refs/main,
// or else the only snapshot. Returns nullopt if the cache does not have the model. Throws Error if
// the cache has the model but not that snapshot, or has several and none is selected.
std::optional<std::filesystem::path> FindCachedModel(const std::string& model);

}  // namespace midscope
