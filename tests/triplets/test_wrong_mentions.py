from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch.nn import functional

from trigner.mentions import Mention
from trigner.triplets import (
    MentionTripletLoss,
    TripletSettings,
    collate_mentions,
    wrong_mentions,
)

LABELS = ("ADR", "Drug")
# numb left and right arm
COORDINATION = (Mention((0, 1, 4), "ADR"), Mention((0, 3, 4), "ADR"))


def test_what_is_wrong_in_a_plausible_way():
    found = wrong_mentions(COORDINATION, 6)
    assert list(found) == sorted(COORDINATION)
    assert set(found[COORDINATION[0]]) == {
        (1, 4),  # a word less in front
        (0, 1),  # a word less behind, and a fragment less
        (0, 1, 4, 5),  # a word more behind
        (4,),  # a fragment less
        (0, 1, 2, 3, 4),  # the gap filled
        (0, 1, 3, 4),  # both as one
        (1,),  # its own words alone
        (0, 4),  # the shared words alone
    }


def test_a_word_more_is_one_of_the_sentence():
    (wrong,) = wrong_mentions([Mention((1, 2), "ADR")], 4).values()
    assert wrong == ((0, 1, 2), (1,), (1, 2, 3), (2,))
    (wrong,) = wrong_mentions([Mention((0, 1), "ADR")], 2).values()
    assert wrong == ((0,), (1,))


def test_gold_mentions_of_the_label_are_not_wrong():
    mentions = (Mention((0, 1), "ADR"), Mention((0,), "ADR"), Mention((1,), "Drug"))
    assert wrong_mentions(mentions, 2)[mentions[0]] == ((1,),)
    assert wrong_mentions([Mention((0,), "ADR")], 1) == {Mention((0,), "ADR"): ()}


def test_first_words_are_exchanged_with_neighbours_alone():
    # severe headache , mild nausea , slight fever
    mentions = [Mention((first, first + 1), "ADR") for first in (0, 3, 6)]
    found = wrong_mentions(mentions, 8)
    assert {(0, 4), (1, 3)} <= set(found[mentions[0]])
    assert not {(0, 7), (1, 6)} & {*found[mentions[0]], *found[mentions[2]]}
    assert {(0, 4), (1, 3), (3, 7), (4, 6)} <= set(found[mentions[1]])
    assert wrong_mentions([mentions[i] for i in (2, 0, 1)], 8) == found
    # Words of another type are no neighbour's.
    others = wrong_mentions([mentions[0], Mention((3, 4), "Drug"), mentions[2]], 8)
    assert {(0, 7), (1, 6)} <= set(others[mentions[0]])


def test_what_is_proposed_wrongly_joins_the_mention_that_is_most_like_it():
    one, two = Mention((0, 1, 2), "ADR"), Mention((5, 6), "ADR")
    drug = Mention((7,), "Drug")
    overlapping, alone = Mention((0, 2, 4), "ADR"), Mention((3,), "ADR")
    both = Mention((1, 5, 6), "ADR")  # nearer to the one, and with more words of the other
    proposed = [one, overlapping, alone, both, Mention((0, 2, 5, 6), "Drug")]
    proposed.append(Mention((3,), "Dose"))
    plain = wrong_mentions([one, two, drug], 8)
    found = wrong_mentions([one, two, drug], 8, proposed)
    assert set(found[one]) - set(plain[one]) == {(0, 2, 4)}
    assert set(found[two]) - set(plain[two]) == {(3,), (1, 5, 6)}
    assert set(found[drug]) - set(plain[drug]) == {(0, 2, 5, 6)}
    assert wrong_mentions([Mention((0,), "ADR")], 1, proposed) == {Mention((0,), "ADR"): ()}
    assert wrong_mentions([], 8, proposed) == {}


WORDS = st.sets(st.integers(0, 7), min_size=1).map(lambda own: tuple(sorted(own)))
MENTIONS = st.lists(st.builds(Mention, WORDS, st.sampled_from(LABELS)), max_size=4)


