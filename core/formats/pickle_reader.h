// SPDX-License-Identifier: MIT
// Values of a Python pickle of protocol 2 to 5 (opcodes: Python's Lib/pickletools.py). The stack
// machine builds numbers, strings, tuples, lists and dictionaries. It imports and calls nothing:
// names and calls go to a derived class, which has a list of supported ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace midscope {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInteger,
  kFloat,
  kText,
  kTuple,
  kList,
  kDict,
  kOrderedDict,
  kName,    // a class or a function
  kObject,  // a result of a call, or the object of a persistent id
};

// Refers to a PickleValue. A value may occur in several others, and in itself.
using PickleIndex = uint32_t;

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t number = 0;     // kBool, kInteger; kName, kObject: the derived class's
  std::string_view text;  // kText: UTF-8, in the pickle
  // kTuple, kList: elements; dictionaries: key, value, key, value, ...
  std::vector<PickleIndex> items;
};

class PickleReader {
 public:
  // Limits, so that memory stays within a few hundred bytes per value.
  static constexpr size_t kMaxBytes = size_t{32} << 20;
  static constexpr size_t kMaxValues = size_t{1} << 20;  // also of the stack and of the memo
  static constexpr size_t kMaxMarks = 1000;

  // `bytes`: the pickle, which must outlive the reader. Errors name `thing`.
  PickleReader(std::span<const std::byte> bytes, std::string thing);
  virtual ~PickleReader() = default;
  PickleReader(const PickleReader&) = delete;
  PickleReader& operator=(const PickleReader&) = delete;

  // Returns the pickled value. Throws Error: an opcode that data have no need of, a name or a call
  // that the derived class does not support, a damaged pickle, a limit.
  PickleIndex Read();
  const PickleValue& value(PickleIndex index) const { return values_[index]; }
  // "a tuple", "the string 'abc'", for messages.
  std::string Describe(const PickleValue& value) const;

  const std::string& thing() const { return thing_; }
  // Throws Error naming the place in the pickle.
  [[noreturn]] void Refuse(const std::string& reason) const;

 protected:
  // The number of a class or a function. Must refuse what it does not know.
  virtual int64_t NumberOf(std::string_view module, std::string_view name) = 0;
  virtual std::string NameOf(int64_t number) const = 0;
  virtual PickleValue Call(int64_t name, const std::vector<PickleIndex>& arguments) = 0;
  // The object of a persistent id.
  virtual PickleValue Load(const PickleValue& id) = 0;

 private:
  [[noreturn]] void Damaged(const std::string& reason) const;
  void Step(uint8_t opcode);
  bool StepNumber(uint8_t opcode);
  bool StepText(uint8_t opcode);
  bool StepContainer(uint8_t opcode);
  bool StepMemo(uint8_t opcode);
  bool StepName(uint8_t opcode);

  const std::byte* Take(uint64_t bytes);
  template <class T>
  T Number();
  std::string_view Line();
  void PushText(uint64_t bytes);
  void PushInteger(uint64_t bytes);
  void Push(PickleValue value);
  void PushIndex(PickleIndex index);
  PickleIndex Pop();
  PickleIndex Top() const;
  std::vector<PickleIndex> PopMarked();
  void PushTuple(size_t size);
  void Append(std::vector<PickleIndex> items);
  void SetItems(const std::vector<PickleIndex>& items);
  void Build();
  void Reduce();
  void Remember(uint32_t key);
  void Recall(uint32_t key);

  std::span<const std::byte> bytes_;
  std::string thing_;
  size_t position_ = 0;
  size_t opcode_position_ = 0;
  std::deque<PickleValue> values_;
  std::vector<PickleIndex> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::unordered_map<uint32_t, PickleIndex> memo_;
};

}  // namespace midscope
