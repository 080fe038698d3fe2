// SPDX-License-Identifier: MIT
// Files in the format of torch.save that attack other loaders, and damaged files. Contract: each
// gives an ordinary Error that names the rejected content, or loads if the damage is harmless; no
// code in them is run, and nothing crashes, hangs or allocates memory according to an unchecked
// number in the file. Run it under the address sanitizer for full coverage. MIDSCOPE_TORCH_MUTANTS:
// number of mutated files (20,000 before a release); MIDSCOPE_TORCH_ACCEPTED: a folder to which the
// pickles of those that load are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <span>

#include "core/formats/pickle_reader.h"
#include "core/formats/torch_file.h"
#include "core/formats/torch_pickle.h"
#include "core/formats/zip_directory.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/memory_limit.h"
#include "tests/core/support/torch_writer.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::MemoryLimit;
using test::Raw;
using test::TorchParts;
using test::WriteZip;
using test::ZipPart;
using test::pickle::Dictionary;
using test::pickle::Integer;
using test::pickle::Integers;
using test::pickle::Name;
using test::pickle::Storage;
using test::pickle::Tensor;
using test::pickle::Text;
using test::pickle::Tuple;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Reads all bytes of all tensors. The file is on the heap, for the sanitizer.
int64_t Load(const std::string& file) {
  const std::unique_ptr<std::byte[]> bytes(new std::byte[file.size()]);
  std::memcpy(bytes.get(), file.data(), file.size());
  std::deque<std::vector<std::byte>> copies;
  int64_t sum = 0;
  for (const auto& [name, tensor] : ReadTorchFile({bytes.get(), file.size()}, "file", &copies)) {
    for (int64_t i = 0; i < tensor.bytes; ++i) sum += static_cast<int64_t>(tensor.data[i]);
  }
  return sum;
}

std::string ErrorOf(const std::string& file) {
  return ErrorMessage([&] { Load(file); });
}

const std::string kGood = Tensor(Storage("FloatStorage", "0", 4), 0, {2, 2}, {2, 1});

// The message for an archive with this pickle and a storage of 4 floats; "" where it loads.
std::string PickleError(const std::string& pickle) {
  return ErrorOf(WriteZip(TorchParts(pickle, {std::string(16, 'x')})));
}
// With this value beside a tensor.
std::string ValueError(const std::string& value) {
  return PickleError(Dictionary({{"good", kGood}, {"bad", value}}));
}
std::string TensorError(int64_t offset, const std::vector<int64_t>& shape,
                        const std::vector<int64_t>& strides) {
  return ValueError(Tensor(Storage("FloatStorage", "0", 4), offset, shape, strides));
}

TEST(HostileTorch, TheGoodFileItselfLoads) {
  EXPECT_EQ(ValueError("N"), "");
  EXPECT_EQ(TensorError(0, {4}, {1}), "");
}

TEST(HostileTorch, NamesOutsideTheListAreRefusedWhetherCalledOrNot) {
  EXPECT_THAT(ValueError(Name("os", "system") + Tuple({Text("id")}) + "R"),
              AllOf(HasSubstr("it names 'os.system'"), HasSubstr("Nothing of it was run")));
  EXPECT_THAT(ValueError(Name("os", "system")), HasSubstr("'os.system'"));
  EXPECT_THAT(ValueError("\x8c\x08"
                         "builtins\x8c\x04"
                         "eval\x93\x8c\x01"
                         "1\x85R"),
              HasSubstr("'builtins.eval'"));
  for (const auto& [module, name] :
       std::vector<std::pair<std::string, std::string>>{{"posix", "system"},
                                                        {"__builtin__", "exec"},
                                                        {"torch.storage", "_load_from_bytes"},
                                                        {"torch.hub", "load"},
                                                        {"torch", "load"},
                                                        {"torch", ""},
                                                        {"", ""},
                                                        {"torch", "FloatStorage.__init__"},
                                                        {"torch.storage", "TypedStorage"},
                                                        {"collections", "OrderedDict.fromkeys"},
                                                        {"collections.OrderedDict", "update"},
                                                        {"torch._utils", "_rebuild_qtensor"},
                                                        {"numpy.core.multiarray", "_reconstruct"},
                                                        {"_codecs", "encode"},
                                                        {"copyreg", "_reconstructor"}}) {
    EXPECT_THAT(ValueError(Name(module, name)),
                HasSubstr(std::string("'").append(module).append(".").append(name).append("'")));
  }
  EXPECT_THAT(ValueError("c" + std::string(1000, 'a')), HasSubstr("has no end"));
  EXPECT_THAT(ValueError("K\1K\2\x93"), HasSubstr("is not a string"));
}

