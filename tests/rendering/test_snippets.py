from __future__ import annotations

from hypothesis import given

from random_documents import documents
from trigner.mentions import Document
from trigner.rendering.snippets import Snippet, snippets

TEXT = "No pain today.  It hurts a lot.\n\nNothing else. The end."


def test_only_sentences_with_something_in_them():
    at = TEXT.index("hurts")
    found = snippets(Document("d", TEXT), [[(at, at + 5)]])
    (snippet,) = found.shown
    assert TEXT[snippet.start : snippet.end] == "It hurts a lot."
    assert snippet.members == (0,)
    assert found.others == 3


def test_sentences_that_something_runs_across_are_one_snippet():
    first, last = TEXT.index("pain"), TEXT.index("Nothing")
    found = snippets(Document("d", TEXT), [[(first, first + 4), (last, last + 7)], [(3, 7)]])
    assert found.shown == (Snippet(0, TEXT.index(" The"), (0, 1), 3),)
    assert found.others == 1


def test_sentences_next_to_each_other_are_snippets_of_their_own():
    pain, hurts = TEXT.index("pain"), TEXT.index("hurts")
    groups = [[(hurts, hurts + 5)], [(pain, hurts - 3)], [(hurts, hurts + 2)]]  # one ends in blanks
    found = snippets(Document("d", TEXT), groups)
    assert [(p.members, p.sentences) for p in found.shown] == [((1,), 1), ((0, 2), 1)]
    assert found.shown[1].start == TEXT.index("It")


def test_a_snippet_goes_as_far_as_the_longest_of_what_it_holds():
    pain, hurts, last = (TEXT.index(word) for word in ("pain", "hurts", "Nothing"))
    across = [(last, last + 7), (pain, pain + 4)]
    groups = [across, [(hurts, hurts + 5)], [(last, last + 7)]]
    for held in (groups, groups[:2]):
        found = snippets(Document("d", TEXT), held)
        members = tuple(range(len(held)))
        assert found.shown == (Snippet(0, TEXT.index(" The"), members, 3),)
        assert found.others == 1


def test_neither_text_nor_sentences():
    assert snippets(Document("d", ""), []).others == 0
    blank = snippets(Document("d", " \n "), [[(1, 2)], []])
    assert blank.shown == (Snippet(0, 2, (0,), 1),)
    before = snippets(Document("d", "  It hurts."), [[(1, 4)]])
    assert before.shown == (Snippet(1, 11, (0,), 1),)


@given(documents())
def test_everything_stands_in_exactly_one_snippet(made):
    for document in made:
        marked = [entity.fragments for entity in document.entities]
        found = snippets(document, marked)
        assert sorted(m for p in found.shown for m in p.members) == list(range(len(marked)))
        for snippet in found.shown:
            for member in snippet.members:
                assert all(snippet.start <= a < b <= snippet.end for a, b in marked[member])
        assert found.others >= 0