@given(MENTIONS, MENTIONS)
def test_they_are_mentions_of_the_sentence_and_none_is_gold(mentions, proposed):
    made, found = wrong_mentions(mentions, 8), wrong_mentions(mentions, 8, proposed)
    joined = [set(found[mention]) - set(made[mention]) for mention in found]
    assert sum(map(len, joined)) <= len(set(proposed) - set(mentions))
    # How many mentions have triplets is known before any are proposed.
    assert [bool(own) for own in found.values()] == [bool(own) for own in made.values()]
    for mention, wrong in found.items():
        assert set(made[mention]) <= set(wrong)
        assert mention in mentions
        for words in wrong:
            assert Mention(words, mention.label) not in mentions
            assert words == tuple(sorted(set(words)))
            assert words[0] >= 0
            assert words[-1] < 8


@settings(max_examples=30)
@given(
    st.lists(MENTIONS, max_size=3),
    st.lists(MENTIONS, min_size=3, max_size=3),
    st.sampled_from([0.1, 1.0]),
    st.integers(0, 2**16),
)
def test_values_and_gradients_of_the_definition(sentences, proposed, margin, seed):
    random = torch.Generator().manual_seed(seed)
    grid = torch.randn(3, 10, 10, 4, generator=random).double().requires_grad_()
    centres = torch.randn(2, 4, generator=random).double().requires_grad_()
    batch = collate_mentions([(own, 8) for own in sentences], LABELS, proposed)
    exact = 1 / (1 / batch.shares.double()).round()  # a third of float32 is too far from one
    batch = replace(batch, shares=exact)
    states = grid[batch.sentences, batch.rows, batch.columns]
    ours = MentionTripletLoss(margin)(states, centres, batch)

    def away(sentence, words, label):
        cells = [(x, y) for x in words for y in words if x < y] or [(words[0], words[0])]
        mean = sum(grid[sentence, x + 2, y + 2] for x, y in cells) / len(cells)
        return functional.pairwise_distance(
            functional.normalize(centres[LABELS.index(label)], dim=0),
            functional.normalize(mean, dim=0),
        )

    losses = []
    for sentence, mentions in enumerate(sentences):
        for mention, wrong in wrong_mentions(mentions, 8, proposed[sentence]).items():
            own = away(sentence, mention.words, mention.label)
            hinges = [
                functional.relu(margin + own - away(sentence, words, mention.label))
                for words in wrong
            ]
            losses += [sum(hinges) / len(hinges)] if hinges else []
    expected = sum(losses) / len(losses) if losses else 0 * grid.sum()
    torch.testing.assert_close(ours, expected)
    if losses:
        naive = torch.autograd.grad(expected, (grid, centres))
        for found, own in zip(torch.autograd.grad(ours, (grid, centres)), naive, strict=True):
            torch.testing.assert_close(found, own)


def test_a_long_mention_around_many_others_does_not_need_their_number_of_cells():
    long = Mention(tuple(range(60)), "ADR")
    inner = [Mention((word, word + 1), "ADR") for word in range(0, 60, 2)]
    batch = collate_mentions([([long, *inner], 60)], LABELS)
    assert set(batch.golds.tolist()) | set(batch.wrongs.tolist()) == set(range(batch.count))
    whole = 60 * 59 // 2
    assert len(wrong_mentions([long, *inner], 60)[long]) == 2 + 10
    # Itself, three at its ends, and what the first ten leave of it.
    assert len(batch.rows) < (1 + 3 + 10) * whole + 30 * 40
    assert batch.shares.sum().item() == pytest.approx(31)


def test_without_mentions_it_is_0_and_keeps_the_graph():
    batch = collate_mentions([((), 4)], LABELS)
    states = torch.zeros(0, 4, requires_grad=True)
    loss = MentionTripletLoss()(states, torch.ones(2, 4), batch)
    loss.backward()
    assert loss == 0


@pytest.mark.parametrize("other", [{"source": "logits"}, {"loss": "contrastive"}])
def test_mentions_are_compared_by_projections_alone(other):
    chosen = {"level": "mentions", "source": "projection", **other}
    with pytest.raises(ValidationError, match="level=mentions needs source=projection"):
        TripletSettings(**chosen)