TEST(HostileTorch, CallsOfKnownNamesInOddWays) {
  const std::string ordered = Name("collections", "OrderedDict");
  EXPECT_EQ(ValueError(ordered + ")R}(" + Text("_metadata") + "}ub"), "");
  EXPECT_THAT(ValueError(ordered + "}b"),
              HasSubstr("the attributes of collections.OrderedDict (BUILD)"));
  EXPECT_THAT(ValueError(Name("torch", "FloatStorage") + "}b"), HasSubstr("(BUILD)"));
  EXPECT_THAT(ValueError(kGood + "}b"), HasSubstr("(BUILD)"));
  EXPECT_THAT(ValueError(ordered + ")RK\1b"), HasSubstr("(BUILD)"));
  EXPECT_THAT(ValueError("}}b"), HasSubstr("(BUILD)"));
  const std::string odd = "in a way that no state dict does";
  EXPECT_THAT(ValueError(ordered + Tuple({"]"}) + "R"), HasSubstr(odd));
  EXPECT_THAT(ValueError(ordered + "]R"), HasSubstr("only functions are called, with tuples"));
  EXPECT_THAT(ValueError("K\1)R"), HasSubstr("only functions are called"));
  const std::string rebuild = Name("torch._utils", "_rebuild_tensor_v2");
  const std::string storage = Storage("FloatStorage", "0", 4);
  EXPECT_THAT(ValueError(rebuild + ")R"), HasSubstr("_rebuild_tensor_v2 " + odd));
  const auto call = [&](const std::vector<std::string>& arguments) {
    return ValueError(rebuild + Tuple(arguments) + "R");
  };
  const std::string none = "N";
  const std::string no = "\x89";
  const std::string two = Integers({2});
  const std::string one = Integers({1});
  EXPECT_EQ(call({storage, "K\1", two, one, no, none}), "");
  EXPECT_EQ(call({storage, "K\1", two, one, no, none, "}"}), "");
  EXPECT_THAT(call({storage, "K\1", two, one, no, none, "}", none}), HasSubstr(odd));
  EXPECT_THAT(call({"K\1", "K\1", two, one, no, none}), HasSubstr(odd));
  EXPECT_THAT(call({kGood, "K\1", two, one, no, none}), HasSubstr(odd));
  EXPECT_THAT(call({storage, Text("1"), two, one, no, none}), HasSubstr(odd));
  EXPECT_THAT(call({storage, Integer(-1), two, one, no, none}), HasSubstr(odd));
  EXPECT_THAT(call({storage, "K\1", Integers({-2}), one, no, none}), HasSubstr(odd));
  EXPECT_THAT(call({storage, "K\1", two, Integers({-1}), no, none}), HasSubstr(odd));
  EXPECT_THAT(call({storage, "K\1", two, Integers({1, 1}), no, none}), HasSubstr(odd));
  EXPECT_THAT(call({storage, "K\1", "]", "]", no, none}), HasSubstr(odd));
  EXPECT_THAT(call({storage, "K\1", two, one, none, none}), HasSubstr(odd));
  EXPECT_THAT(call({storage, "K\1", two, one, no, kGood}), HasSubstr(odd));
  const std::string negative = "}(" + Text("neg") + "\x88u";
  EXPECT_THAT(call({storage, "K\1", two, one, no, none, negative}), HasSubstr("metadata"));
  EXPECT_THAT(ValueError(Name("torch", "FloatStorage") + ")R"), HasSubstr(odd));
  EXPECT_THAT(ValueError(Name("torch", "float32") + ")R"), HasSubstr("torch.float32 " + odd));
  EXPECT_THAT(ValueError(Name("torch.nn.parameter", "Parameter") + Tuple({kGood}) + "R"),
              HasSubstr(odd));
  EXPECT_THAT(ValueError(Name("torch", "Size") + Tuple({Text("a")}) + "R"), HasSubstr(odd));
  EXPECT_THAT(ValueError(Name("torch._utils", "_rebuild_parameter") + Tuple({"N", no, none}) + "R"),
              HasSubstr(odd));
  const std::string from_type = Name("torch._tensor", "_rebuild_from_type_v2");
  const std::string arguments = Tuple({storage, "K\1", two, one, no, none});
  const std::string tensor_class = Name("torch", "Tensor");
  EXPECT_EQ(ValueError(from_type + Tuple({rebuild, tensor_class, arguments, "}"}) + "R"), "");
  EXPECT_THAT(ValueError(from_type + Tuple({from_type, tensor_class, arguments, "}"}) + "R"),
              HasSubstr(odd));
  EXPECT_THAT(ValueError(from_type + Tuple({rebuild, ordered, arguments, "}"}) + "R"),
              HasSubstr(odd));
}

