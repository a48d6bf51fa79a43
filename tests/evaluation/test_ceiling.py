from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tiny_models import TAG_SCHEMES, make_scheme
from trigner.corpora import read
from trigner.evaluation.ceiling import FORMAT, UNKNOWN, RoundTrip, ceiling, ceilings
from trigner.evaluation.counts import Score
from trigner.mentions import Document, Entity
from trigner.schemes.scheme import Scheme, round_trip
from trigner.schemes.w2ner import W2ner
from trigner.text.segmentation import segment


def tags(scheme: Scheme) -> RoundTrip:
    return partial(round_trip, scheme)


TEXT = "Pain and weakness in my arms and lower legs. I slept badly."


def entity(label: str, *surfaces: str) -> Entity:
    fragments, place = [], 0
    for surface in surfaces:
        first = TEXT.index(surface, place)
        place = first + len(surface)
        fragments.append((first, place))
    return Entity(label, tuple(fragments), " ".join(surfaces))


def found_twice(entity: Entity) -> tuple[Entity, Entity]:
    """An entity of the text, and the same where the text comes once more behind a blank."""
    by = len(TEXT) + 1
    return entity, replace(entity, fragments=tuple((a + by, b + by) for a, b in entity.fragments))


PAIN_LEGS = entity("ADR", "Pain", "in my", "lower legs")
SLEPT = entity("ADR", "slept badly")


def test_what_a_scheme_represents_comes_back() -> None:
    found = ceiling([Document("a", TEXT, (PAIN_LEGS, SLEPT))], tags(W2ner(("ADR",))))
    assert found.overall == Score(2, 2, 2)
    assert found.discontinuous == Score(1, 1, 1)
    assert (found.lost, found.spurious, found.incomplete, found.lost_by) == (0, 0, 0, {})


def test_every_way_to_get_lost_is_counted_once() -> None:
    # Head and tail agree, so the grid's cell can hold only the later type.
    documents = [
        Document(
            "a",
            TEXT,
            (
                entity("Sign", "slept badly"),
                SLEPT,
                entity("ADR", "legs", "I"),
                entity("ADR", "legs", "I"),
                entity("ADR", "eakness"),
                Entity("ADR", ((4, 5),), " "),
            ),
        ),
        Document("b", TEXT, (PAIN_LEGS,)),
    ]
    found = ceiling(documents, tags(W2ner(("ADR", "Sign"))))
    assert found.overall == Score(2, 2, 6)
    assert found.discontinuous == Score(1, 1, 2)
    assert found.lost_by == {
        "crosses a sentence boundary": 1,
        "empty": 1,
        "not aligned to words": 1,
        FORMAT: 1,
    }
    assert list(found.lost_by) == sorted(found.lost_by)
    assert (found.lost, found.spurious) == (4, 0)
    assert found.lost_by_format == found.as_json()["lost_by_format"] == 1


def test_spurious_mentions_are_counted() -> None:
    # Links of two mentions with equal ends mix: "Pain in legs" and "Pain arms legs" as well.
    documents = [
        Document(
            "a",
            TEXT,
            (
                entity("ADR", "Pain", "in", "arms", "legs"),
                entity("ADR", "Pain", "my", "arms", "lower legs"),
            ),
        )
    ]
    found = ceiling(documents, tags(W2ner(("ADR",))))
    assert found.overall == Score(2, 4, 2)
    assert (found.lost, found.spurious, found.as_json()["spurious"]) == (0, 2, 2)


def test_a_bound_that_was_hit_is_counted() -> None:
    found = ceiling(
        [Document("a", TEXT, (PAIN_LEGS, entity("ADR", "arms")))], tags(W2ner(("ADR",), 1))
    )
    assert found.incomplete == 1
    assert found.lost_by == {FORMAT: 1}
    twice = Document(
        "a", f"{TEXT} {TEXT}", (*found_twice(PAIN_LEGS), *found_twice(entity("ADR", "arms")))
    )
    again = ceiling([twice, twice], tags(W2ner(("ADR",), 1)))
    assert (again.as_json()["incomplete"], again.overall.gold) == (4, 8)


def test_ready_words_keep_their_words() -> None:
    text = "aa bb cc. dd"
    words = ((0, 2), (3, 5), (6, 9), (10, 12))
    gold = Document("a", text, (Entity("ADR", ((3, 5), (10, 12)), "bb dd"),), words)
    assert ceiling([gold], tags(W2ner(("ADR",)))).overall == Score(1, 1, 1)


def test_json_has_exactly_the_published_form() -> None:
    told = ceiling([Document("a", TEXT, (SLEPT,))], tags(W2ner(("ADR",)))).as_json()
    one = Score(1, 1, 1).as_json()
    assert told == {
        "overall": one,
        "discontinuous": Score(0, 0, 0).as_json(),
        "lost": 0,
        "lost_by": {},
        "lost_by_format": 0,
        "spurious": 0,
        "incomplete": 0,
    }


