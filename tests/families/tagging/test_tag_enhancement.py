from __future__ import annotations

import pytest
import torch

from trigner.families.tagging.pair_features import PairFeatures
from trigner.families.tagging.tag_enhancement import TagEnhancement

LENGTHS = [6, 3, 1]


def layer(**options):
    torch.manual_seed(1)
    features = PairFeatures(
        size=8, distance_size=3, region_size=3, channels=4, dilations=(1, 2), chained=False
    )
    for linear in (features.norm.scale, features.norm.shift):
        torch.nn.init.normal_(linear.weight, std=0.5)
    made = TagEnhancement(
        features=features, size=8, tags=5, table_size=9, heads=2, feed_forward=7, **options
    )
    return made.double().eval()


def words(lengths=LENGTHS):
    """Random states, zero in padding, and which words are there."""
    torch.manual_seed(2)
    inside = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return torch.randn(len(lengths), max(lengths), 8).double() * inside[:, :, None], inside


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_padding_changes_nothing(rounds):
    enhancement = layer(rounds=rounds)
    states, inside = words()
    together = enhancement(states, inside)
    assert together.shape == (3, 5, 6, 6)
    for row, length in enumerate(LENGTHS):
        alone = enhancement(states[row : row + 1, :length], inside[row : row + 1, :length])
        torch.testing.assert_close(together[row, :, :length, :length], alone[0])


def test_what_stands_in_padding_is_not_read():
    enhancement = layer()
    states, inside = words()
    noise = torch.randn_like(states) * ~inside[:, :, None] * 100
    expected, found = enhancement(states, inside), enhancement(states + noise, inside)
    cells = (inside[:, :, None] & inside[:, None])[:, None].expand_as(expected)
    torch.testing.assert_close(found[cells], expected[cells])


def test_without_the_mask_padding_is_read():
    enhancement = layer(mask_padding=False)
    states, inside = words()
    together = enhancement(states, inside)[1, :, :3, :3]
    alone = enhancement(states[1:2, :3], inside[1:2, :3])[0]
    assert (together - alone).abs().max() > 1e-3
    # The states of padding itself are masked there too: it is pooled and attended among words.
    one_round = layer(mask_padding=False, rounds=1)
    torch.testing.assert_close(
        one_round(states, inside)[1, :, :3, :3], one_round(states[1:2, :3], inside[1:2, :3])[0]
    )


def test_every_round_counts_and_all_share_their_parameters():
    states, inside = words()
    results = [layer(rounds=n)(states, inside) for n in (1, 2, 3)]
    sizes = {sum(p.numel() for p in layer(rounds=n).parameters()) for n in (1, 2, 3)}
    assert len(sizes) == 1
    assert (results[0] - results[1]).abs().max() > 1e-3
    assert (results[1] - results[2]).abs().max() > 1e-3


def test_views_and_table_start_orthogonal():
    enhancement = layer()
    for linear in (enhancement.row_view, enhancement.column_view):
        assert (linear.weight @ linear.weight.T - torch.eye(8)).abs().max() < 1e-6
    table = enhancement.table.weight.flatten(1)
    assert (table.T @ table - torch.eye(8)).abs().max() < 1e-6


def test_a_sentence_without_words_leaves_numbers():
    enhancement = layer()
    states, inside = words([4, 2])
    inside[1] = False
    found = enhancement(states * inside[:, :, None], inside)
    assert found.isfinite().all()