TEST(HostileTorch, PersistentIdsThatAreNotStorages) {
  const auto error = [](const std::string& kind, const std::string& type, const std::string& key,
                        const std::string& size) {
    return ValueError(Tuple({kind, type, key, Text("cpu"), size}) + "Q");
  };
  const std::string floats = Name("torch", "FloatStorage");
  EXPECT_EQ(error(Text("storage"), floats, Text("0"), "K\4"), "");
  for (const std::string key :
       {"../../../etc/passwd", "/etc/passwd", "0/../1", "", "-1", "0x1", "000000000000000000000"}) {
    EXPECT_THAT(error(Text("storage"), floats, Text(key), "K\4"),
                HasSubstr("'" + key + "' as the key of a storage; it must be a number"));
  }
  EXPECT_THAT(error(Text("storage"), floats, Text("1"), "K\4"),
              HasSubstr("has no entry for its storage '1'"));
  EXPECT_THAT(error(Text("module"), floats, Text("0"), "K\4"), HasSubstr("persistent id"));
  EXPECT_THAT(ValueError(Text("/etc/passwd") + "Q"),
              HasSubstr("has the string '/etc/passwd' as a persistent id"));
  EXPECT_THAT(error(Text("storage"), Name("collections", "OrderedDict"), Text("0"), "K\4"),
              HasSubstr("collections.OrderedDict as the class of a storage"));
  EXPECT_THAT(error(Text("storage"), Text("FloatStorage"), Text("0"), "K\4"),
              HasSubstr("as the class of a storage"));
  EXPECT_THAT(error(Text("storage"), floats, Text("0"), Integer(-1)), HasSubstr("no size"));
  for (const int64_t size : {int64_t{3}, int64_t{5}, int64_t{1} << 62, INT64_MAX}) {
    EXPECT_THAT(ErrorOf(WriteZip(TorchParts(
                    Dictionary({{"a", Tensor(Storage("FloatStorage", "0", size), 0, {1}, {1})}}),
                    {std::string(16, 'x')}))),
                HasSubstr("16 bytes, which"));
  }
  EXPECT_THAT(ValueError(Storage("HalfStorage", "0", 8)), HasSubstr("in two ways"));
}

TEST(HostileTorch, TensorsBeyondTheirStorage) {
  const std::string beyond = "tensor 'bad' reaches beyond its storage";
  EXPECT_THAT(TensorError(0, {5}, {1}), HasSubstr(beyond));
  EXPECT_THAT(TensorError(4, {1}, {1}), HasSubstr(beyond));
  EXPECT_THAT(TensorError(4, {}, {}), HasSubstr(beyond));
  EXPECT_THAT(TensorError(0, {2, 2}, {3, 1}), HasSubstr(beyond));
  EXPECT_THAT(TensorError(INT64_MAX, {1}, {1}), HasSubstr(beyond));
  EXPECT_THAT(TensorError(0, {2}, {INT64_MAX}), HasSubstr(beyond));
  EXPECT_THAT(TensorError(0, {INT64_MAX, INT64_MAX}, {INT64_MAX, INT64_MAX}), HasSubstr(beyond));
  EXPECT_THAT(TensorError(1, std::vector<int64_t>(64, 2), std::vector<int64_t>(64, INT64_MAX)),
              HasSubstr(beyond));
  EXPECT_THAT(TensorError(0, std::vector<int64_t>(65, 1), std::vector<int64_t>(65, 1)),
              HasSubstr("in a way"));
  EXPECT_EQ(TensorError(3, {}, {}), "");
  EXPECT_EQ(TensorError(99, {0, INT64_MAX}, {1, 1}), "");
  EXPECT_EQ(TensorError(3, {1, 1}, {INT64_MAX, INT64_MAX}), "");
}

