// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/attention/text_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <algorithm>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/record_names.h"
#include "gui/base/display_text.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/panels/plot_menu.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/tokens/text_picture.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

constexpr char kHeadSource[] = "head";

// The hue of unsigned values, unless the source is a pinned head, which has its own colour.
QColor TextHue() { return {0x00, 0x72, 0xb2}; }

LayerSet ScaledLayersOf(const Session& session) {
  const auto* scaling = session.setting(Side::kB).Find<ChannelScaling>();
  return scaling ? scaling->layers : LayerSet{true, {}};
}

}  // namespace

TextPanel::TextPanel(const PanelContext& context) : Panel(context) {
  head_a_ = new ElidedLabel(this);
  head_b_ = new ElidedLabel(this);
  picture_ = new TextPicture(this);
  picture_->hide();
  text_ = MakeText();
  text_b_ = MakeText();
  text_->setObjectName(QStringLiteral("token_text"));
  text_b_->setObjectName(QStringLiteral("token_text_b"));
  auto* view = new QWidget(this);
  grid_ = WithoutMargins(new QGridLayout(view));
  grid_->setSpacing(2);
  for (ElidedLabel* head : {head_a_, head_b_}) head->setContentsMargins(6, 0, 0, 0);
  grid_->addWidget(head_a_, 0, 0);
  grid_->addWidget(head_b_, 0, 1);
  grid_->addWidget(text_, 1, 0);
  grid_->addWidget(text_b_, 1, 1);
  grid_->setColumnStretch(0, 1);
  grid_->setRowStretch(1, 1);
  // Scrolls both texts together; a hidden text has another line width.
  connect(text_->verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int line) {
    if (!text_b_->isHidden()) text_b_->ScrollToLine(line);
  });
  connect(text_b_->verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int line) {
    if (!text_b_->isHidden()) text_->ScrollToLine(line);
  });
  connect(text_b_, &TokenText::LaidOut, this, [this] {
    const QSignalBlocker quiet(text_b_->verticalScrollBar());
    text_b_->ScrollToLine(text_->first_line());
  });
  MakeControls();
  QHBoxLayout* head = MakeControlRow({source_, query_});
  FlowLayout* row = MakeControlFlow({sink_, logarithmic_, raw_, to_gold_, bar_});
  LayOut(view, head, row);
  const auto draw = [this] { Draw(); };
  connect(selection(), &Selection::ShownHeadChanged, this, draw);
  connect(selection(), &Selection::CompareChanged, this, draw);
  connect(selection(), &Selection::PinsChanged, this, [this] {
    Offer();
    Draw();
  });
  connect(selection(), &Selection::TokenChanged, this, [this](qint64 token) {
    ShowMarks();
    const bool pointed_here = text_->underMouse() || text_b_->underMouse();
    if (token >= 0 && !pointed_here)
      text_->ShowToken(TokenFor(*session(), Side::kA, token, TokensOf(text_)));
  });
  connect(selection(), &Selection::RangeChanged, this, &TextPanel::ShowMarks);
  Offer();
  Draw();
}

TokenText* TextPanel::MakeText() {
  auto* text = new TokenText(this);
  text->setProperty(kPictureProperty, QVariant::fromValue<QObject*>(picture_));
  text->setAccessibleName(tr("Tokens of the prompt"));
  text->SetTooltip([this, text](int64_t token) { return TooltipOf(token, text); });
  // The selection is in tokens of A.
  connect(text, &TokenText::TokenHovered, this, [this, text](int64_t token) {
    selection()->HoverToken(TokenFor(*session(), TokensOf(text), token, Side::kA));
  });
  connect(text, &TokenText::TokenClicked, this, [this, text](int64_t token) {
    selection()->LockToken(TokenFor(*session(), TokensOf(text), token, Side::kA));
  });
  connect(text, &TokenText::RangeBrushed, this, [this, text](int64_t begin, int64_t end) {
    const TokenSpan range = TokensFor(*session(), TokensOf(text), {"", begin, end}, Side::kA);
    selection()->SetRange(range.begin, range.end);
  });
  connect(text, &TokenText::ReleaseRequested, selection(), &Selection::Release);
  return text;
}

