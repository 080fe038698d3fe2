// SPDX-License-Identifier: MIT
// Contract: the entries of a zip archive are found at their true offsets, or the archive is
// rejected; the central directory, local headers and descriptors must agree.
#include "core/formats/zip_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/core/support/error_message.h"
#include "tests/core/support/torch_writer.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::Raw;
using test::WriteZip;
using test::ZipPart;
using ::testing::HasSubstr;

ZipEntries Read(const std::string& file) {
  return ReadZipDirectory(std::as_bytes(std::span(file)), "file");
}

std::string ZipError(const std::string& file) {
  return ErrorMessage([&] { Read(file); });
}

std::vector<ZipPart> GoodParts() { return {{"a/one", "1234"}, {"a/two", "56"}, {"a/none", ""}}; }

// The message for a good archive with its second entry changed.
std::string PartError(const std::function<void(ZipPart*)>& change) {
  std::vector<ZipPart> parts = GoodParts();
  change(&parts.at(1));
  return ZipError(WriteZip(parts));
}

TEST(ZipDirectory, FindsEntriesWithAndWithoutZip64AndDescriptors) {
  for (const bool end64 : {false, true}) {
    for (const int form : {0, 1, 2, 3}) {
      std::vector<ZipPart> parts = GoodParts();
      for (ZipPart& part : parts) {
        part.described = form % 2 != 0;
        part.zip64 = form / 2 != 0;
      }
      const std::string file = WriteZip(parts, end64);
      const ZipEntries entries = Read(file);
      ASSERT_EQ(entries.size(), 3u);
      const auto two = entries.at("a/two").data;
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(two.data()), two.size()), "56");
      EXPECT_TRUE(entries.at("a/none").data.empty());
    }
  }
  // A comment may follow, nothing else.
  const std::string good = WriteZip(GoodParts());
  EXPECT_EQ(ZipError(good.substr(0, good.size() - 2) + Raw<uint16_t>(3) + "abc"), "");
  EXPECT_NE(ZipError(good + "x"), "");
}

TEST(ZipDirectory, SaysWhichEntriesAreCompressed) {
  for (const int field : {0, 1}) {
    std::vector<ZipPart> parts = GoodParts();
    parts[1].method = field == 0 ? 8 : 0;
    parts[1].flags = field == 0 ? 0 : 1;
    const std::string file = WriteZip(parts);
    EXPECT_TRUE(Read(file).at("a/one").stored);
    EXPECT_FALSE(Read(file).at("a/two").stored);
  }
}

TEST(HostileZip, HeadersThatContradictTheDirectory) {
  EXPECT_EQ(PartError([](ZipPart*) {}), "");
  EXPECT_THAT(PartError([](ZipPart* part) { part->local_name = "a/six"; }),
              HasSubstr("'a/two' has a header that contradicts"));
  EXPECT_THAT(PartError([](ZipPart* part) { part->extra_local_bytes = 1; }),
              HasSubstr("contradicts the directory"));
  EXPECT_THAT(PartError([](ZipPart* part) { part->offset_change = 1; }),
              HasSubstr("no header at the offset"));
  EXPECT_THAT(PartError([](ZipPart* part) { part->offset_change = 1 << 30; }),
              HasSubstr("no header at the offset"));
  std::vector<ZipPart> parts = GoodParts();
  parts[1].described = true;
  std::string file = WriteZip(parts);
  file[file.find("PK\x07\x08") + 8] ^= 1;
  EXPECT_THAT(ZipError(file), HasSubstr("descriptor that contradicts"));
  parts.push_back(parts[1]);
  EXPECT_THAT(ZipError(WriteZip(parts)), HasSubstr("'a/two' occurs twice"));
}

TEST(HostileZip, DirectoriesThatAreCutOffOrLie) {
  const std::string good = WriteZip(GoodParts());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(ZipError(good.substr(0, size)), "") << size;
  EXPECT_THAT(ZipError(good.substr(0, good.size() - 1)), HasSubstr("incomplete"));
  const auto changed = [](std::string bytes, size_t from_end, const std::string& field) {
    return ZipError(bytes.replace(bytes.size() - from_end, field.size(), field));
  };
  EXPECT_NE(changed(good, 18, Raw<uint16_t>(1)), "");  // disk
  EXPECT_NE(changed(good, 14, Raw(0x00010001u)), "");  // entries
  EXPECT_NE(changed(good, 14, Raw(UINT32_MAX)), "");   // entries
  EXPECT_NE(changed(good, 10, Raw(UINT32_MAX)), "");   // bytes
  EXPECT_NE(changed(good, 6, Raw(0u)), "");            // place
  const std::string wide = WriteZip(GoodParts(), true);
  EXPECT_EQ(ZipError(wide), "");
  EXPECT_NE(changed(wide, 22 + 12, Raw(UINT64_MAX)), "");  // place of the ZIP64 record
  EXPECT_NE(changed(wide, 22 + 12, Raw(uint64_t{0})), "");
  EXPECT_NE(changed(wide, 22 + 20 + 8, Raw(UINT64_MAX)), "");          // place of the directory
  EXPECT_NE(changed(wide, 22 + 20 + 16, Raw(UINT64_MAX)), "");         // bytes
  EXPECT_NE(changed(wide, 22 + 20 + 24, Raw(uint64_t{1} << 40)), "");  // entries
}

// An entry whose header is inside the data of another.
TEST(HostileZip, EntriesThatOverlap) {
  std::vector<ZipPart> parts = GoodParts();
  std::string file = WriteZip(parts);
  const size_t first = file.find("a/one") - 30;
  const std::string entry = file.substr(first, 30 + 5 + 4);
  parts.push_back({"a/all", entry});
  file = WriteZip(parts);
  parts[0].offset_change = static_cast<int64_t>(file.find("a/all") + 5 - first);
  EXPECT_THAT(ZipError(WriteZip(parts)), HasSubstr("overlap"));
}

}  // namespace
}  // namespace midscope
