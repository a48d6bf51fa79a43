"""The small corpus that comes with the project: whole, varied, and its parts apart.

The files are read here with a few lines of plain Python, so that a fault of the project's own
reader cannot hide a fault of the corpus.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

import pytest

from trigner.text.sentences import split

CORPUS = Path(__file__).resolve().parents[1] / "data" / "mini-adr"
PARTS = ("train", "dev", "test")
RUN = 5  # words: two sentences that share so many in a row are told to be near copies


@dataclass(frozen=True, slots=True)
class Annotation:
    """One line of an .ann file."""

    id: str
    label: str
    fragments: tuple[tuple[int, int], ...]
    surface: str

    @property
    def characters(self) -> frozenset[int]:
        """Offsets of all characters inside the fragments."""
        return frozenset(chain.from_iterable(range(*fragment) for fragment in self.fragments))


@dataclass(frozen=True, slots=True)
class Text:
    """One .txt file and its annotations."""

    name: str
    text: str
    annotations: tuple[Annotation, ...]


def annotation(line: str) -> Annotation:
    """A line such as `T1<tab>Drug 0 4;10 14<tab>surface`."""
    name, where, surface = line.split("\t")
    label, ranges = where.split(" ", 1)
    pairs = (fragment.split(" ") for fragment in ranges.split(";"))
    return Annotation(name, label, tuple((int(a), int(b)) for a, b in pairs), surface)


@cache
def texts(part: str) -> tuple[Text, ...]:
    """All documents of one part, in the order of their names."""
    read = []
    for path in sorted((CORPUS / part).glob("*.txt")):
        lines = path.with_suffix(".ann").read_bytes().decode("utf-8").splitlines()
        content = path.read_bytes().decode("utf-8")
        read.append(Text(f"{part}/{path.stem}", content, tuple(annotation(x) for x in lines)))
    return tuple(read)


EVERY = tuple(chain.from_iterable(texts(part) for part in PARTS))


def runs(documents: Iterable[Text]) -> set[tuple[str, ...]]:
    """All runs of `RUN` words, lower-cased, punctuation left out."""
    found = set()
    for document in documents:
        words = re.findall(r"\w+", document.text.lower())
        found |= {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
    return found


def crossing(one: Annotation, other: Annotation) -> bool:
    """Whether one starts inside the other's gap and goes on behind its end, sharing nothing."""
    (a, b), (c, d) = sorted((x.fragments[0][0], x.fragments[-1][0]) for x in (one, other))
    return a < c < b < d and not one.characters & other.characters


def overlapping(one: Annotation, other: Annotation) -> bool:
    """Whether they share characters, and each has some of its own."""
    mine, theirs = one.characters, other.characters
    return bool(mine & theirs) and not mine <= theirs and not theirs <= mine


def some_pair(holds: Callable[[Annotation, Annotation], bool]) -> Callable[[Text], bool]:
    """Whether two annotations of a text stand to each other like that."""

    def check(document: Text) -> bool:
        found = document.annotations
        return any(holds(one, other) for one in found for other in found if one is not other)

    return check


def some(holds: Callable[[Annotation], bool]) -> Callable[[Text], bool]:
    """Whether an annotation of a text is like that."""
    return lambda document: any(holds(one) for one in document.annotations)


KINDS: dict[str, Callable[[Text], bool]] = {
    "contiguous": some(lambda one: len(one.fragments) == 1),
    "one word": some(lambda one: len(one.fragments) == 1 and one.surface.isalnum()),
    "two fragments": some(lambda one: len(one.fragments) == 2),
    "three fragments": some(lambda one: len(one.fragments) == 3),
    "discontinuous drug": some(lambda one: one.label == "Drug" and len(one.fragments) > 1),
    "nested": some_pair(lambda one, other: one.characters < other.characters),
    "overlapping": some_pair(overlapping),
    "crossing": some_pair(crossing),
}


@pytest.mark.parametrize("part", PARTS)
def test_every_text_has_its_annotations(part: str) -> None:
    stems = {
        suffix: {path.stem for path in (CORPUS / part).glob(f"*{suffix}")}
        for suffix in (".txt", ".ann")
    }
    assert stems[".txt"], f"{part} has no texts"
    assert stems[".txt"] == stems[".ann"]


@pytest.mark.parametrize("document", EVERY, ids=lambda document: document.name)
def test_files_are_clean(document: Text) -> None:
    text = document.text
    assert text == text.strip() + "\n"
    assert not re.search(r"[\r\t]", text)
    count = len(document.annotations)
    assert [one.id for one in document.annotations] == [f"T{n + 1}" for n in range(count)]
    places = [(one.label, one.fragments) for one in document.annotations]
    assert len(set(places)) == count
    assert {one.label for one in document.annotations} <= {"AdverseReaction", "Drug"}


@pytest.mark.parametrize("document", EVERY, ids=lambda document: document.name)
def test_fragments_are_whole_words_and_surfaces_agree(document: Text) -> None:
    text = document.text
    for one in document.annotations:
        assert " ".join(text[start:end] for start, end in one.fragments) == one.surface
        for start, end in one.fragments:
            assert 0 <= start < end <= len(text)
            assert text[start:end] == text[start:end].strip()
            assert not (start and text[start - 1].isalnum() and text[start].isalnum())
            assert not (text[end - 1].isalnum() and text[end].isalnum())
        for (_, end), (start, _) in pairwise(one.fragments):
            assert text[end:start].strip(), f"nothing between the fragments of {one.surface!r}"


@pytest.mark.parametrize("document", EVERY, ids=lambda document: document.name)
def test_no_annotation_leaves_its_sentence(document: Text) -> None:
    sentences = [(words[0][0], words[-1][1]) for words in split(document.text)]
    for one in document.annotations:
        first, last = one.fragments[0][0], one.fragments[-1][1]
        assert any(start <= first and last <= end for start, end in sentences), one.surface


def test_size_and_shares() -> None:
    annotations = [one for document in EVERY for one in document.annotations]
    fragments = Counter(len(one.fragments) for one in annotations)
    labels = Counter(one.label for one in annotations)
    sentences = [len(split(document.text)) for document in EVERY]
    assert sum(sentences) >= 200
    assert 0.28 <= 1 - fragments[1] / len(annotations) <= 0.42
    assert fragments[3] >= 15
    assert min(labels["AdverseReaction"], labels["Drug"]) >= 50


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_there_to_learn_and_to_be_asked_for(part: str, kind: str) -> None:
    assert any(KINDS[kind](document) for document in texts(part))


def test_the_test_part_is_new_to_a_model() -> None:
    assert not runs(texts("test")) & runs((*texts("train"), *texts("dev")))


def test_the_dev_part_is_nearly_new_to_a_model() -> None:
    assert len(runs(texts("train")) & runs(texts("dev"))) <= 2


@pytest.mark.parametrize("part", PARTS)
def test_the_counts_in_the_readme_are_those_of_the_files(part: str) -> None:
    annotations = [one for document in texts(part) for one in document.annotations]
    fragments = Counter(len(one.fragments) for one in annotations)
    labels = Counter(one.label for one in annotations)
    counts = (
        len(texts(part)),
        sum(len(split(document.text)) for document in texts(part)),
        len(annotations),
        labels["AdverseReaction"],
        labels["Drug"],
        len(annotations) - fragments[1],
        fragments[3],
    )
    row = f"| `{part}` | {' | '.join(map(str, counts))} |"
    assert row in (CORPUS / "README.md").read_text(encoding="utf-8").splitlines()
