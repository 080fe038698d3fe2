// SPDX-License-Identifier: MIT
#include "data/tasks/longbench_formats.h"

namespace midscope {
namespace {

// The prompt that all multi-document sets share.
constexpr const char* kPassages =
    "Answer the question based on the given passages. Only give me the "
    "answer and do not output any other words.\n\nThe following are given "
    "passages.\n{context}\n\nAnswer the question based on the given "
    "passages. Only give me the answer and do not output any other "
    "words.\n\nQuestion: {input}\nAnswer:";

constexpr AnswerCut kAll = AnswerCut::kWhole;
constexpr AnswerCut kLine = AnswerCut::kFirstLineAfterNewlines;

}  // namespace

const std::vector<LongBenchFormat>& LongBenchFormats() {
  static const std::vector<LongBenchFormat> formats = {
      {"narrativeqa",
       "single-document QA",
       "You are given a story, which can be either a novel or a movie script, "
       "and a question. Answer the question as concisely as you can, using a "
       "single phrase if possible. Do not provide any explanation.\n\nStory: "
       "{context}\n\nNow, answer the question based on the story as concisely "
       "as you can, using a single phrase if possible. Do not provide any "
       "explanation.\n\nQuestion: {input}\n\nAnswer:",
       true,
       {128, kAll, AnswerMetric::kF1}},
      {"qasper",
       "single-document QA",
       "You are given a scientific article and a question. Answer the "
       "question as concisely as you can, using a single phrase or sentence "
       "if possible. If the question cannot be answered based on the "
       "information in the article, write \"unanswerable\". If the question "
       "is a yes/no question, answer \"yes\", \"no\", or \"unanswerable\". Do "
       "not provide any explanation.\n\nArticle: {context}\n\n Answer the "
       "question based on the above article as concisely as you can, using a "
       "single phrase or sentence if possible. If the question cannot be "
       "answered based on the information in the article, write "
       "\"unanswerable\". If the question is a yes/no question, answer "
       "\"yes\", \"no\", or \"unanswerable\". Do not provide any "
       "explanation.\n\nQuestion: {input}\n\nAnswer:",
       true,
       {128, kAll, AnswerMetric::kF1}},
      {"multifieldqa_en",
       "single-document QA",
       "Read the following text and answer briefly.\n\n{context}\n\nNow, "
       "answer the following question based on the above text, only give me "
       "the answer and do not output any other words.\n\nQuestion: "
       "{input}\nAnswer:",
       true,
       {64, kAll, AnswerMetric::kF1}},
      {"hotpotqa", "multi-document QA", kPassages, true, {32, kAll, AnswerMetric::kF1}},
      {"2wikimqa", "multi-document QA", kPassages, true, {32, kAll, AnswerMetric::kF1}},
      {"musique", "multi-document QA", kPassages, true, {32, kAll, AnswerMetric::kF1}},
      {"gov_report",
       "summarization",
       "You are given a report by a government agency. Write a one-page "
       "summary of the report.\n\nReport:\n{context}\n\nNow, write a one-page "
       "summary of the report.\n\nSummary:",
       true,
       {512, kAll, AnswerMetric::kRougeOfSets}},
      {"qmsum",
       "summarization",
       "You are given a meeting transcript and a query containing a question "
       "or instruction. Answer the query in one or more "
       "sentences.\n\nTranscript:\n{context}\n\nNow, answer the query based "
       "on the above meeting transcript in one or more sentences.\n\nQuery: "
       "{input}\nAnswer:",
       true,
       {512, kAll, AnswerMetric::kRougeOfSets}},
      {"multi_news",
       "summarization",
       "You are given several news passages. Write a one-page summary of all "
       "news. \n\nNews:\n{context}\n\nNow, write a one-page summary of all "
       "the news.\n\nSummary:",
       true,
       {512, kAll, AnswerMetric::kRougeOfSets}},
      {"trec",
       "few-shot",
       "Please determine the type of the question below. Here are some "
       "examples of questions.\n\n{context}\n{input}",
       false,
       {64, kLine, AnswerMetric::kClasses}},
      {"triviaqa",
       "few-shot",
       "Answer the question based on the given passage. Only give me the "
       "answer and do not output any other words. The following are some "
       "examples.\n\n{context}\n\n{input}",
       false,
       {32, kLine, AnswerMetric::kF1}},
      {"samsum",
       "few-shot",
       "Summarize the dialogue into a few short sentences. The following are "
       "some examples.\n\n{context}\n\n{input}",
       false,
       {128, kLine, AnswerMetric::kRougeOfSets}},
      {"lsht",
       "few-shot",
       "请判断给定新闻的类别，下面是一些例子。\n\n{context}\n{input}",
       false,
       {64, kLine, AnswerMetric::kClasses}},
      {"passage_count",
       "synthetic",
       "There are some paragraphs below sourced from Wikipedia. Some of them "
       "may be duplicates. Please carefully read these paragraphs and "
       "determine how many unique paragraphs there are after removing "
       "duplicates. In other words, how many non-repeating paragraphs are "
       "there in total?\n\n{context}\n\nPlease enter the final count of "
       "unique paragraphs after removing duplicates. The output format should "
       "only contain the number, such as 1, 2, 3, and so on.\n\nThe final "
       "answer is: ",
       true,
       {32, kAll, AnswerMetric::kCount}},
      {"passage_retrieval_en",
       "synthetic",
       "Here are 30 paragraphs from Wikipedia, along with an abstract. Please "
       "determine which paragraph the abstract is from.\n\n{context}\n\nThe "
       "following is an abstract.\n\n{input}\n\nPlease enter the number of "
       "the paragraph that the abstract is from. The answer format must be "
       "like \"Paragraph 1\", \"Paragraph 2\", etc.\n\nThe answer is: ",
       true,
       {32, kAll, AnswerMetric::kRetrieval}},
      {"passage_retrieval_zh",
       "synthetic",
       "以下是若干段落文字，以及其中一个段落的摘要。请确定给定的摘要出自哪一段。\n\n{context}"
       "\n\n下面是一个摘要\n\n{input}"
       "\n\n请输入摘要所属段落的编号。答案格式必须是\"段落1\"，\"段落2\"等格式\n\n答案是：",
       true,
       {32, kAll, AnswerMetric::kRetrieval}},
      {"lcc",
       "code",
       "Please complete the code given below. \n{context}Next line of code:\n",
       false,
       {64, kAll, AnswerMetric::kCodeSimilarity}},
      {"repobench-p",
       "code",
       "Please complete the code given below. \n{context}{input}Next line of "
       "code:\n",
       false,
       {64, kAll, AnswerMetric::kCodeSimilarity}},
  };
  return formats;
}

const LongBenchFormat* FindLongBenchFormat(std::string_view dataset) {
  for (const LongBenchFormat& format : LongBenchFormats()) {
    if (format.dataset == dataset) return &format;
  }
  return nullptr;
}

}  // namespace midscope
