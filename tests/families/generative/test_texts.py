"""What goes into a text comes out of it, whatever the words: spelled by tokenizers as models have
them."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import BPE, WordPiece
from tokenizers.trainers import BpeTrainer, WordPieceTrainer

from trigner.batches.encoder_inputs import EncoderInputs
from trigner.batches.subwords import SubwordTokenizer
from trigner.families.generative.settings import GenerativeSettings
from trigner.families.generative.spelling import TASK, Speller, blank_before_words, joined
from trigner.families.generative.texts import Texts
from trigner.mentions import Mention, Sentence

LABELS = ("ADR", "ADR pain", "Drug")
KINDS = ("bytes", "marked", "pieces")
# What prompts and texts are made of is among them, and what is like the beginning of another.
WORDS = (
    *("pain", "pain", "pains", "leg", "legs", "in", "my", "#", "#2", "2", "pain#2", "|", "ADR"),
    *("Drug", "Mentions:", "é", "\u200d", "\x07", "<unk>", "naïve-", "."),
)
END = "</s>"


@cache
def tokenizer_of(kind):
    """As GPT-2 has it, as T5 and Llama do, and as BERT, to which some words are nothing."""
    special = ["<unk>", END]
    text = [f"{TASK} Mentions: | ADR Drug #2 #3 {' '.join(WORDS[:9])}"] * 3
    if kind == "pieces":
        made = Tokenizer(WordPiece(unk_token="<unk>"))
        made.normalizer = normalizers.BertNormalizer()
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False)
    else:
        made = Tokenizer(BPE(unk_token="<unk>"))
        steps = {"bytes": pre_tokenizers.ByteLevel(), "marked": pre_tokenizers.Metaspace()}
        made.pre_tokenizer = steps[kind]
        alphabet = pre_tokenizers.ByteLevel.alphabet() if kind == "bytes" else []
        trainer = BpeTrainer(
            vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        )
    made.train_from_iterator(text, trainer)
    return made


@st.composite
def sentences(draw, labels=LABELS):
    words = tuple(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7)))
    sets = st.sets(st.integers(0, len(words) - 1), min_size=1, max_size=4)
    mention = st.builds(
        lambda own, t: Mention(tuple(sorted(own)), t), sets, st.sampled_from(labels)
    )
    offsets = tuple((2 * i, 2 * i + 1) for i in range(len(words)))
    return Sentence("d", 0, words, offsets, tuple(draw(st.sets(mention, max_size=4))))


def texts_of(kind, base, ratio, room, shared):
    """How texts are written with a tokenizer, and what reads sentences with it."""
    tokenizer = tokenizer_of(kind)
    speller = Speller(tokenizer, LABELS, tokenizer.token_to_id(END), end_of_prompt=not shared)
    own = GenerativeSettings(length_base=base, length_ratio=ratio)
    subwords = SubwordTokenizer(tokenizer, blank=blank_before_words(tokenizer))
    return Texts(speller, own, room, shared_room=shared), EncoderInputs(subwords, 0, 1000)


def read_back(texts, example, ids):
    """The mentions of a text; None where it is not well-formed."""
    try:
        return {mention for mention, _ in texts.decode(texts.writing(example), ids)}
    except KeyError:
        return None


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(
    sentence=sentences(),
    base=st.integers(2, 30),
    ratio=st.sampled_from([0.0, 1.0, 3.0]),
    room=st.none() | st.integers(150, 250),
    shared=st.booleans(),
)
def test_what_is_not_lost_comes_back(kind, sentence, base, ratio, room, shared):
    texts, inputs = texts_of(kind, base, ratio, room, shared)
    (example,) = inputs.prepare([sentence]).inputs
    text = texts.encode(example)
    kept = set(sentence.mentions) - set(text.lost)
    assert set(text.lost) <= set(sentence.mentions)
    assert read_back(texts, example, text.ids) == kept
    spelling = texts.writing(example).spelling
    limit = texts.limit(spelling)
    assert len(text.ids) <= limit
    if room is not None:
        assert (len(spelling.prompt) if shared else 1) + len(text.ids) <= room
    for mention in text.lost:
        # Behind those that come before it there is no room, or it would not be read as itself.
        before = {own for own in kept if place_of(own) < place_of(mention)} | {mention}
        pointers = texts.format.point([1] * example.length)
        ids = joined(spelling, texts.format.encode(before, pointers, limit=1000).tokens)
        assert len(ids) > limit or read_back(texts, example, ids) != before


def place_of(mention):
    return mention.words, LABELS.index(mention.label)


@settings(max_examples=40)
@given(sentence=sentences(labels=("ADR", "Drug")))
def test_what_is_counted_as_inexpressible_is_what_does_not_come_back(generative, sentence):
    system = generative("gpt2", "model.length_base=12", "model.length_ratio=0")
    (example,) = system.prepare([sentence]).inputs
    (text,) = system.collate([example])["texts"]
    missing = set(sentence.mentions) - read_back(system.texts, example, text)
    assert system.inexpressible([sentence]) == len(missing)
