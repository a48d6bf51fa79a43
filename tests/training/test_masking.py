from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from trigner.errors import InputError
from trigner.training.masking import (
    UNSCORED,
    Masked,
    Masking,
    Passage,
    masking_collator,
    passages,
)

START, END, MASK = 1, 2, 3
VOCABULARY = {"[UNK]": 0, "[S]": START, "[E]": END, "[M]": MASK, "a": 4, "##b": 5, "c": 6, "d": 7}


def tokenizer() -> Tokenizer:
    made = Tokenizer(WordPiece(VOCABULARY, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[S] $A [E]", special_tokens=[("[S]", START), ("[E]", END)]
    )
    made.enable_truncation(4)
    made.enable_padding(length=9)
    return made


def masking(probability: float = 0.5, replaced: float = 1.0, randomised: float = 0.0) -> Masking:
    return Masking(probability, replaced, randomised, MASK, np.array([4, 5, 6, 7]))


def passage(*subwords_per_word: int) -> Passage:
    words = np.repeat(np.arange(len(subwords_per_word)), subwords_per_word)
    return Passage(
        np.array([START, *np.resize([4, 5, 6, 7], len(words)), END]), np.array([-1, *words, -1])
    )


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_sentences_become_passages_whatever_the_tokenizers_file_says() -> None:
    made = tokenizer()
    short, long = passages([["c"], ["abb", "c", "d", "abb"]], made, 40)
    assert short.ids.tolist() == [START, 6, END]
    assert long.ids.tolist() == [START, 4, 5, 5, 6, 7, 4, 5, 5, END]
    assert long.words.tolist() == [-1, 0, 0, 0, 1, 2, 3, 3, 3, -1]
    assert made.truncation is not None


def test_long_sentences_are_cut_between_words() -> None:
    found = passages([["c", "ab", "d", "ab", "c"]], tokenizer(), 5)
    assert [p.ids.tolist()[1:-1] for p in found] == [[6, 4, 5], [7, 4, 5], [6]]
    assert [p.words.tolist()[1:-1] for p in found] == [[0, 1, 1], [2, 3, 3], [4]]
    assert all(p.ids[0] == START and p.ids[-1] == END for p in found)


def test_a_word_too_long_for_any_window_is_cut_inside() -> None:
    found = passages([["c", "abbbb", "d"]], tokenizer(), 4)
    assert [p.ids.tolist()[1:-1] for p in found] == [[6], [4, 5], [5, 5], [5, 7]]


@given(
    st.lists(st.sampled_from(["c", "d", "ab", "abbb", "abbbbbbb"]), max_size=12), st.integers(3, 9)
)
def test_nothing_is_truncated(words: list[str], limit: int) -> None:
    found = passages([words], tokenizer(), limit)
    subwords = [4 if s == "a" else 5 if s == "b" else 6 if s == "c" else 7 for s in "".join(words)]
    assert [i for p in found for i in p.ids[1:-1].tolist()] == subwords
    assert all(len(p.ids) <= limit for p in found)


def test_words_without_subwords_leave_no_passage() -> None:
    assert passages([[" "], []], tokenizer(), 9) == []


def test_a_limit_without_room_is_refused() -> None:
    with pytest.raises(InputError, match="2 subwords are too few"):
        passages([["c"]], tokenizer(), 2)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=30), st.integers(0, 99))
def test_whole_words_are_hidden_in_the_asked_share(counts: list[int], seed: int) -> None:
    given_passage = passage(*counts)
    before = given_passage.ids.copy()
    masked = masking(0.2)(given_passage, random(seed))
    hidden = masked.labels != UNSCORED
    assert len(np.unique(given_passage.words[hidden])) == max(1, round(0.2 * len(counts)))
    for word in range(len(counts)):
        assert len(set(hidden[given_passage.words == word].tolist())) == 1
    assert not hidden[given_passage.words < 0].any()
    assert (masked.ids[hidden] == MASK).all()
    assert (masked.ids[~hidden] == before[~hidden]).all()
    assert (masked.labels[hidden] == before[hidden]).all()
    assert (given_passage.ids == before).all()


def test_fates_are_drawn_by_word_in_their_shares() -> None:
    given_passage = passage(*[2] * 4000)
    masked = masking(0.5, replaced=0.8, randomised=0.1)(given_passage, random())
    pairs = slice(1, -1)
    hidden = (masked.labels[pairs] != UNSCORED).reshape(-1, 2)
    as_mask = (masked.ids[pairs] == MASK).reshape(-1, 2)
    assert hidden[:, 0].sum() == 2000
    assert (as_mask[:, 0] == as_mask[:, 1]).all()
    assert as_mask[:, 0].sum() / 2000 == pytest.approx(0.8, abs=0.03)
    changed = (masked.ids != given_passage.ids)[pairs].reshape(-1, 2) & ~as_mask
    # A drawn subword is the old one in a quarter of the cases, both are in a sixteenth.
    assert changed.any(axis=1).sum() / 2000 == pytest.approx(0.1 * 15 / 16, abs=0.02)
    assert set(masked.ids[pairs].tolist()) <= {MASK, 4, 5, 6, 7}


def test_the_draw_is_up_to_the_generator() -> None:
    one, again, other = (masking()(passage(*[1] * 50), random(seed)).ids for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


def test_a_batch_is_padded_and_has_no_segment_ids() -> None:
    collate = masking_collator(masking(), padding_id=9)
    done = Masked(np.array([START, MASK, END]), np.array([UNSCORED, 6, UNSCORED]))
    batch = collate([done, passage(1, 2)])
    assert sorted(batch) == ["attention_mask", "input_ids", "labels"]
    assert batch["input_ids"].dtype == torch.int64
    assert batch["input_ids"][0].tolist() == [START, MASK, END, 9, 9]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 0, 0], [1] * 5]
    assert batch["labels"][0].tolist() == [UNSCORED, 6, UNSCORED, UNSCORED, UNSCORED]


def test_batches_follow_torchs_random_state() -> None:
    collate = masking_collator(masking(), padding_id=0)
    state = torch.get_rng_state()
    one = collate([passage(*[1] * 50)])["input_ids"]
    other = collate([passage(*[1] * 50)])["input_ids"]
    torch.set_rng_state(state)
    assert collate([passage(*[1] * 50)])["input_ids"].equal(one)
    assert not other.equal(one)
