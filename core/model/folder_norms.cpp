// SPDX-License-Identifier: MIT
#include "core/model/folder_norms.h"

#include <map>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr std::string_view kNorms = ".norms.";
constexpr std::string_view kFirst = ".norms.0.weight";
constexpr std::string_view kWeight = ".weight";

// The tensors of heads 0, 1, ... as far as there are any.
std::vector<std::string> NamesOfHeads(const FileTensors& tensors, const std::string& prefix) {
  std::vector<std::string> names;
  for (;;) {
    std::string name = prefix + std::string(kNorms) + std::to_string(names.size()) + ".weight";
    if (!tensors.contains(name)) return names;
    names.push_back(std::move(name));
  }
}

}  // namespace

void JoinNormsOfHeads(const std::string& thing, FileTensors* tensors,
                      std::deque<std::vector<std::byte>>* data) {
  std::vector<std::string> prefixes;
  for (const auto& [name, tensor] : *tensors) {
    if (name.ends_with(kFirst)) prefixes.push_back(name.substr(0, name.size() - kFirst.size()));
  }
  for (const std::string& prefix : prefixes) {
    const std::vector<std::string> names = NamesOfHeads(*tensors, prefix);
    const FileTensor first = tensors->at(names.front());
    std::vector<std::byte>& joined = data->emplace_back();
    for (const std::string& name : names) {
      const FileTensor& tensor = tensors->at(name);
      if (tensor.shape != first.shape || tensor.format.type != first.format.type ||
          tensor.unread_dtype != first.unread_dtype || tensor.shape.size() != 1) {
        throw Failure(thing, "tensor " + Quote(name, 120) + " is no vector like that of head 0");
      }
      joined.insert(joined.end(), tensor.data, tensor.data + tensor.bytes);
      tensors->erase(name);
    }
    tensors->emplace(prefix + std::string(kWeight),
                     FileTensor{{static_cast<int64_t>(names.size()), first.shape.front()},
                                first.format,
                                joined.data(),
                                static_cast<int64_t>(joined.size()),
                                prefix + std::string(kNorms) + "N.weight",
                                first.unread_dtype});
  }
}

}  // namespace midscope
