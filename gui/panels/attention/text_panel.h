// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt as text, coloured by one number per token: the attention of a head or its mean over
// heads, a hidden channel, or an array of another record. Shows A, B, their difference, or A and B
// side by side on one scale.
#pragma once

#include <QVector>
#include <map>
#include <string>
#include <vector>

#include "gui/base/prompt_text.h"
#include "gui/panels/panel.h"
#include "gui/plots/tokens/token_scale.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QPushButton;

namespace midscope {

class ElidedLabel;
class TokenText;
class TextPicture;

class TextPanel : public Panel {
  Q_OBJECT

 public:
  explicit TextPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "text"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& saved) override;

  // The text of A if A and B are side by side; else the only text.
  TokenText* text() const { return text_; }
  TokenText* text_of_b() const { return text_b_; }
  // Chooses a source by TokenSource::id; takes effect when that source exists.
  void ChooseSource(const std::string& id);
  QStringList sources() const;

 private:
  void MakeControls();
  TokenText* MakeText();
  void ShowPrompt();
  void Offer();
  TokenSource source() const;
  QVector<double> RowOf(Side side) const;
  const Record* RecordOf(Side side) const;
  QString NameOfRow() const;
  Compare drawn_mode() const;
  void Draw() override;
  QString TooltipOf(int64_t token, const TokenText* text) const;
  // The side whose tokens the text shows; kA unless a second model has other tokens.
  Side TokensOf(const TokenText* text) const;
  // Numbers of a side per token as the model of `tokens` has them.
  QVector<double> RowOn(Side of, Side tokens) const;
  void ShowTokens();
  void ShowMarks();
  void MakeQueryButton();
  void ShowQuery();
  void ChooseQuery();

  void ShowBeside(bool shown);
  void DrawPicture(const QVector<double>& first, const QString& first_name, const QString& b_name,
                   const TokenScale& scale);

  QGridLayout* grid_;
  TokenText* text_;
  TokenText* text_b_;
  ElidedLabel* head_a_;
  ElidedLabel* head_b_;
  QComboBox* source_;
  std::vector<TokenSource> sources_;
  std::string wanted_;  // id of the chosen source
  QCheckBox* sink_;
  QCheckBox* logarithmic_;
  QCheckBox* raw_;
  QPushButton* to_gold_;
  QPushButton* query_;
  TokenScaleBar* bar_;
  TextPicture* picture_;   // for export only; never shown
  QVector<double> row_a_;  // per token of A
  QVector<double> row_b_;  // per token of B
  QString why_tokens_;     // why tokens of A and B are not comparable; "": they are
  std::map<const TokenText*, std::string> texts_;  // hashes of the prompts that are shown
  PromptText text_of_a_;
  QString text_before_;  // text of the shown prompt
};

}  // namespace midscope
