// SPDX-License-Identifier: MIT
// The result of a measurement: named arrays over named axes. The command line prints it, the window
// draws it and the store writes it; none of the three has any other input. Holds no tensor, no Qt
// type, no HDF5 handle.
//
// Example:
//
// clang-format off
//   Record record;
//   record.name = "row_entropy";
//   record.axes = {{"layer", 2, "", {}, {}}, {"head", 3, "", {}, {}}};
//   record.arrays = {
//       {"entropy", {"layer", "head"}, std::vector<float>(6), "nats", "entropy of the last row"}};
//   record.attributes["prompt_tokens"] = int64_t{271};
//   record.signal = "entropy";
//   record.Check();
// clang-format on
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace midscope {

// An axis with `size` entries, identified by `labels` or `values` (one per entry, or empty). If
// both are empty, the entries are 0, 1, ...
struct Axis {
  std::string name;  // "layer", "head", "key"
  int64_t size = 0;
  std::string unit;  // "" for counts and indices
  std::vector<std::string> labels;
  std::vector<double> values;
};

using ArrayData = std::variant<std::vector<float>, std::vector<double>, std::vector<int64_t>,
                               std::vector<uint8_t>,
                               std::vector<std::string>>;  // uint8_t: booleans

// Row-major; the number of elements is the product of the axes' sizes. NaN means "no value here".
struct Array {
  std::string name;               // "last_query_attention"
  std::vector<std::string> axes;  // names of axes of the record, outermost first
  ArrayData data;
  std::string unit;
  std::string description;  // one line: meaning and source
};

using Attribute = std::variant<int64_t, double, std::string>;

struct Record {
  std::string name;  // "last_query_attention", "sweep"
  std::vector<Axis> axes;
  std::vector<Array> arrays;
  std::map<std::string, Attribute> attributes;
  std::string signal;  // the array that a viewer shows first; may be empty

  const Axis* FindAxis(const std::string& axis_name) const;
  const Array* FindArray(const std::string& array_name) const;
  // Throws std::logic_error if an array names a missing axis or has a wrong number of elements, or
  // if a name is duplicated.
  void Check() const;
};

// Returns the number of elements.
int64_t ElementCount(const ArrayData& data);

// The origin of the numbers; written into every output.
struct Provenance {
  std::string program = "midscope";
  std::string version;
  std::string created;     // UTC, ISO 8601
  std::string command;     // as given, without secrets
  std::string model_path;  // file name alone
  std::string model_hash;  // XXH3-128 of the file's bytes, hexadecimal
  std::string architecture;
  std::string dtype;
  std::string products = "float";  // with quantised weights: "float", "int16" or "int8"
  std::string weights;             // "stored" or "expanded": the form of the weights in the run
  std::string device;              // which device ran how many layers, "cpu=30"
  std::string instructions;        // CPU instructions that the kernels used: "AVX2"
  int64_t threads = 0;
  int64_t seed = 0;
  std::string options_json;  // every option with its value
  std::string libraries;     // "LibTorch 2.11.0, HDF5 1.10.8"
};

// Returns the text of an attribute of the record; "" if the record has no such attribute or it is
// a number.
inline std::string AttributeText(const Record& record, const std::string& name) {
  const auto found = record.attributes.find(name);
  if (found == record.attributes.end()) return "";
  const auto* text = std::get_if<std::string>(&found->second);
  return text ? *text : "";
}

// Returns the first record called `name`, or null. Points into `records`.
inline const Record* FindRecord(const std::vector<Record>& records, const std::string& name) {
  for (const Record& record : records) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

// The unit of ranks. Files store ranks counted from 0; printed ranks are counted from 1.
inline constexpr const char* kRankFromZero = "rank from 0";

// Whether statistics and plots make sense for the array, by its type and unit: measured numbers,
// shares of booleans, ranks. Other integers are ids, offsets, indices and counts.
bool IsMeasured(const Array& array);

// Whether the last two axes of the array are layer and head.
bool IsOverHeads(const Array& array);

bool HasAxis(const Array& array, const std::string& axis);

// Returns the values of an axis as they are stored:
// int64 if all values are integers (or implied: 0, 1, ...), so that they are read as 0, 1, 5 and
// can be used as join keys; float64 otherwise.
ArrayData AxisValues(const Axis& axis);

// Calls visit(const char* name, field&) for each field, by its name in files; `Origin` is
// Provenance or const Provenance; the type of a field is std::string or int64_t.
template <typename Origin, typename Visit>
void ForEachField(Origin& provenance, Visit&& visit) {
  // Fails to compile if a field is added to Provenance.
  auto& [program, version, created, command, model_path, model_hash, architecture, dtype, products,
         weights, device, instructions, threads, seed, options_json, libraries] = provenance;
  visit("program", program);
  visit("version", version);
  visit("created", created);
  visit("command", command);
  visit("model_path", model_path);
  visit("model_hash", model_hash);
  visit("architecture", architecture);
  visit("dtype", dtype);
  visit("products", products);
  visit("weights", weights);
  visit("device", device);
  visit("instructions", instructions);
  visit("threads", threads);
  visit("seed", seed);
  visit("options_json", options_json);
  visit("libraries", libraries);
}

}  // namespace midscope
