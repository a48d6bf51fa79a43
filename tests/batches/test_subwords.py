from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer, Tokenizer
from tokenizers.models import WordLevel
from transformers import AutoTokenizer

from oracles.context_naive import ids_in_context
from tiny_encoders import tiny_encoder
from trigner.batches.subwords import MAX_SUBWORDS_PER_WORD, SPECIAL_WORDS, SubwordTokenizer


def tokenizer(folder, kind="bert", special=()):
    loaded = AutoTokenizer.from_pretrained(
        tiny_encoder(folder, kind, head=False), add_prefix_space=True
    )
    if special:
        loaded.add_special_tokens({"additional_special_tokens": list(special)})
    return loaded.backend_tokenizer


def own(subwords):
    """The ids of each word."""
    return [[int(subwords.ids[p]) for p in row if p >= 0] for row in subwords.word_subwords]


@pytest.mark.parametrize("kind", ["bert", "mpnet", "roberta"])
def test_each_word_has_the_subwords_it_has_alone(tmp_path, kind):
    tokenize = SubwordTokenizer(tokenizer(tmp_path, kind))
    words = ["numbness", "my", "legs", "tablet"]
    (together,) = tokenize([words])
    alone = [own(subwords)[0] for subwords in tokenize([[word] for word in words])]
    assert own(together) == alone
    assert all(alone)
    assert sum(map(len, alone)) + 2 == len(together.ids)


def test_a_word_without_subwords(tmp_path):
    (subwords,) = SubwordTokenizer(tokenizer(tmp_path))([["my", "\u200b", "leg"]])
    assert [len(word) for word in own(subwords)] == [1, 0, 1]


def test_special_words_come_first_and_are_one_subword_each(tmp_path, refused):
    tokenize = SubwordTokenizer(tokenizer(tmp_path, special=SPECIAL_WORDS), SPECIAL_WORDS)
    (subwords,) = tokenize([["my", "leg"]])
    assert [len(word) for word in own(subwords)] == [1, 1, 1, 1]
    assert tokenize.overhead == 4
    with refused(error=ValueError):
        SubwordTokenizer(tokenizer(tmp_path / "other"), SPECIAL_WORDS)


def test_truncation_and_padding_of_the_tokenizer_file_are_off(tmp_path):
    strict = Tokenizer.from_str(tokenizer(tmp_path).to_str())
    strict.enable_truncation(4)
    strict.enable_padding(length=64)
    tokenize = SubwordTokenizer(strict)
    (subwords,) = tokenize([["my"] * 20])
    assert len(subwords.ids) == 22
    assert subwords.word_subwords.shape == (20, 1)
    assert strict.truncation is not None  # the caller's own is left as it was


@pytest.mark.parametrize("more", [0, 1, 30])
def test_a_very_long_word_is_represented_by_its_first_subwords(tmp_path, more):
    tokenize = SubwordTokenizer(tokenizer(tmp_path, "roberta"))
    (one,) = tokenize([["x"]])
    word = "x" * (MAX_SUBWORDS_PER_WORD + more + 1 - len(own(one)[0]))
    (subwords,) = tokenize([["my", word, "leg"]])
    assert subwords.truncated == (more > 0)
    assert len(own(subwords)[1]) == MAX_SUBWORDS_PER_WORD
    assert own(subwords)[2] == own(tokenize([["leg"]])[0])[0]
    assert np.all(subwords.word_subwords < len(subwords.ids))


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_half_a_character_is_read_as_one_unknown(tmp_path, kind):
    tokenize = SubwordTokenizer(tokenizer(tmp_path, kind))
    (subwords,) = tokenize([["my", "\ud800", "le\udfffg"]])
    (like,) = tokenize([["my", "\ufffd", "le\ufffdg"]])
    assert own(subwords) == own(like)
    half, whole = (
        (("my", "\ud800"), ["leg"], ("\ud800", "my")),
        (("my", "\ufffd"), ["leg"], ("\ufffd", "my")),
    )
    (subwords,), (like,) = (tokenize.in_context([flanked], limit=40) for flanked in (half, whole))
    assert subwords.ids.tolist() == like.ids.tolist()


def test_no_words(tmp_path):
    (subwords,) = SubwordTokenizer(tokenizer(tmp_path))([[]])
    assert subwords.word_subwords.shape[0] == 0
    assert len(subwords.ids) == 2


WORDS = st.lists(st.sampled_from(["my", "numbness", "legs", ".", "\u200b", "tablet"]), max_size=6)


@pytest.fixture(scope="module", params=["bert", "roberta"])
def in_context(request, tmp_path_factory):
    """A tokenizer with special words, and its own separator."""
    own = tokenizer(tmp_path_factory.mktemp("encoder"), request.param, SPECIAL_WORDS)
    separator = {"bert": "[SEP]", "roberta": "</s>"}[request.param]
    return SubwordTokenizer(own, SPECIAL_WORDS), separator


@given(left=WORDS, words=WORDS.filter(bool), right=WORDS, room=st.integers(0, 30))
def test_context_is_read_along_as_far_as_it_fits(in_context, left, words, right, room):
    tokenize, separator = in_context
    (alone,) = tokenize([words])
    limit = len(alone.ids) + room
    (found,) = tokenize.in_context([(left, words, right)], limit=limit)
    ids, _ = ids_in_context(tokenize, left, words, right, separator=separator, limit=limit)
    assert found.ids.tolist() == ids
    assert own(found) == own(alone)
    assert (found.word_subwords >= 0).any(axis=0).all()  # no column for others alone


def test_without_context_nothing_changes(in_context):
    tokenize, _ = in_context
    words = ["my", "leg", "hurt"]
    (alone,), (found,) = tokenize([words]), tokenize.in_context([((), words, ())], limit=99)
    np.testing.assert_array_equal(alone.ids, found.ids)
    np.testing.assert_array_equal(alone.word_subwords, found.word_subwords)


def test_words_behind_a_blank():
    """As a tokenizer that thinks of no blank before ready words cuts them in a text."""
    bpe = ByteLevelBPETokenizer(add_prefix_space=False)
    bpe.train_from_iterator(["my leg my leg"] * 3, vocab_size=280, show_progress=False)
    subwords = Tokenizer.from_str(bpe.to_str())
    (found,) = SubwordTokenizer(subwords, blank=True)([["my", "leg"]])
    assert [id for word in own(found) for id in word] == subwords.encode(" my leg").ids
    (bare,) = SubwordTokenizer(subwords)([["my", "leg"]])
    assert own(bare) != own(found)


class PanicException(BaseException):
    """What the tokenizers make of a panic of Rust."""


@pytest.mark.parametrize("error", [PanicException("byte index 3"), Exception("no unknown token")])
def test_a_failure_of_the_tokenizer_is_told(tmp_path, monkeypatch, error, refused):
    tokenize = SubwordTokenizer(tokenizer(tmp_path))

    class Failing:
        def encode_batch(self, *_, **__):
            raise error

    monkeypatch.setattr(tokenize, "_tokenizer", Failing())
    with refused():
        tokenize([["my"]])
    error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        tokenize([["my"]])


def test_a_tokenizer_without_marks_reads_context_too():
    words = Tokenizer(WordLevel({"my": 0, "leg": 1, "hurt": 2}))
    tokenize = SubwordTokenizer(words)
    (found,) = tokenize.in_context([(["my"], ["leg"], ["hurt"])], limit=9)
    assert (found.ids.tolist(), found.word_subwords.tolist()) == ([0, 1, 2], [[1]])
