// SPDX-License-Identifier: MIT
#include "probes/base/record_stack.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/check.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

// An attribute whose value describes one prompt.
struct PromptValue {
  const char* name;
  const char* unit;
  const char* description;
  bool is_boolean = false;
};

constexpr PromptValue kPromptValues[] = {
    {"text", "", "the prompt's text"},
    {"answer", "", "the answer that is scored, as it follows the prompt"},
    {"gold", "", "index of the gold passage among the spans; -1: none"},
    {"prompt_tokens", "tokens", "length of the prompt"},
    {"bytes_without_token", "bytes", "bytes of the text that have no token and are left out"},
    {"answer_nll", "nats", "negative log-likelihood of the answer, summed over its tokens"},
    {"correct", "", "whether the greedy continuation equals the answer", true},
    {"answer_tokens", "tokens", "length of the answer"},
    {"answer_token", "", "id of the answer's first token"},
    {"answer_token_text", "", "text of the answer's first token"},
    {"answer_rank", "rank", "rank of the answer's first token by logit, from 1 on"},
    {"answer_probability", "", "probability of the answer's first token"},
    {"answer_logit", "", "logit of the answer's first token"},
    {"capped_logit_difference", "", "difference of the logits after the model's cap"},
    {"gold_token_begin", "tokens", "first token of the gold passage"},
    {"gold_token_end", "tokens", "one past the last token of the gold passage"},
    {"gold_piece", "", "index of the gold piece among the pieces; -1: none"},
    {"threshold_weight", "", "attention weight from which on a key is counted"},
    {"perplexity", "", "exponential of mean_nll"},
    {"mean_nll", "nats", "mean negative log-likelihood of the scored tokens"},
    {"window_mean_perplexity", "", "mean of the windows' perplexities"},
    {"windows", "", "number of windows"},
    {"beyond_context", "", "whether the prompt exceeds the model's context", true}};

const PromptValue* FindPromptValue(const std::string& attribute) {
  const auto* found =
      std::find_if(std::begin(kPromptValues), std::end(kPromptValues),
                   [&](const PromptValue& value) { return attribute == value.name; });
  return found == std::end(kPromptValues) ? nullptr : found;
}

// Axes whose size and labels describe one prompt.
constexpr const char* kPromptAxes[] = {"token", "key", "span", "piece", "answer_token"};

bool IsPromptAxis(const std::string& axis) {
  return std::find(std::begin(kPromptAxes), std::end(kPromptAxes), axis) != std::end(kPromptAxes);
}

template <typename T>
T Padding() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
  if constexpr (std::is_same_v<T, int64_t>) return -1;
  return T{};
}

std::vector<int64_t> Sizes(const Record& record, const Array& array) {
  std::vector<int64_t> sizes;
  sizes.reserve(array.axes.size());
  for (const std::string& axis : array.axes) sizes.push_back(AxisOf(record, axis).size);
  return sizes;
}

