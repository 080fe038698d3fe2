// SPDX-License-Identifier: MIT
#include "core/formats/pickle_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers of pickles are little-endian");

constexpr size_t kMaxNameBytes = 256;  // length of a module's name, or of a name in it
constexpr uint8_t kStop = '.';
constexpr uint8_t kProtocol = 0x80;

struct Opcode {
  uint8_t code;
  std::string_view name;
};

// Opcodes of other protocols, and of objects that no state dict contains.
constexpr std::array kRefusedOpcodes = {Opcode{'i', "INST"},
                                        Opcode{'o', "OBJ"},
                                        Opcode{0x81, "NEWOBJ"},
                                        Opcode{0x92, "NEWOBJ_EX"},
                                        Opcode{0x82, "EXT1"},
                                        Opcode{0x83, "EXT2"},
                                        Opcode{0x84, "EXT4"},
                                        Opcode{'P', "PERSID"},
                                        Opcode{'I', "INT"},
                                        Opcode{'L', "LONG"},
                                        Opcode{'F', "FLOAT"},
                                        Opcode{'S', "STRING"},
                                        Opcode{'V', "UNICODE"},
                                        Opcode{'g', "GET"},
                                        Opcode{'p', "PUT"},
                                        Opcode{'d', "DICT"},
                                        Opcode{'l', "LIST"},
                                        Opcode{'0', "POP"},
                                        Opcode{'1', "POP_MARK"},
                                        Opcode{'2', "DUP"},
                                        Opcode{0x8f, "EMPTY_SET"},
                                        Opcode{0x90, "ADDITEMS"},
                                        Opcode{0x91, "FROZENSET"},
                                        Opcode{'B', "BINBYTES"},
                                        Opcode{'C', "SHORT_BINBYTES"},
                                        Opcode{0x8e, "BINBYTES8"},
                                        Opcode{0x96, "BYTEARRAY8"},
                                        Opcode{0x97, "NEXT_BUFFER"},
                                        Opcode{0x98, "READONLY_BUFFER"}};

}  // namespace

PickleReader::PickleReader(std::span<const std::byte> bytes, std::string thing)
    : bytes_(bytes), thing_(std::move(thing)) {}

void PickleReader::Refuse(const std::string& reason) const {
  throw Failure(thing_, fmt::format("{} (byte {} of its pickle)", reason, opcode_position_),
                "Nothing of it was run. If you trust the file, save its weights alone: in Python, "
                "torch.save(model.state_dict(), FILE)");
}

void PickleReader::Damaged(const std::string& reason) const {
  throw Failure(thing_, fmt::format("{} (byte {} of its pickle)", reason, opcode_position_),
                "The file is damaged: fetch it again");
}

std::string PickleReader::Describe(const PickleValue& value) const {
  switch (value.kind) {
    case PickleKind::kNone:
      return "None";
    case PickleKind::kBool:
      return value.number != 0 ? "True" : "False";
    case PickleKind::kInteger:
      return fmt::format("the integer {}", value.number);
    case PickleKind::kFloat:
      return "a float";
    case PickleKind::kText:
      return "the string " + Quote(value.text, 80);
    case PickleKind::kTuple:
      return fmt::format("a tuple of {}", value.items.size());
    case PickleKind::kList:
      return "a list";
    case PickleKind::kDict:
    case PickleKind::kOrderedDict:
      return "a dictionary";
    case PickleKind::kName:
      return NameOf(value.number);
    case PickleKind::kObject:
      return "a tensor or a storage";
  }
  return "";
}

PickleIndex PickleReader::Read() {
  if (bytes_.size() > kMaxBytes) {
    Damaged(
        fmt::format("its pickle is {} bytes long; at most {} are read", bytes_.size(), kMaxBytes));
  }
  if (Number<uint8_t>() != kProtocol) Damaged("its pickle does not begin with a protocol");
  if (const auto protocol = Number<uint8_t>(); protocol < 2 || protocol > 5)
    Refuse(fmt::format("its pickle is of protocol {}; 2 to 5 are read", protocol));
  while (true) {
    opcode_position_ = position_;
    const auto opcode = Number<uint8_t>();
    if (opcode == kStop) break;
    Step(opcode);
  }
  if (stack_.size() != 1 || !marks_.empty() || position_ != bytes_.size())
    Damaged("its pickle ends with values left over");
  return stack_[0];
}

void PickleReader::Step(uint8_t opcode) {
  if (StepNumber(opcode) || StepText(opcode) || StepContainer(opcode) || StepMemo(opcode) ||
      StepName(opcode))
    return;
  for (const Opcode& refused : kRefusedOpcodes) {
    if (refused.code != opcode) continue;
    Refuse(fmt::format("it has the pickle opcode {}, which weights have no need of", refused.name));
  }
  Damaged(fmt::format("its pickle has the unknown opcode {}", opcode));
}

