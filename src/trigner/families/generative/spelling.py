"""How a sentence is put to the language model, and what each of its words is written as.

The output is what `seq2seq` writes, `word` by word: the words of each mention and its type, by the
words' order. Here each is spelled in the subwords of the language model. A word is spelled as it
stands in the prompt, where what a sentence repeats is numbered (`pain #2`): so every word has a
spelling of its own, and a text has one reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tokenizers import Tokenizer

from trigner.batches import Example
from trigner.families.seq2seq import END

Ids = tuple[int, ...]

TASK = (
    "Write down the mentions of {types} in the sentence. The words of a mention may lie apart, and"
    " mentions may share words.\nSentence:"
)
ANSWER = "\nMentions:"
TYPE = "|"
"""Stands before the type at the end of each mention."""


@dataclass(frozen=True)
class Spelling:
    """A sentence for the language model: its prompt, and the subwords of each output token.

    `tokens` are numbered as in `seq2seq`: start, which has none, end, the types, the words.
    """

    prompt: Ids
    tokens: tuple[Ids, ...]

    @property
    def end(self) -> int:
        """The subword that ends a text."""
        return self.tokens[END][0]


@dataclass(frozen=True)
class Speller:
    """Spells sentences for one language model.

    `end` is the subword that ends its texts, `end_of_prompt` whether the tokenizer's own end stands
    behind a prompt, as encoders know it.
    """

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    end: int
    end_of_prompt: bool

    def __call__(self, example: Example) -> Spelling:
        """The spelling of an example's words."""
        words = self._words(example)
        around = self._around
        prompt = (*around[0], *(id for word in words for id in word), *around[1])
        return Spelling(prompt, ((), (self.end,), *self._types, *words))

    @property
    def overhead(self) -> int:
        """Subwords of a prompt besides the words'."""
        return sum(map(len, self._around))

    @cached_property
    def number_size(self) -> int:
        """Subwords of the number of a repeated word, at most."""
        return len(self._ids("#9999"))

    @cached_property
    def _around(self) -> tuple[Ids, Ids]:
        encoding = self.tokenizer.encode(["and"], is_pretokenized=True)
        own = [place for place, word in enumerate(encoding.word_ids) if word is not None]
        start, end = encoding.ids[: own[0]], encoding.ids[own[-1] + 1 :]
        task = self._ids(TASK.format(types=", ".join(self.labels)))
        return (*start, *task), (*self._ids(ANSWER), *(end if self.end_of_prompt else ()))

    @cached_property
    def _types(self) -> tuple[Ids, ...]:
        return tuple(self._ids(f" {TYPE} {label}") for label in self.labels)

    def _words(self, example: Example) -> list[Ids]:
        table = example.subwords.word_subwords
        known = example.subwords.ids
        seen: Counter[Ids] = Counter()
        words = []
        for row in table:
            word = tuple(known[row[row >= 0]].tolist())
            seen[word] += 1
            # A word without subwords is its number alone.
            again = seen[word] > 1 or not word
            words.append((*word, *(self._ids(f" #{seen[word]}") if again else ())))
        return words

    def _ids(self, text: str) -> Ids:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False).ids)


def blank_before_words(tokenizer: Tokenizer) -> bool:
    """Whether ready words need a blank before them to be cut as in a running text."""
    text = tokenizer.encode("and and", add_special_tokens=False).ids
    ready = tokenizer.encode(["and", "and"], is_pretokenized=True, add_special_tokens=False).ids
    return text[-1:] != ready[-1:]


def joined(spelling: Spelling, tokens: Sequence[int]) -> Ids:
    """The subwords of an output."""
    return tuple(id for token in tokens for id in spelling.tokens[token])
