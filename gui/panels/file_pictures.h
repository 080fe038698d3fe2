// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of a file of results, without a window: what panels draw them from (Panel::Render), and
// where they are written.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "data/store/record_reader.h"
#include "gui/base/view_types.h"

namespace midscope {

class Plot;

struct RenderRequest {
  QString file;  // RUN.h5, or the address of a group in it
  QString folder;
  QStringList formats;  // of PlotFormats()
  std::optional<HeadId>
      head;  // none: the head that attends most to gold, else the largest position-awareness score
  std::optional<int64_t> channel;  // none: the first in the file
  QStringList reference = {};      // files of midscope sweep, drawn beside the outcome
};

// A's record, and B's where the window wrote the file; null for none.
struct RecordSides {
  const Record* a = nullptr;
  const Record* b = nullptr;
};

class FilePictures {
 public:
  // Both must outlive it.
  // `reference`: a record published_reference to show beside outcomes; null: the file's own.
  FilePictures(const RenderRequest& request, const RunFile& file,
               const Record* reference = nullptr);

  const RenderRequest& request() const { return request_; }
  const std::vector<Record>& records() const { return records_; }
  const Record* prompt() const { return prompt_; }        // null: none
  const Record* reference() const { return reference_; }  // null: none

  // The first records of A and B that hold the array over exactly these axes.
  RecordSides Find(const std::string& array, const std::vector<std::string>& axes) const;
  // The setting that made the record: from the record where the window wrote the file, from the
  // prompt where midscope probe did; "" where neither has it.
  QString SettingText(const Record* record) const;
  // "title — setting", or "title — B − A (setting of B; setting of A)" with A's record as
  // `without`.
  QString Titled(const QString& title, const Record* record, const Record* without = nullptr) const;
  // The requested head, or the one that RenderRequest::head describes.
  HeadId head() const;

  // Writes the plot in all formats and its numbers as CSV, with model, task, settings and samples
  // below the picture; the CSV also names the commands that made the file and the picture.
  // `extent`: of a picture with several panels; by default that of one. Throws Error (failure).
  void Write(Plot& plot, const QString& stem, const RecordSides& drawn = {},
             const QSize& extent = {});
  // The paths written, CSV files among them, in order.
  const QStringList& written() const { return written_; }

 private:
  const RenderRequest& request_;
  const std::vector<Record>& records_;
  QString RunCaption() const;

  const Provenance& provenance_;
  const std::string& plan_json_;
  const Record* prompt_;
  const Record* reference_;
  QStringList written_;
};

}  // namespace midscope