int64_t Product(const std::vector<int64_t>& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

// Copies an array with axes of sizes `from` to the beginning of every axis of a larger one, `to`.
template <typename T>
void CopyCorner(const std::vector<T>& source, const std::vector<int64_t>& from,
                const std::vector<int64_t>& to, T* target) {
  const int64_t row = from.empty() ? 1 : from.back();
  const int64_t rows = row == 0 ? 0 : static_cast<int64_t>(source.size()) / row;
  for (int64_t index = 0; index < rows; ++index) {
    int64_t rest = index;
    int64_t offset = 0;
    int64_t stride = to.empty() ? 1 : to.back();
    for (size_t axis = from.size(); axis-- > 0;) {
      if (axis + 1 == from.size()) continue;
      offset += rest % from[axis] * stride;
      rest /= from[axis];
      stride *= to[axis];
    }
    std::copy_n(source.begin() + index * row, row, target + offset);
  }
}

template <typename T>
std::vector<T> StackValues(const std::vector<Record>& records, const std::string& name,
                           const std::vector<int64_t>& to) {
  const int64_t each = Product(to);
  std::vector<T> stacked(records.size() * static_cast<size_t>(each), Padding<T>());
  for (size_t i = 0; i < records.size(); ++i) {
    const Array& array = *records[i].FindArray(name);
    CopyCorner(std::get<std::vector<T>>(array.data), Sizes(records[i], array), to,
               stacked.data() + static_cast<int64_t>(i) * each);
  }
  return stacked;
}

class Stacker {
 public:
  Stacker(const std::vector<Record>& records, const std::vector<Axis>& leading)
      : records_(records) {
    stacked_.name = records.front().name;
    stacked_.signal = records.front().signal;
    stacked_.axes = leading;
    for (const Axis& axis : leading) leading_names_.push_back(axis.name);
  }

  Record Run() && {
    for (const Axis& axis : records_.front().axes) AddAxis(axis.name);
    for (const Array& array : records_.front().arrays) AddArray(array);
    for (Array& array : axis_arrays_) AddExtra(std::move(array));
    for (const auto& [name, value] : records_.front().attributes) AddAttribute(name);
    return std::move(stacked_);
  }

 private:
  template <typename F>
  bool AllEqual(const F& value) const {
    return std::all_of(records_.begin(), records_.end(), [&](const Record& record) {
      return value(record) == value(records_.front());
    });
  }

  void AddAxis(const std::string& name) {
    const auto largest =
        std::max_element(records_.begin(), records_.end(), [&](const Record& a, const Record& b) {
          return AxisOf(a, name).size < AxisOf(b, name).size;
        });
    Axis axis = AxisOf(*largest, name);
    const bool by_prompt = IsPromptAxis(name);
    if (by_prompt || !AllEqual([&](const Record& r) { return AxisOf(r, name).size; })) {
      std::vector<int64_t> counts;
      counts.reserve(records_.size());
      for (const Record& record : records_) counts.push_back(AxisOf(record, name).size);
      axis_arrays_.push_back(
          {name + "_count", leading_names_, counts, "", "places that " + name + " has"});
    }
    if (!AllEqual([&](const Record& r) { return AxisOf(r, name).values; })) {
      std::vector<double> values(records_.size() * static_cast<size_t>(axis.size),
                                 Padding<double>());
      for (size_t i = 0; i < records_.size(); ++i) {
        const std::vector<double>& own = AxisOf(records_[i], name).values;
        std::copy(own.begin(), own.end(),
                  values.begin() + static_cast<std::ptrdiff_t>(i) * axis.size);
      }
      axis_arrays_.push_back({name + "_values", With(name), values, axis.unit,
                              "values of " + name + " in each prompt"});
      axis.values.clear();
    }
    const bool drops_labels = by_prompt && records_.size() > 1;
    if (drops_labels || !AllEqual([&](const Record& r) { return AxisOf(r, name).labels; })) {
      axis.labels.clear();
    }
    stacked_.axes.push_back(std::move(axis));
  }

  void AddArray(const Array& array) {
    Array out{array.name, leading_names_, {}, array.unit, array.description};
    out.axes.insert(out.axes.end(), array.axes.begin(), array.axes.end());
    const std::vector<int64_t> to = Sizes(stacked_, array);
    std::visit(
        [&](const auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          out.data = StackValues<T>(records_, array.name, to);
        },
        array.data);
    stacked_.arrays.push_back(std::move(out));
  }

  void AddAttribute(const std::string& name) {
    const Attribute& first = records_.front().attributes.at(name);
    const auto& leading = leading_names_;
    if (std::find(leading.begin(), leading.end(), name) != leading.end()) return;
    const PromptValue* of_prompt = FindPromptValue(name);
    if (!of_prompt && AllEqual([&](const Record& record) { return record.attributes.at(name); })) {
      stacked_.attributes[name] = first;
      return;
    }
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          std::vector<T> values;
          values.reserve(records_.size());
          for (const Record& record : records_) {
            values.push_back(std::get<T>(record.attributes.at(name)));
          }
          Array array{name, leading_names_, std::move(values), "", name + " of each prompt"};
          if (of_prompt) {
            array.unit = of_prompt->unit;
            array.description = of_prompt->description;
          }
          if constexpr (std::is_same_v<T, int64_t>) {
            if (of_prompt && of_prompt->is_boolean) array.data = Booleans(array.data);
          }
          AddExtra(std::move(array));
        },
        first);
  }

  static std::vector<uint8_t> Booleans(const ArrayData& numbers) {
    std::vector<uint8_t> booleans;
    for (const int64_t number : std::get<std::vector<int64_t>>(numbers)) {
      booleans.push_back(number != 0 ? 1 : 0);
    }
    return booleans;
  }

  // Adds an array, unless an axis or an attribute already has its name.
  void AddExtra(Array array) {
    if (stacked_.FindAxis(array.name) || stacked_.FindArray(array.name)) return;
    stacked_.arrays.push_back(std::move(array));
  }

  std::vector<std::string> With(const std::string& axis) const {
    std::vector<std::string> axes = leading_names_;
    axes.push_back(axis);
    return axes;
  }

  const std::vector<Record>& records_;
  std::vector<std::string> leading_names_;
  std::vector<Array> axis_arrays_;
  Record stacked_;
};

void CheckAlike(const std::vector<Record>& records, const std::vector<Axis>& leading) {
  std::vector<int64_t> sizes;
  sizes.reserve(leading.size());
  for (const Axis& axis : leading) sizes.push_back(axis.size);
  MIDSCOPE_CHECK(!records.empty());
  MIDSCOPE_CHECK_EQ(Product(sizes), records.size());
  const auto names = [](const Record& record) {
    std::vector<std::string> all = {record.name};
    for (const Axis& axis : record.axes) all.push_back(axis.name);
    for (const Array& array : record.arrays) all.push_back(array.name);
    for (const auto& attribute : record.attributes) all.push_back(attribute.first);
    return all;
  };
  for (const Record& record : records) {
    MIDSCOPE_CHECK(names(record) == names(records.front()));
  }
}

}  // namespace

Record StackRecords(const std::vector<Record>& records, const std::vector<Axis>& leading) {
  CheckAlike(records, leading);
  return Stacker(records, leading).Run();
}

}  // namespace midscope
