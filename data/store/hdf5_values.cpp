// SPDX-License-Identifier: MIT
#include "data/store/hdf5_values.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "core/base/utf8.h"

namespace midscope::hdf5 {
namespace {

// Maximum bytes of an attribute. The longest are plans, options, and lists of axes and parts.
constexpr hsize_t kLargestAttributeBytes = hsize_t{16} << 20;
constexpr int64_t kLongestAttributeList = 1 << 16;

template <typename T>
hid_t NativeType() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, uint8_t>) return H5T_NATIVE_UINT8;
}

// Returns transfer properties for reading and writing with a small conversion buffer. HDF5's
// default of 1 MiB is cleared in every call, which takes longer than reading a small array.
Handle SmallTransfer() {
  constexpr size_t kBufferBytes = 16384;
  Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "set up a transfer");
  Check(H5Pset_buffer(transfer.id(), kBufferBytes, nullptr, nullptr), "set up a transfer");
  return transfer;
}

// Limits the total size of texts that HDF5 allocates. In a damaged file, all elements of an array
// could refer to the same long text, and each would get a copy.
class TextBudget {
 public:
  explicit TextBudget(int64_t bytes) : left_(bytes), transfer_(SmallTransfer()) {
    Check(H5Pset_vlen_mem_manager(transfer_.id(), Allocate, this, Free, nullptr), "set up reading");
  }
  TextBudget(const TextBudget&) = delete;
  TextBudget& operator=(const TextBudget&) = delete;

  hid_t transfer() const { return transfer_.id(); }
  bool spent() const { return left_ < 0; }

 private:
  static void* Allocate(size_t size, void* info) {
    auto* budget = static_cast<TextBudget*>(info);
    if (budget->left_ < 0 || size > static_cast<size_t>(budget->left_)) {
      budget->left_ = -1;
      return nullptr;
    }
    budget->left_ -= static_cast<int64_t>(size);
    return std::malloc(size);
  }
  static void Free(void* memory, void*) { std::free(memory); }

  int64_t left_;
  Handle transfer_;
};

// Owns strings that HDF5 allocated on reading; the destructor frees them through HDF5.
class LibraryStrings {
 public:
  LibraryStrings(hid_t type, hid_t space, size_t count, hid_t transfer = H5P_DEFAULT)
      : type_(type), space_(space), transfer_(transfer), pointers_(count, nullptr) {}
  ~LibraryStrings() { H5Dvlen_reclaim(type_, space_, transfer_, pointers_.data()); }
  LibraryStrings(const LibraryStrings&) = delete;
  LibraryStrings& operator=(const LibraryStrings&) = delete;

  char** data() { return pointers_.data(); }
  std::vector<std::string> Copy() const {
    std::vector<std::string> texts;
    texts.reserve(pointers_.size());
    for (const char* pointer : pointers_) texts.emplace_back(pointer ? pointer : "");
    return texts;
  }

 private:
  hid_t type_;
  hid_t space_;
  hid_t transfer_;
  std::vector<char*> pointers_;
};

// Texts as the pointers that HDF5 writes, with storage for texts that had to be changed
// (StorableText).
class TextPointers {
 public:
  explicit TextPointers(const std::vector<std::string>& texts) : storable_(texts.size()) {
    for (size_t i = 0; i < texts.size(); ++i) {
      storable_[i] = StorableText(texts[i]);
      pointers_.push_back(storable_[i].c_str());
    }
  }
  const char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> storable_;
  std::vector<const char*> pointers_;
};

Handle OpenAttribute(hid_t object, const std::string& name) {
  Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose,
                   "open attribute '" + name + "'");
  if (H5Aget_storage_size(attribute.id()) > kLargestAttributeBytes)
    throw Hdf5Error("attribute '" + name + "' is larger than any that Midscope writes");
  return attribute;
}

Handle CreateAttribute(hid_t object, const std::string& name, hid_t type, hid_t space) {
  return {H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
          "create attribute '" + name + "'"};
}

bool IsVariableText(hid_t type) {
  return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
}

std::vector<std::string> ReadTexts(hid_t attribute, const std::string& name) {
  const Handle type(H5Aget_type(attribute), H5Tclose, "read attribute '" + name + "'");
  if (!IsVariableText(type.id())) return {};
  const Handle space(H5Aget_space(attribute), H5Sclose, "read attribute '" + name + "'");
  const int64_t count =
      Check(H5Sget_simple_extent_npoints(space.id()), "read attribute '" + name + "'");
  if (count > kLongestAttributeList)
    throw Hdf5Error(fmt::format("attribute '{}' claims {} texts", name, count));
  const Handle memory_type = TextType();
  LibraryStrings texts(memory_type.id(), space.id(), static_cast<size_t>(count));
  Check(H5Aread(attribute, memory_type.id(), texts.data()), "read attribute '" + name + "'");
  return texts.Copy();
}