void TextPanel::MakeControls() {
  source_ = Named(new QComboBox(this), "text_source", tr("The number that colours the tokens"));
  source_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  source_->setMinimumContentsLength(16);
  sink_ = Named(
      new QCheckBox(tr("scale includes first tokens"), this), "text_sink",
      tr("The first %1 tokens often take most of the attention: without this, the scale is that of "
         "the other tokens")
          .arg(kSinkTokens));
  logarithmic_ = Named(new QCheckBox(tr("logarithmic"), this), "text_logarithmic",
                       tr("Colours over three decades below the largest value"));
  raw_ = Named(new QCheckBox(tr("raw tokens"), this), "text_raw",
               tr("Tokens as the tokenizer has them: spaces, line ends, special tokens and "
                  "where each begins"));
  to_gold_ = Named(new QPushButton(tr("Scroll to gold"), this), "text_to_gold",
                   tr("Scroll to the passage that holds the answer"));
  bar_ = new TokenScaleBar(this);
  MakeQueryButton();
  connect(source_, &QComboBox::currentIndexChanged, this, [this] {
    wanted_ = source().id;
    Draw();
  });
  connect(sink_, &QCheckBox::toggled, this, &TextPanel::Draw);
  connect(logarithmic_, &QCheckBox::toggled, this, &TextPanel::Draw);
  connect(raw_, &QCheckBox::toggled, this, [this](bool raw) {
    for (TokenText* text : {text_, text_b_}) text->SetRaw(raw);
  });
  connect(to_gold_, &QPushButton::clicked, this,
          [this] { text_->ShowToken(text_->prompt().gold.begin); });
}

std::vector<std::string> TextPanel::Records() { return {kPromptRecord, kLastQueryAttention}; }

nlohmann::json TextPanel::State() const {
  return {{"colour", wanted_},
          {"sink", sink_->isChecked()},
          {"logarithmic", logarithmic_->isChecked()},
          {"raw", raw_->isChecked()}};
}

void TextPanel::CheckState(const JsonFields& session) {
  if (!session.Find(StateKey())) return;
  const JsonFields state = session.Inside(StateKey());
  state.FindText("colour");
  for (const char* flag : {"sink", "logarithmic", "raw"}) state.Flag(flag, false);
}

// Entries that are missing in the file get the values of a new window.
void TextPanel::Restore(const nlohmann::json& saved) {
  const nlohmann::json state = saved.is_null() ? nlohmann::json::object() : saved;
  ChooseSource(state.value("colour", kHeadSource));
  sink_->setChecked(state.value("sink", false));
  logarithmic_->setChecked(state.value("logarithmic", false));
  raw_->setChecked(state.value("raw", false));
}

void TextPanel::ChooseSource(const std::string& id) {
  wanted_ = id;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].id == id) source_->setCurrentIndex(static_cast<int>(i));
  }
}

QStringList TextPanel::sources() const {
  QStringList names;
  for (const TokenSource& source : sources_) names << source.name;
  return names;
}

void TextPanel::Refresh(Changes changes) {
  if (changes & Change::kPrompts) ShowPrompt();
  if (changes & (Change::kModel | Change::kPrompts | Change::kCaptureRecords | Change::kSettings)) {
    Offer();
  }
  if (!(changes & (Change::kModel | Change::kPrompts | Change::kSettings | kRecordChanges))) return;
  DrawWhenShown();
}

void TextPanel::ShowPrompt() {
  const Record* prompt = session()->prompt();
  why_tokens_ = WhyNotComparable(*session(), Compared::kTokens);
  texts_.clear();
  ShowTokens();
  text_of_a_ = ReadPromptText(prompt);
  const PromptText& shown = text_->prompt();
  to_gold_->setEnabled(!shown.gold.empty());
  // Between two prompts there may be no prompt.
  if (!prompt || shown.text == std::exchange(text_before_, shown.text)) return;
  selection()->Release();  // it contains tokens of the previous prompt
  selection()->ShowTokens(std::nullopt);
  if (!shown.gold.empty()) text_->ShowToken(shown.gold.begin);
}