def test_several_schemes_in_one_pass_lose_different_entities() -> None:
    document = Document("a", TEXT, (PAIN_LEGS, SLEPT, entity("ADR", "eakness")))
    schemes = {name: tags(make_scheme(name, ("ADR",))) for name in ("w2ner", "bio")}
    found = ceilings(iter([document]), schemes)
    assert found["w2ner"] == ceiling([document], schemes["w2ner"])
    assert found["bio"] == ceiling([document], schemes["bio"])
    lost = [(each.entity, each.reason) for each in found["bio"].lost_entities]
    assert lost == [(PAIN_LEGS, FORMAT), (document.entities[2], "not aligned to words")]
    assert found["bio"].as_json()["lost_by"] == {"not aligned to words": 1, FORMAT: 1}
    assert found["bio"].lost_entities[0].as_json() == {
        "document": "a",
        "label": "ADR",
        "text": "Pain in my lower legs",
        "fragments": [[0, 4], [18, 23], [33, 43]],
        "reason": FORMAT,
    }


@pytest.mark.parametrize("name", sorted(TAG_SCHEMES))
def test_what_comes_back_is_what_the_encoding_says(name: str) -> None:
    """What a scheme calls lost is what the ceiling counts as lost by it."""
    gold = (
        PAIN_LEGS,
        entity("ADR", "weakness in my", "lower legs"),
        entity("ADR", "in my arms"),
        SLEPT,
    )
    document = Document("a", TEXT, gold)
    made = make_scheme(name, ("ADR",))
    lost = sum(
        len(made.encode(sentence.mentions, len(sentence.words)).lost)
        for sentence in segment(document).sentences
    )
    assert ceiling([document], tags(made)).lost_by_format == lost


def test_a_label_that_the_scheme_lacks_is_refused(refused) -> None:
    with refused(error=ValueError):
        ceiling([Document("a", TEXT, (SLEPT,))], tags(W2ner(("Sign",))))


def test_a_label_that_is_left_out_is_lost_for_that_reason() -> None:
    across = entity("ADR", "legs", "I")
    document = Document("a", TEXT, (SLEPT, across, entity("Sign", "slept badly")))
    found = ceiling([document], tags(W2ner(("Sign",))), labels={"Sign"})
    assert found.overall == Score(1, 1, 3)
    assert found.lost_by == {"crosses a sentence boundary": 1, UNKNOWN: 1}
    assert found.lost_by_format == 0


SHARED = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.mark.corpora
def test_schemes_differ_on_drug_labels_as_they_are_known_to() -> None:
    """Grids hardly lose; BIOHD stays below 90 on discontinuous entities, flat BIO has none."""
    folder = SHARED / "spl-adr"
    if not folder.is_dir():
        pytest.skip("shared/data/spl-adr is not next to the checkout")
    documents = read(folder, format="spl-adr", split="test").documents
    labels = tuple(sorted({e.label for d in documents for e in d.entities}))
    found = ceilings(documents, {name: tags(make_scheme(name, labels)) for name in TAG_SCHEMES})
    for name in ("w2ner", "toe", "mac"):
        assert found[name].overall.f1 > 0.995
        assert found[name].discontinuous.f1 > 0.99
        assert found[name].lost_by_format == 0
    assert found["mac_minimal"].overall.f1 > 0.98
    assert found["mac_minimal"].discontinuous.f1 > 0.97
    assert found["corro"].overall.precision == found["bio"].overall.precision == 1
    assert found["corro"].discontinuous.recall > 0.9
    assert 0.85 < found["biohd"].discontinuous.f1 < found["biohd1234"].discontinuous.f1 < 0.92
    assert found["bio"].discontinuous.recall == 0


CADEC = {
    "train": {"corro": (99.23, 93.48), "biohd": (98.05, 89.89), "biohd1234": 91.63},
    "dev": {"corro": (99.44, 94.68), "biohd": (98.27, 90.80), "biohd1234": 89.77},
    "test": {"corro": (99.09, 90.43), "biohd": (97.58, 87.86), "biohd1234": 87.36},
}
"""In per cent, overall and of discontinuous mentions: recall of `corro`, F1 of `biohd`; of
`biohd1234` F1 of discontinuous ones alone. Measured once on the sentences of Dai et al."""


@pytest.mark.corpora
@pytest.mark.parametrize("part", CADEC)
def test_the_ceilings_of_tag_sequences_on_cadec(part: str) -> None:
    path = SHARED / "cadec" / f"{part}.txt"
    if not path.is_file():
        pytest.skip(f"shared/data/cadec/{part}.txt, as Dai et al. prepare it, is not there")
    documents = read(path, format="inline").documents
    found = ceilings(documents, {name: tags(make_scheme(name, ("ADR",))) for name in CADEC[part]})
    corro, biohd, digits = found["corro"], found["biohd"], found["biohd1234"]
    assert corro.overall.precision == 1

    def per_cent(*shares: float) -> object:
        return pytest.approx([100 * share for share in shares], abs=0.01)

    assert CADEC[part] == {
        "corro": per_cent(corro.overall.recall, corro.discontinuous.recall),
        "biohd": per_cent(biohd.overall.f1, biohd.discontinuous.f1),
        "biohd1234": pytest.approx(100 * digits.discontinuous.f1, abs=0.01),
    }