TEST(HostileTorch, ExpandedViewsAreNotCopiedWithoutEnd) {
  const MemoryLimit limit(256 << 20);
  EXPECT_EQ(TensorError(0, {1000, 4}, {0, 1}), "");
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {int64_t{1} << 40}, {INT64_MAX}, {INT64_MAX, INT64_MAX}, {int64_t{1} << 32, 1 << 30}}) {
    EXPECT_THAT(TensorError(0, shape, std::vector<int64_t>(shape.size(), 0)),
                HasSubstr("tensor 'bad' is an expanded view"));
  }
}

TEST(HostileTorch, OpcodesOfObjectsAndOtherProtocols) {
  for (const auto& [opcode, name] : std::vector<std::pair<std::string, std::string>>{
           {"ios\nsystem\n", "INST"},
           {"(cos\nsystem\n", "os.system"},
           {"(K\1o", "OBJ"},
           {"\x82\1", "EXT1"},
           {"\x83\1\1", "EXT2"},
           {"\x84\1\1\1\1", "EXT4"},
           {Name("collections", "OrderedDict") + ")\x81", "NEWOBJ"},
           {Name("collections", "OrderedDict") + ")}\x92", "NEWOBJ_EX"},
           {"P/etc/passwd\n", "PERSID"},
           {"\x8f", "EMPTY_SET"},
           {"\x96", "BYTEARRAY8"},
           {"\x97", "NEXT_BUFFER"},
           {"I1\n", "INT"},
           {"S'a'\n", "STRING"},
           {"2", "DUP"},
           {"0", "POP"}}) {
    EXPECT_THAT(ValueError(opcode), HasSubstr(name));
  }
  EXPECT_THAT(ValueError("\xff"), HasSubstr("unknown opcode 255"));
  EXPECT_THAT(PickleError("}."), HasSubstr("does not begin with a protocol"));
  EXPECT_THAT(PickleError("\x80\x06}."), HasSubstr("protocol 6; 2 to 5 are read"));
  EXPECT_THAT(PickleError("\x80\x02(dp0\n."), HasSubstr("opcode DICT"));
}

TEST(HostileTorch, StacksThatAreEmptyOrLeftOver) {
  for (const std::string pickle : {"",
                                   "\x80",
                                   "\x80\x02",
                                   "\x80\x02.",
                                   "\x80\x02}",
                                   "\x80\x02}}.",
                                   "\x80\x02(.",
                                   "\x80\x02}(.",
                                   "\x80\x02}.}",
                                   "\x80\x02t.",
                                   "\x80\x02u.",
                                   "\x80\x02R.",
                                   "\x80\x02}R.",
                                   "\x80\x02Q.",
                                   "\x80\x02"
                                   "b.",
                                   "\x80\x02}(K\1u.",
                                   "\x80\x02\x87.",
                                   "\x80\x02h\1.",
                                   "\x80\x02q\1.",
                                   "\x80\x02}(\x85.",
                                   "\x80\x02\x93."}) {
    EXPECT_THAT(PickleError(pickle), HasSubstr("damaged")) << pickle;
  }
  EXPECT_THAT(PickleError("\x80\x02K\1."), HasSubstr("holds the integer 1, not a dictionary"));
  EXPECT_THAT(PickleError("\x80\x02}K\1K\1s."), HasSubstr("where the name of a tensor"));
  EXPECT_THAT(PickleError("\x80\x02]K\1K\1s."), HasSubstr("not a dictionary"));
  EXPECT_THAT(PickleError("\x80\x02}K\1a."), HasSubstr("not a list"));
}