bool PickleReader::StepNumber(uint8_t opcode) {
  switch (opcode) {
    case 'N':  // NONE
      Push({});
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      Push({PickleKind::kBool, opcode == 0x88 ? 1 : 0, {}, {}});
      return true;
    case 'J':  // BININT
      Push({PickleKind::kInteger, Number<int32_t>(), {}, {}});
      return true;
    case 'K':  // BININT1
      Push({PickleKind::kInteger, Number<uint8_t>(), {}, {}});
      return true;
    case 'M':  // BININT2
      Push({PickleKind::kInteger, Number<uint16_t>(), {}, {}});
      return true;
    case 0x8a:  // LONG1
      PushInteger(Number<uint8_t>());
      return true;
    case 0x8b:  // LONG4, whose length is signed: a negative one would be longer than any pickle
                // here
      PushInteger(Number<uint32_t>());
      return true;
    case 'G':  // BINFLOAT
      Take(sizeof(double));
      Push({PickleKind::kFloat, 0, {}, {}});
      return true;
    case 0x95:  // FRAME: a hint for buffers
      if (Number<uint64_t>() > bytes_.size() - position_)
        Damaged("a frame of its pickle is longer than the pickle");
      return true;
    default:
      return false;
  }
}

bool PickleReader::StepText(uint8_t opcode) {
  switch (opcode) {
    case 0x8c:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
      PushText(Number<uint8_t>());
      return true;
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
      PushText(Number<uint32_t>());
      return true;
    case 0x8d:  // BINUNICODE8
      PushText(Number<uint64_t>());
      return true;
    default:
      return false;
  }
}

bool PickleReader::StepContainer(uint8_t opcode) {
  switch (opcode) {
    case '(':  // MARK
      if (marks_.size() == kMaxMarks) Refuse("its values are nested too deeply");
      marks_.push_back(stack_.size());
      return true;
    case ')':   // EMPTY_TUPLE
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      PushTuple(opcode == ')' ? 0 : opcode - 0x84);
      return true;
    case 't':  // TUPLE
      Push({PickleKind::kTuple, 0, {}, PopMarked()});
      return true;
    case ']':  // EMPTY_LIST
      Push({PickleKind::kList, 0, {}, {}});
      return true;
    case 'a':  // APPEND
      Append({Pop()});
      return true;
    case 'e':  // APPENDS
      Append(PopMarked());
      return true;
    case '}':  // EMPTY_DICT
      Push({PickleKind::kDict, 0, {}, {}});
      return true;
    case 's': {  // SETITEM
      const PickleIndex item = Pop();
      SetItems({Pop(), item});
      return true;
    }
    case 'u':  // SETITEMS
      SetItems(PopMarked());
      return true;
    default:
      return false;
  }
}

bool PickleReader::StepMemo(uint8_t opcode) {
  switch (opcode) {
    case 'q':  // BINPUT
      Remember(Number<uint8_t>());
      return true;
    case 'r':  // LONG_BINPUT
      Remember(Number<uint32_t>());
      return true;
    case 0x94:  // MEMOIZE
      Remember(static_cast<uint32_t>(memo_.size()));
      return true;
    case 'h':  // BINGET
      Recall(Number<uint8_t>());
      return true;
    case 'j':  // LONG_BINGET
      Recall(Number<uint32_t>());
      return true;
    default:
      return false;
  }
}

bool PickleReader::StepName(uint8_t opcode) {
  switch (opcode) {
    case 'c': {  // GLOBAL
      const std::string_view module = Line();
      Push({PickleKind::kName, NumberOf(module, Line()), {}, {}});
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const PickleIndex name = Pop();
      const PickleIndex module = Pop();
      if (value(name).kind != PickleKind::kText || value(module).kind != PickleKind::kText)
        Damaged("a name in its pickle is not a string");
      Push({PickleKind::kName, NumberOf(value(module).text, value(name).text), {}, {}});
      return true;
    }
    case 'R':
      Reduce();
      return true;
    case 'b':
      Build();
      return true;
    case 'Q':  // BINPERSID
      Push(Load(value(Pop())));
      return true;
    default:
      return false;
  }
}

// Returns the next `bytes` bytes after a bounds check. Every read of the pickle uses it.
const std::byte* PickleReader::Take(uint64_t bytes) {
  if (bytes > bytes_.size() - position_) {
    Damaged(fmt::format("its pickle ends early: {} bytes are missing",
                        bytes - (bytes_.size() - position_)));
  }
  const std::byte* begin = bytes_.data() + position_;
  position_ += bytes;
  return begin;
}