// Returns the HDF5 data spaces that select a box of a data set: in the file, and in memory.
std::pair<Handle, Handle> BoxSpaces(hid_t data_set, const Box& box) {
  Handle file_space = SpaceOf(data_set);
  if (box.sizes.empty()) {
    Handle memory_space(H5Scopy(file_space.id()), H5Sclose, "set up a data space");
    return {std::move(file_space), std::move(memory_space)};
  }
  Check(H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, box.begin.data(), nullptr,
                            box.sizes.data(), nullptr),
        "select a part of a data set");
  return {std::move(file_space), Space(box.sizes)};
}

int64_t CheckedElements(hid_t memory_space, size_t element_bytes, const FileLimits& limits) {
  const int64_t count = Check(H5Sget_simple_extent_npoints(memory_space), "count elements");
  if (count > limits.MostArrayBytes() / static_cast<int64_t>(element_bytes)) {
    throw Hdf5Error(
        fmt::format("a data set claims {} elements, more than a file of {} bytes can hold", count,
                    limits.file_bytes));
  }
  return count;
}

template <typename T>
std::vector<T> ReadNumbers(hid_t data_set, const FileLimits& limits, const Box& box) {
  const auto [file_space, memory_space] = BoxSpaces(data_set, box);
  std::vector<T> values(static_cast<size_t>(CheckedElements(memory_space.id(), sizeof(T), limits)));
  Check(H5Dread(data_set, NativeType<T>(), memory_space.id(), file_space.id(), H5P_DEFAULT,
                values.data()),
        "read a data set");
  return values;
}

std::vector<std::string> ReadTextData(hid_t data_set, const FileLimits& limits, const Box& box) {
  const auto [file_space, memory_space] = BoxSpaces(data_set, box);
  const Handle type = TextType();
  const int64_t count = CheckedElements(memory_space.id(), sizeof(char*), limits);
  // Limits the texts to the size of the file, because Midscope stores each one separately.
  TextBudget budget(limits.MostTextBytes());
  LibraryStrings texts(type.id(), memory_space.id(), static_cast<size_t>(count), budget.transfer());
  const herr_t read = H5Dread(data_set, type.id(), memory_space.id(), file_space.id(),
                              budget.transfer(), texts.data());
  if (budget.spent()) {
    H5Eclear2(H5E_DEFAULT);
    throw Hdf5Error(
        fmt::format("a data set claims texts longer than its file of {} bytes", limits.file_bytes));
  }
  Check(read, "read a data set of texts");
  return texts.Copy();
}

}  // namespace

std::string StorableText(const std::string& text) {
  const bool storable = text.find('\0') == std::string::npos && !FindInvalidUtf8(text).has_value();
  return storable ? text : DisplayText(text);
}

void WriteAttribute(hid_t object, const std::string& name, const Attribute& value) {
  const Handle space = Space({});
  if (const auto* text = std::get_if<std::string>(&value)) {
    const Handle type = TextType();
    const Handle attribute = CreateAttribute(object, name, type.id(), space.id());
    const TextPointers pointers({*text});
    Check(H5Awrite(attribute.id(), type.id(), pointers.data()), "write attribute '" + name + "'");
    return;
  }
  const bool whole = std::holds_alternative<int64_t>(value);
  const hid_t type = whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
  const Handle attribute = CreateAttribute(object, name, type, space.id());
  const void* number = whole ? static_cast<const void*>(&std::get<int64_t>(value))
                             : static_cast<const void*>(&std::get<double>(value));
  Check(H5Awrite(attribute.id(), type, number), "write attribute '" + name + "'");
}

void WriteAttribute(hid_t object, const std::string& name, const std::vector<std::string>& values) {
  const Handle space = Space({values.size()});
  const Handle type = TextType();
  const Handle attribute = CreateAttribute(object, name, type.id(), space.id());
  const TextPointers pointers(values);
  Check(H5Awrite(attribute.id(), type.id(), pointers.data()), "write attribute '" + name + "'");
}

bool HasAttribute(hid_t object, const std::string& name) {
  return Check(H5Aexists(object, name.c_str()), "look for attribute '" + name + "'") > 0;
}

