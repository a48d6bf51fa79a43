from __future__ import annotations

import numpy as np
import pytest
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from tiny_encoders import tiny_encoder
from trigner.batches import SPECIAL_WORDS, WordPieces
from trigner.batches.pieces import MAX_PIECES_PER_WORD


def tokenizer(folder, kind="bert", special=()):
    loaded = AutoTokenizer.from_pretrained(
        tiny_encoder(folder, kind, head=False), add_prefix_space=True
    )
    if special:
        loaded.add_special_tokens({"additional_special_tokens": list(special)})
    return loaded.backend_tokenizer


def own(pieces):
    """The ids of each word."""
    return [[int(pieces.ids[p]) for p in row if p >= 0] for row in pieces.word_pieces]


@pytest.mark.parametrize("kind", ["bert", "mpnet", "roberta"])
def test_each_word_has_the_pieces_it_has_alone(tmp_path, kind):
    cut = WordPieces(tokenizer(tmp_path, kind))
    words = ["numbness", "my", "legs", "tablet"]
    (together,) = cut([words])
    alone = [own(pieces)[0] for pieces in cut([[word] for word in words])]
    assert own(together) == alone
    assert all(alone)
    assert sum(map(len, alone)) + 2 == len(together.ids)


def test_a_word_without_pieces(tmp_path):
    (pieces,) = WordPieces(tokenizer(tmp_path))([["my", "\u200b", "leg"]])
    assert [len(word) for word in own(pieces)] == [1, 0, 1]


def test_special_words_come_first_and_are_one_piece_each(tmp_path):
    cut = WordPieces(tokenizer(tmp_path, special=SPECIAL_WORDS), SPECIAL_WORDS)
    (pieces,) = cut([["my", "leg"]])
    assert [len(word) for word in own(pieces)] == [1, 1, 1, 1]
    assert cut.overhead == 4
    with pytest.raises(ValueError, match="does not know the special words"):
        WordPieces(tokenizer(tmp_path / "other"), SPECIAL_WORDS)


def test_truncation_and_padding_of_the_tokenizer_file_are_off(tmp_path):
    strict = Tokenizer.from_str(tokenizer(tmp_path).to_str())
    strict.enable_truncation(4)
    strict.enable_padding(length=64)
    cut = WordPieces(strict)
    (pieces,) = cut([["my"] * 20])
    assert len(pieces.ids) == 22
    assert pieces.word_pieces.shape == (20, 1)
    assert strict.truncation is not None  # the caller's own is left as it was


def test_a_very_long_word_is_represented_by_its_first_pieces(tmp_path):
    cut = WordPieces(tokenizer(tmp_path, "roberta"))
    word = "x" * (MAX_PIECES_PER_WORD + 30)
    (pieces,) = cut([["my", word, "leg"]])
    assert pieces.shortened == 1
    assert len(own(pieces)[1]) == MAX_PIECES_PER_WORD
    assert own(pieces)[2] == own(cut([["leg"]])[0])[0]
    assert np.all(pieces.word_pieces < len(pieces.ids))


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_half_a_character_is_read_as_one_unknown(tmp_path, kind):
    cut = WordPieces(tokenizer(tmp_path, kind))
    (pieces,) = cut([["my", "\ud800", "le\udfffg"]])
    (like,) = cut([["my", "\ufffd", "le\ufffdg"]])
    assert own(pieces) == own(like)


def test_no_words(tmp_path):
    (pieces,) = WordPieces(tokenizer(tmp_path))([[]])
    assert pieces.word_pieces.shape[0] == 0
    assert len(pieces.ids) == 2
