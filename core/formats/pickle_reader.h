// SPDX-License-Identifier: MIT
// Reads the values of a Python pickle of protocol 2 to 5 (opcodes: Python's Lib/pickletools.py).
// The stack machine builds numbers, strings, tuples, lists and dictionaries. It imports and calls
// nothing: names and calls are passed to a derived class, which supports only a fixed list of them.
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
  kObject,  // the result of a call, or the object of a persistent id
};

// Index of a PickleValue. A value may be contained in several others, and in itself.
using PickleIndex = uint32_t;

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t number = 0;     // value of kBool, kInteger; the derived class sets that of kName, kObject
  std::string_view text;  // for kText: UTF-8, points into the pickle
  // Elements of a kTuple or kList; for dictionaries key, value, key, value, ...
  std::vector<PickleIndex> items;
};

class PickleReader {
 public:
  // Limits on the pickle's size and number of values; a value takes at most a few hundred bytes.
  static constexpr size_t kMaxBytes = size_t{32} << 20;
  static constexpr size_t kMaxValues = size_t{1} << 20;  // also limits the stack and the memo
  static constexpr size_t kMaxMarks = 1000;

  // `bytes`: the pickle, which must outlive the reader. Errors name `thing`.
  PickleReader(std::span<const std::byte> bytes, std::string thing);
  virtual ~PickleReader() = default;
  PickleReader(const PickleReader&) = delete;
  PickleReader& operator=(const PickleReader&) = delete;

  // Returns the pickled value. Throws Error for an opcode that plain data does not need, a name or
  // call that the derived class does not support, a damaged pickle, or an exceeded limit.
  PickleIndex Read();
  const PickleValue& value(PickleIndex index) const { return values_[index]; }
  // Returns "a tuple" or "the string 'abc'", for messages.
  std::string Describe(const PickleValue& value) const;

  const std::string& thing() const { return thing_; }
  // Throws Error with the reason and the current offset in the pickle.
  [[noreturn]] void Refuse(const std::string& reason) const;

 protected:
  // Returns a number of the derived class' choice that identifies a class or a function. Must call
  // Refuse for unknown names.
  virtual int64_t NumberOf(std::string_view module, std::string_view name) = 0;
  virtual std::string NameOf(int64_t number) const = 0;
  virtual PickleValue Call(int64_t name, const std::vector<PickleIndex>& arguments) = 0;
  // Returns the object to which a persistent id refers.
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
  std::vector<size_t> marks_;  // stack sizes at the marks
  std::unordered_map<uint32_t, PickleIndex> memo_;
};

}  // namespace midscope
