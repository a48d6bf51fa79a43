"""BIO tags of words, as CoNLL's columns and Hugging Face's token datasets have them.

IOB (1 and 2), IOBES and BILOU are read; BIO (IOB2) is written. Entities that are discontinuous or
overlap have no tags.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from trigner.corpora.words import WordSentence
from trigner.mentions import Mention, shortened

TAG = re.compile(r"(O)|([BIESLU])-(.+)")


def mentions_of(tags: Sequence[str]) -> list[Mention]:
    """The mentions of a sentence's tags, as conlleval takes those that are ill-formed."""
    found: list[Mention] = []
    open_words: list[int] = []
    label = ""
    for word, tag in enumerate([*tags, "O"]):
        match = TAG.fullmatch(tag)
        kind, own = (match[2], match[3]) if match is not None and match[2] else ("O", "")
        if open_words and (kind in "OBSU" or own != label):
            found.append(Mention(tuple(open_words), label))
            open_words = []
        if kind != "O":
            open_words.append(word)
            label = own
        if open_words and kind in "ESLU":
            found.append(Mention(tuple(open_words), label))
            open_words = []
    return found


def tags_of(sentence: WordSentence, dropped: Counter[str]) -> list[str]:
    """The tags of a sentence, and what they cannot hold; of entities that overlap the longest of
    the first stay.

    Raises ValueError for a label that cannot be part of a tag: empty, with a tab, a line break
    or, at its edges, blanks.
    """
    tags = ["O"] * len(sentence.words)
    for mention in sorted(sentence.mentions, key=lambda m: (m.words[0], -len(m.words))):
        label = mention.label
        if not label or label != label.strip() or any(mark in label for mark in "\t\n\r"):
            raise ValueError(f"label {shortened(label)} cannot be part of a tag")
        if mention.is_discontinuous:
            dropped["discontinuous entities"] += 1
        elif any(tags[at] != "O" for at in mention.words):
            dropped["overlapping entities"] += 1
        else:
            for at in mention.words:
                tags[at] = f"{'B' if at == mention.words[0] else 'I'}-{label}"
    return tags