TEST(HostileTorch, LengthsBeyondThePickle) {
  const MemoryLimit limit(64 << 20);
  for (const std::string& opcode :
       {"\x8b" + Raw(INT32_MAX), "\x8b" + Raw(-1), "X" + Raw(UINT32_MAX), "T" + Raw(INT32_MAX),
        "\x8d" + Raw(UINT64_MAX), "\x8d" + Raw(uint64_t{1} << 40), std::string("\x8c\xff"),
        std::string("\x8a\xff")}) {
    EXPECT_THAT(ValueError(opcode), HasSubstr("ends early"));
  }
  EXPECT_THAT(ValueError("\x95" + Raw(UINT64_MAX)), HasSubstr("a frame"));
  EXPECT_THAT(ValueError("\x8a\x09" + std::string(9, '\1')), HasSubstr("an integer of 9 bytes"));
  EXPECT_EQ(ValueError("\x8a" + std::string(1, '\0')), "");
  EXPECT_THAT(ValueError("X" + Raw(2u) + "\xff\xfe"), HasSubstr("not UTF-8"));
}

// Values that hold themselves, and tuples whose elements double sixty times.
TEST(HostileTorch, ValuesThatShareOrHoldThemselves) {
  const MemoryLimit limit(64 << 20);
  EXPECT_EQ(ValueError("]q\1h\1a"), "");
  EXPECT_EQ(ValueError("}q\1(" + Text("self") + "h\1u"), "");
  EXPECT_EQ(PickleError("\x80\x02}q\1(" + Text("self") + "h\1" + Text("good") + kGood + "u."), "");
  std::string doubled = "]q" + std::string(1, '\0');
  for (char i = 0; i < 60; ++i) {
    doubled.insert(0, "(");
    doubled.append({'h', i, 't', 'q', static_cast<char>(i + 1)});
  }
  EXPECT_EQ(ValueError(doubled), "");
}