template <class T>
T PickleReader::Number() {
  T number{};
  std::memcpy(&number, Take(sizeof number), sizeof number);
  return number;
}

std::string_view PickleReader::Line() {
  const size_t most = std::min(bytes_.size() - position_, kMaxNameBytes + 1);
  const std::string_view rest(reinterpret_cast<const char*>(bytes_.data() + position_), most);
  const size_t length = rest.find('\n');
  if (length == std::string_view::npos) Damaged("a name in its pickle has no end");
  position_ += length + 1;
  return rest.substr(0, length);
}

void PickleReader::PushText(uint64_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(Take(bytes)), bytes);
  if (FindInvalidUtf8(text)) Damaged("a string in its pickle is not UTF-8");
  Push({PickleKind::kText, 0, text, {}});
}

// Pushes an integer stored as little-endian two's complement in `bytes` bytes.
void PickleReader::PushInteger(uint64_t bytes) {
  const std::byte* digits = Take(bytes);
  if (bytes > sizeof(int64_t))
    Refuse(fmt::format("it has an integer of {} bytes; at most 8 are read", bytes));
  uint64_t number = 0;
  if (bytes > 0) {
    const bool negative = (digits[bytes - 1] & std::byte{0x80}) != std::byte{0};
    number = negative ? UINT64_MAX : 0;
    std::memcpy(&number, digits, bytes);
  }
  Push({PickleKind::kInteger, static_cast<int64_t>(number), {}, {}});
}

void PickleReader::Push(PickleValue value) {
  if (values_.size() == kMaxValues)
    Refuse(fmt::format("its pickle has more than {} values", kMaxValues));
  values_.push_back(std::move(value));
  PushIndex(static_cast<PickleIndex>(values_.size() - 1));
}

void PickleReader::PushIndex(PickleIndex index) {
  if (stack_.size() == kMaxValues)
    Refuse(fmt::format("its pickle stacks more than {} values", kMaxValues));
  stack_.push_back(index);
}

PickleIndex PickleReader::Top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    Damaged("its pickle takes a value where there is none");
  return stack_.back();
}

PickleIndex PickleReader::Pop() {
  const PickleIndex top = Top();
  stack_.pop_back();
  return top;
}

std::vector<PickleIndex> PickleReader::PopMarked() {
  if (marks_.empty()) Damaged("its pickle takes values without a mark");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleIndex> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleReader::PushTuple(size_t size) {
  std::vector<PickleIndex> items(size);
  for (size_t i = size; i > 0; --i) items[i - 1] = Pop();
  Push({PickleKind::kTuple, 0, {}, std::move(items)});
}

void PickleReader::Append(std::vector<PickleIndex> items) {
  PickleValue& list = values_[Top()];
  if (list.kind != PickleKind::kList)
    Refuse("it appends to " + Describe(list) + ", which is not a list");
  list.items.insert(list.items.end(), items.begin(), items.end());
}

void PickleReader::SetItems(const std::vector<PickleIndex>& items) {
  PickleValue& dictionary = values_[Top()];
  if (dictionary.kind != PickleKind::kDict && dictionary.kind != PickleKind::kOrderedDict)
    Refuse("it sets items of " + Describe(dictionary) + ", which is not a dictionary");
  if (items.size() % 2 != 0) Damaged("its pickle sets a key without a value");
  dictionary.items.insert(dictionary.items.end(), items.begin(), items.end());
}

// Attributes of an OrderedDict (`_metadata` of a state dict) are ignored.
void PickleReader::Build() {
  const PickleValue& state = value(Pop());
  const PickleValue& object = value(Top());
  if (object.kind != PickleKind::kOrderedDict || state.kind != PickleKind::kDict) {
    Refuse("it changes the attributes of " + Describe(object) +
           " (BUILD), which only an OrderedDict may have");
  }
}

void PickleReader::Reduce() {
  const PickleValue& arguments = value(Pop());
  const PickleValue& callee = value(Pop());
  if (callee.kind != PickleKind::kName || arguments.kind != PickleKind::kTuple) {
    Refuse("it calls " + Describe(callee) + " with " + Describe(arguments) +
           "; only functions are called, with tuples");
  }
  Push(Call(callee.number, arguments.items));
}

void PickleReader::Remember(uint32_t key) {
  if (memo_.size() == kMaxValues) Refuse("its pickle remembers too many values");
  memo_[key] = Top();
}

void PickleReader::Recall(uint32_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) Damaged(fmt::format("its pickle has no value {} in its memo", key));
  PushIndex(found->second);
}

}  // namespace midscope
