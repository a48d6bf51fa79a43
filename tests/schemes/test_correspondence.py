"""Names with types left open, and what the names of new types continue."""

from __future__ import annotations

from itertools import permutations

import pytest

from tiny_models import TAG_SCHEMES, make_scheme
from trigner.families.tagging.taggers import tagger_spec
from trigner.schemes.bio import Bio
from trigner.schemes.correspondence import TypedName, arc_names, typed_names
from trigner.schemes.correspondence import origins as found_origins
from trigner.schemes.scheme import TagSpace
from trigner.schemes.span_grid import SpanGrid
from trigner.schemes.w2ner import W2ner

CHANGES = [
    (("ADR", "Drug"), ("ADR", "Dose")),
    (("ADR", "Drug"), ("Dose", "Drug", "Effect")),
    (("ADR",), ("Dose", "Effect")),
    (("ADR", "Dose", "Drug"), ("Effect",)),
    (("ADR", "Drug"), ("Drug", "ADR")),
]


def expected_origins(names, before, after):
    """The places of old names that a new one becomes by new types written as old ones."""
    old, new = names(before), names(after)
    added = [label for label in after if label not in before]
    found = []
    for name in new:
        if name in old:
            found.append({old.index(name)})
            continue
        own = [label for label in added if label in name]
        kept = [label for label in after if label in before and label in name]
        others = [label for label in before if label not in kept]
        found.append(set())
        for chosen in permutations(others, len(own)):
            changed = name
            for label, other in zip(own, chosen, strict=True):
                changed = changed.replace(label, other)
            found[-1] |= {old.index(changed)} if changed in old else set()
    return found


@pytest.mark.parametrize(("before", "after"), CHANGES)
@pytest.mark.parametrize("scheme", TAG_SCHEMES)
def test_tags_and_arcs_continue_those_that_they_become_by_another_type(scheme, before, after):
    make = tagger_spec(scheme).scheme
    found = found_origins(typed_names(make, before), typed_names(make, after))
    expected = expected_origins(lambda labels: make_scheme(scheme, labels).tags, before, after)
    assert [set(own) for own in found] == expected
    assert all(expected)  # of every tag there is one of an old type
    if make(()).tag_space is TagSpace.SEQUENCE:

        def arcs(labels):
            return arc_names(make_scheme(scheme, labels).grammar)

        found = found_origins(
            *(typed_names(make, own, lambda s: arc_names(s.grammar)) for own in (before, after))
        )
        assert [set(own) for own in found] == expected_origins(arcs, before, after)


def test_names_of_w2ner():
    assert typed_names(W2ner, ("ADR", "Drug")) == (
        TypedName("NONE", ()),
        TypedName("NNW", ()),
        TypedName("THW-{type}", ("ADR",)),
        TypedName("THW-{type}", ("Drug",)),
    )


def test_a_type_that_looks_like_a_part_of_a_tags_name():
    """Of `SpanGrid`, `II-N-X` is a gap of the type X and a segment of the type N-X."""
    old, new = typed_names(SpanGrid, ("N-X", "Y")), typed_names(SpanGrid, ("X", "Y"))
    place = new.index(TypedName("II-N-{type}", ("X",)))
    gaps = [i for i, name in enumerate(old) if name.pattern == "II-N-{type}"]
    assert list(found_origins(old, new)[place]) == gaps
    same = [found_origins(old, new)[i] for i, own in enumerate(new) if own.types == ("Y",)]
    assert all(len(own) == 1 for own in same)
    twice = typed_names(W2ner, ("{type}", "THW-{type}"))
    assert len(set(twice)) == 4


def test_a_transition_between_two_types_continues_none_of_a_model_with_one():
    def arcs(labels):
        return typed_names(Bio, labels, lambda scheme: arc_names(scheme.grammar))

    new = arcs(("A", "B"))
    found = dict(zip(new, found_origins(arcs(("A",)), new), strict=True))
    assert found[TypedName("B-{type} B-{type} B-{type}", ("A", "B", "B"))] == ()
    assert len(found[TypedName("B-{type} B-{type} B-{type}", ("B", "B", "B"))]) == 1
