#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes chinese.jsonl: texts with the words of the Python package jieba 0.42.1, and pairs of texts with LongBench's two
Chinese scores (normalised words' F1; ROUGE-L of the package rouge 1.0.1 over the words).

    pip install jieba==0.42.1 rouge==1.0.1
    python3 tests/data/make/make_chinese.py tests/data/golden/chinese.jsonl
"""
import json
import random
import string
import sys
from collections import Counter

import jieba
from rouge import Rouge

PUNCTUATION = set(
    string.punctuation
    + "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏."
)
SENTENCES = [
    "南京市长江大桥在一九六八年建成通车。",
    "会议记录显示，项目预算为3.5亿元，占总额的12.5%。",
    "他来到了网易杭研大厦，见到了小明硕士。",
    "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作。",
    "请问C++和c#哪个更好？AT&T的B超不错！",
    "这本书的作者是鲁迅，出版于北京大学出版社。",
    "乒乓球拍卖完了，我们中出了一个叛徒。",
    "Transformer 模型的 position-bias 问题（lost in the middle）。",
    "第一段\r\n第二段\n\n第三段\t制表符　全角空格",
    "价格：￥1,299.00，型号X-100_v2.1，网址www.example.com。",
    "龘靐齉爩鱻麤灪龗是生僻字",
    "答案是“不知道”……大概—也许吧",
]


def normalised(words):
    cleaned = ("".join(ch for ch in word.lower() if ch not in PUNCTUATION) for word in words)
    return [word for word in ("".join(word.split()) for word in cleaned) if word]


def f1(prediction, reference):
    mine, wanted = normalised(jieba.cut(prediction)), normalised(jieba.cut(reference))
    same = sum((Counter(mine) & Counter(wanted)).values())
    if same == 0:
        return 0
    precision, recall = same / len(mine), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


def rouge_l(prediction, reference):
    joined = [" ".join(jieba.cut(text)) for text in (prediction, reference)]
    try:
        return Rouge().get_scores([joined[0]], [joined[1]], avg=True)["rouge-l"]["f"]
    except ValueError:  # no sentence
        return 0


def main():
    jieba.setLogLevel(60)
    rng = random.Random(11)
    characters = "".join(SENTENCES)
    texts = list(SENTENCES)
    for _ in range(40):  # runs that no dictionary has
        texts.append("".join(rng.choice(characters) for _ in range(rng.randint(1, 25))))
    for _ in range(40):  # pieces that end anywhere
        text = rng.choice(SENTENCES) + rng.choice(SENTENCES)
        begin = rng.randrange(len(text))
        texts.append(text[begin:begin + rng.randint(1, 30)])
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for text in texts:
            out.write(json.dumps({"text": text, "words": list(jieba.cut(text))}, ensure_ascii=False) + "\n")
        for _ in range(60):
            first, second = rng.choice(texts), rng.choice(texts)
            if rng.random() < 0.5:
                second = first[: rng.randint(1, len(first))] + second
            row = {"prediction": first, "reference": second, "f1": f1(first, second), "rouge_l": rouge_l(first, second)}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


main()