void TextPanel::Offer() {
  using Kind = TokenSource::Kind;
  std::vector<TokenSource> sources = {{Kind::kHead,
                                       kHeadSource,
                                       tr("attention of the head"),
                                       kLastQueryAttention,
                                       kLastQueryAttention,
                                       {}}};
  for (const PinnedHead& pin : selection()->pinned()) {
    const QString head = HeadText(pin.head);
    sources.push_back({Kind::kPinned, head.toStdString(), tr("attention of %1").arg(head),
                       kLastQueryAttention, kLastQueryAttention, pin.head});
  }
  sources.push_back({Kind::kMeanOfHeads,
                     "mean",
                     tr("attention, mean over all heads"),
                     kLastQueryAttention,
                     kLastQueryAttention,
                     {}});
  sources.push_back({Kind::kChannel,
                     "channel",
                     tr("hidden channel, mean over layers"),
                     kHiddenChannelsRecord,
                     kHiddenChannel,
                     {}});
  for (const auto& [name, record] : RecordsOfEitherSide(*session())) {
    if (name == kLastQueryAttention || name == kPromptRecord) continue;
    for (TokenSource& source : SourcesOf(*record, text_of_a_)) {
      sources.push_back(std::move(source));
    }
  }
  if (sources == sources_) return;
  sources_ = std::move(sources);
  const QSignalBlocker quiet(source_);
  source_->clear();
  source_->addItems(this->sources());
  source_->setCurrentIndex(0);
  ChooseSource(wanted_.empty() ? kHeadSource : std::string(wanted_));
}

TokenSource TextPanel::source() const {
  const auto index = static_cast<size_t>(std::max(source_->currentIndex(), 0));
  return sources_.at(std::min(index, sources_.size() - 1));
}

const Record* TextPanel::RecordOf(Side side) const {
  const std::string& name = source().record;
  return name == kLastQueryAttention ? session()->attention(side) : session()->record(side, name);
}

QVector<double> TextPanel::RowOf(Side side) const {
  const Record* prompt = session()->prompt(side);
  const TokenSource shown = source();
  const bool passages = shown.kind == TokenSource::Kind::kOfPassage;
  const PromptText of_b = passages && side == Side::kB ? ReadPromptText(prompt) : PromptText();
  const PromptText& text = side == Side::kA ? text_of_a_ : of_b;
  return ValuesOf(RecordOf(side), shown,
                  {text, prompt ? IntegerAttribute(*prompt, "place", 0) : 0,
                   selection()->shown_head(), session()->channel(), ScaledLayersOf(*session())});
}

Compare TextPanel::drawn_mode() const {
  return row_b_.isEmpty() ? Compare::kA : selection()->compare();
}

QString TextPanel::NameOfRow() const {
  const TokenSource shown = source();
  switch (shown.kind) {
    case TokenSource::Kind::kHead:
      return HeadText(selection()->shown_head());
    case TokenSource::Kind::kChannel:
      return tr("channel %1").arg(session()->channel());
    default:
      return shown.name;
  }
}

void TextPanel::Draw() {
  row_a_ = RowOf(Side::kA);
  row_b_ = session()->differs() ? RowOf(Side::kB) : QVector<double>();
  const QString why = WhyNotComparable(*session(), Compared::kTokens);
  if (std::exchange(why_tokens_, why) != why || !why.isEmpty()) {
    ShowTokens();
    ShowMarks();
  }
  const Compare mode = drawn_mode();
  const int64_t skipped = sink_->isChecked() ? 0 : kSinkTokens;
  QVector<double> first = mode == Compare::kB ? row_b_ : row_a_;
  TokenScale scale = ScaleOf({row_a_, row_b_}, skipped);
  if (mode == Compare::kDifference) {
    first.clear();
    const QVector<double> on_a = RowOn(Side::kB, Side::kA);
    for (qsizetype i = 0; i < std::min(row_a_.size(), on_a.size()); ++i) {
      first.append(on_a[i] - row_a_[i]);
    }
    scale = ScaleOf({first}, skipped);
    scale.diverging = true;
  }
  scale.logarithmic = logarithmic_->isChecked() && !scale.diverging;
  const TokenSource shown = source();
  const PinnedHead* pin = selection()->PinOf(
      shown.kind == TokenSource::Kind::kPinned ? shown.head : selection()->shown_head());
  const bool of_head =
      shown.kind == TokenSource::Kind::kPinned || shown.kind == TokenSource::Kind::kHead;
  scale.hue = pin && of_head ? pin->color : TextHue();
  const bool split = mode == Compare::kSplit;
  ShowBeside(split);
  text_->SetValues(first, scale);
  if (split) text_b_->SetValues(row_b_, scale);
  const RecordName a = NameOf(*session(), Side::kA, RecordOf(Side::kA));
  const RecordName b = NameOf(*session(), Side::kB, RecordOf(Side::kB));
  const RecordName name = mode == Compare::kB            ? b
                          : mode == Compare::kDifference ? NameOfDifference(a, b)
                                                         : a;
  const QString row = NameOfRow();
  // If there are no numbers of B, only A is drawn.
  const bool none = first.isEmpty();
  const bool by_character = mode == Compare::kDifference && !why.isEmpty();
  const QString lacking = session()->second() && row_b_.isEmpty()
                              ? tr(" (%1 has no such numbers)").arg(SideName(*session(), Side::kB))
                              : QString();
  const QString what = by_character ? tr("%1, by characters").arg(row) : row + lacking;
  head_a_->SetText(none ? tr("%1: no numbers").arg(what)
                        : QStringLiteral("%1 — %2").arg(what, name.text));
  head_b_->SetText(QStringLiteral("%1 — %2").arg(row, b.text));
  head_a_->setToolTip(by_character ? tr("%1; by characters: %2").arg(name.full, why) : name.full);
  head_b_->setToolTip(b.full);
  bar_->Show(scale, tr("%1; the same scale for A and B").arg(row));
  DrawPicture(first, name.text, b.text, scale);
  picture_->SetCaption(CaptionWith(*session(), {a, b}));
  ShowQuery();
}