// Files of megabytes, so without an archive around them.
TEST(HostileTorch, DeepNestingAndTooManyValues) {
  const auto error = [](const std::string& value) {
    const std::string pickle = "\x80\x02" + value;
    return ErrorMessage([&] { ReadTorchPickle(std::as_bytes(std::span(pickle)), "file"); });
  };
  EXPECT_THAT(error(std::string(100'000, '(')), HasSubstr("nested too deeply"));
  // Without marks depth costs nothing, but every value counts.
  EXPECT_THAT(error(std::string(500'000, ']') + std::string(499'999, 'a') + "."),
              HasSubstr("holds a list, not a dictionary"));
  EXPECT_THAT(error(std::string(PickleReader::kMaxValues + 1, 'N')),
              HasSubstr("more than 1048576 values"));
  std::string recalled = "Nq\1(";
  for (size_t i = 0; i <= PickleReader::kMaxValues; ++i) recalled += "h\1";
  EXPECT_THAT(error(recalled), HasSubstr("stacks more than"));
  std::string remembered = "N";
  for (uint32_t i = 0; i <= PickleReader::kMaxValues; ++i) remembered += "r" + Raw(i);
  EXPECT_THAT(error(remembered), HasSubstr("remembers too many"));
  EXPECT_THAT(error(std::string(PickleReader::kMaxBytes, 'N')), HasSubstr("at most 33554432"));
}

TEST(HostileTorch, FilesThatAreCutOffOrCompressed) {
  std::vector<ZipPart> parts = TorchParts(Dictionary({{"good", kGood}}), {std::string(16, 'x')});
  const std::string good = WriteZip(parts);
  EXPECT_EQ(ErrorOf(good), "");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(ErrorOf(good.substr(0, size)), "") << size;
  parts[3].method = 8;  // version, which is not read
  EXPECT_EQ(ErrorOf(WriteZip(parts)), "");
  parts[2].method = 8;
  EXPECT_THAT(ErrorOf(WriteZip(parts)), HasSubstr("'a/data/0' is compressed"));
}

std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  for (int i = 0; i < 8; ++i) {
    std::ifstream file(
        std::string(MIDSCOPE_TESTS "/core/golden/torch_files/00") + std::to_string(i) + ".bin",
        std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

// Overwrites, inserts, removes or repeats bytes at 1 to 4 places.
void Mutate(std::mt19937_64* random, std::string* bytes) {
  constexpr std::array<uint64_t, 6> kNumbers = {0,         1,          UINT64_MAX,
                                                INT64_MAX, UINT32_MAX, 1ULL << 32};
  // Opcodes, complete and not, and names that must never be found.
  const std::vector<std::string> pieces = {"R",
                                           "b",
                                           "Q",
                                           ".",
                                           "(",
                                           "t",
                                           "u",
                                           "}",
                                           "]",
                                           "e",
                                           "h\1",
                                           "q\1",
                                           "N",
                                           "\x93",
                                           "\x94",
                                           "\x81",
                                           "o",
                                           "0",
                                           "2",
                                           "\x85",
                                           "\x8a\xff",
                                           "cos\nsystem\n",
                                           "cbuiltins\neval\n",
                                           "ctorch\nFloatStorage\n",
                                           "ccollections\nOrderedDict\n",
                                           "\x8c\x02os\x8c\x06system\x93",
                                           "PK\1\2",
                                           "PK\3\4",
                                           "K\1",
                                           "M\xff\xff",
                                           "J\xff\xff\xff\xff"};
  const uint64_t places = 1 + (*random)() % 4;
  for (uint64_t i = 0; i < places && !bytes->empty(); ++i) {
    const size_t place = (*random)() % bytes->size();
    const std::string& piece = pieces[(*random)() % pieces.size()];
    switch ((*random)() % 7) {
      case 0: {
        const uint64_t number = kNumbers.at((*random)() % kNumbers.size());
        const size_t width = size_t{2} << (*random)() % 3;
        std::memcpy(bytes->data() + place, &number, std::min(width, bytes->size() - place));
        break;
      }
      case 1:
        bytes->replace(place, std::min(piece.size(), bytes->size() - place), piece);
        break;
      case 2:
        bytes->insert(place, piece);
        break;
      case 3:
        bytes->erase(place, 1 + (*random)() % 8);
        break;
      case 4:
        bytes->insert(place, bytes->substr((*random)() % bytes->size(), (*random)() % 64));
        break;
      default:
        (*bytes)[place] = static_cast<char>((*random)());
    }
  }
}

// Every second mutant has changes in the whole file, the others in the pickle alone, in a valid
// archive.
TEST(HostileTorch, MutatedFilesLoadOrAreRefused) {
  const char* asked = std::getenv("MIDSCOPE_TORCH_MUTANTS");
  const char* folder = std::getenv("MIDSCOPE_TORCH_ACCEPTED");
  const int count = asked == nullptr ? 800 : std::atoi(asked);
  const std::vector<std::string> files = GoldenFiles();
  std::mt19937_64 random(7);
  int accepted = 0;
  for (int i = 0; i < count; ++i) {
    const std::string& original = files[random() % files.size()];
    std::vector<ZipPart> parts;
    std::string pickle;
    for (const auto& [name, entry] : ReadZipDirectory(std::as_bytes(std::span(original)), "file")) {
      const std::string bytes(reinterpret_cast<const char*>(entry.data.data()), entry.data.size());
      parts.push_back({std::string(name), bytes});
    }
    std::string mutant = original;
    if (i % 2 == 0) {
      Mutate(&random, &mutant);
    } else {
      for (ZipPart& part : parts) {
        if (!part.name.ends_with("data.pkl")) continue;
        Mutate(&random, &part.bytes);
        pickle = part.bytes;
      }
      mutant = WriteZip(parts);
    }
    const std::string error = ErrorOf(mutant);
    if (!error.empty()) continue;
    ++accepted;
    if (folder != nullptr && !pickle.empty())
      std::ofstream(std::string(folder) + "/" + std::to_string(i) + ".pkl", std::ios::binary)
          << pickle;
  }
  std::printf("%d of %d mutants load\n", accepted, count);
  EXPECT_GT(accepted, count / 100);
  EXPECT_LT(accepted, count / 2);
}

}  // namespace
}  // namespace midscope