std::optional<Attribute> ReadAttribute(hid_t object, const std::string& name) {
  if (!HasAttribute(object, name)) return std::nullopt;
  const Handle attribute = OpenAttribute(object, name);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose, "read attribute '" + name + "'");
  if (H5Sget_simple_extent_npoints(space.id()) != 1) return std::nullopt;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose, "read attribute '" + name + "'");
  switch (H5Tget_class(type.id())) {
    case H5T_STRING: {
      const std::vector<std::string> texts = ReadTexts(attribute.id(), name);
      if (texts.empty()) return std::nullopt;
      return texts.front();
    }
    case H5T_INTEGER: {
      int64_t value = 0;
      Check(H5Aread(attribute.id(), H5T_NATIVE_INT64, &value), "read attribute '" + name + "'");
      return value;
    }
    case H5T_FLOAT: {
      double value = 0;
      Check(H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value), "read attribute '" + name + "'");
      return value;
    }
    default:
      return std::nullopt;
  }
}

std::string ReadTextAttribute(hid_t object, const std::string& name) {
  const std::optional<Attribute> value = ReadAttribute(object, name);
  const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
  return text ? *text : "";
}

std::vector<std::string> ReadTextListAttribute(hid_t object, const std::string& name) {
  if (!HasAttribute(object, name)) return {};
  const Handle attribute = OpenAttribute(object, name);
  return ReadTexts(attribute.id(), name);
}

std::vector<std::string> AttributeNames(hid_t object) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t position = 0;
  Check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, add, &names), "list attributes");
  return names;
}

Handle TypeOf(const ArrayData& data) {
  if (std::holds_alternative<std::vector<std::string>>(data)) return TextType();
  const hid_t native = std::visit(
      [](const auto& values) -> hid_t {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>)
          return H5I_INVALID_HID;
        else
          return NativeType<T>();
      },
      data);
  return {H5Tcopy(native), H5Tclose, "set up a type"};
}

size_t ElementBytes(const ArrayData& data) {
  return std::visit(
      [](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        return std::is_same_v<T, std::string> ? sizeof(hvl_t) : sizeof(T);
      },
      data);
}

void WriteData(hid_t data_set, const ArrayData& data, const Box& box) {
  const auto spaces = BoxSpaces(data_set, box);
  const Handle type = TypeOf(data);
  const Handle transfer = SmallTransfer();
  const auto write = [&](const void* values) {
    Check(
        H5Dwrite(data_set, type.id(), spaces.second.id(), spaces.first.id(), transfer.id(), values),
        "write a data set");
  };
  if (const auto* texts = std::get_if<std::vector<std::string>>(&data)) {
    const TextPointers pointers(*texts);
    if (!texts->empty()) write(pointers.data());
    return;
  }
  std::visit(
      [&](const auto& values) {
        if (!values.empty()) write(values.data());
      },
      data);
}

ArrayData DataKind(hid_t data_set) {
  const Handle type(H5Dget_type(data_set), H5Tclose, "read a data set's type");
  const size_t bytes = H5Tget_size(type.id());
  switch (H5Tget_class(type.id())) {
    case H5T_FLOAT:
      if (bytes == sizeof(float)) return std::vector<float>{};
      if (bytes == sizeof(double)) return std::vector<double>{};
      break;
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type.id()) == H5T_SGN_2;
      if (bytes == sizeof(uint8_t) && !is_signed) return std::vector<uint8_t>{};
      if (bytes == sizeof(int64_t) && is_signed) return std::vector<int64_t>{};
      break;
    }
    case H5T_STRING:
      if (IsVariableText(type.id())) return std::vector<std::string>{};
      break;
    default:
      break;
  }
  throw Hdf5Error("a data set has a type that Midscope does not write");
}

ArrayData ReadData(hid_t data_set, const FileLimits& limits, const Box& box) {
  return std::visit(
      [&](const auto& kind) -> ArrayData {
        using T = typename std::decay_t<decltype(kind)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          return ReadTextData(data_set, limits, box);
        } else {
          return ReadNumbers<T>(data_set, limits, box);
        }
      },
      DataKind(data_set));
}

void CheckStored(hid_t data_set, const std::string& name, const FileLimits& limits) {
  const Handle create(H5Dget_create_plist(data_set), H5Pclose, "read a data set's layout");
  const Handle type(H5Dget_type(data_set), H5Tclose, "read a data set's type");
  const Handle space = SpaceOf(data_set);
  const auto bytes = static_cast<int64_t>(H5Tget_size(type.id()));
  const int64_t count = Check(H5Sget_simple_extent_npoints(space.id()), "count elements");
  const hsize_t stored = H5Dget_storage_size(data_set);
  if (bytes <= 0 || stored > INT64_MAX) throw Hdf5Error("data set '" + name + "' has no size");
  const bool packed = H5Pget_nfilters(create.id()) > 0;
  const int64_t most = packed ? limits.MostBytes(static_cast<int64_t>(stored))
                              : static_cast<int64_t>(stored) + limits.always_allowed;
  if (count <= most / bytes) return;
  throw Hdf5Error(fmt::format("data set '{}' claims {} elements, of which {} bytes are stored",
                              name, count, stored));
}

}  // namespace midscope::hdf5