// Draws the first row as on the screen, and B below it if it is shown beside A. The CSV always
// contains the values of A and B.
void TextPanel::DrawPicture(const QVector<double>& first, const QString& first_name,
                            const QString& b_name, const TokenScale& scale) {
  std::vector<TextPicture::Row> rows = {{first_name, first}};
  const Compare mode = drawn_mode();
  const Side tokens = TokensOf(text_);
  if (mode == Compare::kDifference) rows.push_back({tr("A"), row_a_});
  if (mode == Compare::kB) rows.push_back({tr("A"), RowOn(Side::kA, tokens)});
  if (mode != Compare::kB && !row_b_.isEmpty())
    rows.push_back({why_tokens_.isEmpty() ? b_name : tr("%1, by characters").arg(b_name),
                    RowOn(Side::kB, tokens)});
  picture_->SetTitle(tr("Text — %1").arg(NameOfRow()));
  picture_->SetFileStem(QStringLiteral("text"));
  picture_->Show(text_->prompt(), rows, mode == Compare::kSplit ? 2 : 1, scale, NameOfRow());
}

std::vector<Plot*> TextPanel::plots() const {
  if (text_->prompt().tokens.isEmpty()) return {};
  return {picture_};
}

void TextPanel::Render(FilePictures& pictures) {
  const RecordSides sides = pictures.Find(kLastQueryAttention, {"layer", "head", "key"});
  const PromptText prompt = ReadPromptText(pictures.prompt());
  if ((!sides.a && !sides.b) || prompt.tokens.isEmpty()) return;
  const HeadId head = pictures.head();
  std::vector<TextPicture::Row> rows;
  std::vector<QVector<double>> values;
  for (const Record* record : {sides.a, sides.b}) {
    if (!record) continue;
    const QVector<double> row = LastAxisRow(*record, kLastQueryAttention, {head.layer, head.head});
    if (row.size() != prompt.tokens.size()) continue;
    const QString side = record == sides.a ? tr("A") : tr("B");
    rows.push_back({QStringLiteral("%1: %2").arg(side, pictures.SettingText(record)), row});
    values.push_back(row);
  }
  if (rows.empty()) return;
  TokenScale scale = ScaleOf(values, kSinkTokens);
  scale.hue = TextHue();
  TextPicture picture;
  const QString name = tr("attention of %1");
  picture.SetTitle(tr("Text — %1").arg(name.arg(pictures.HeadTitle(head, pictures.chosen_head()))));
  picture.Show(prompt, rows, rows.size(), scale, name.arg(HeadText(head)));
  pictures.Write(picture, QStringLiteral("text_") + HeadText(head), sides);
}

void TextPanel::ShowBeside(bool shown) {
  text_b_->setVisible(shown);
  head_b_->setVisible(shown);
  grid_->setColumnStretch(1, shown ? 1 : 0);
}

}  // namespace midscope
