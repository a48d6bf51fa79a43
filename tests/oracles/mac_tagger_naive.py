"""MAC's two taggers layer by layer, every pair's features built; weights are the module's own."""

from __future__ import annotations

import torch


def normalised(states, norm):
    """Conditional layer norm `[B, L, L, D]`: the column normalised, under the row."""
    mean = states.mean(-1, keepdim=True)
    variance = ((states - mean) ** 2).mean(-1, keepdim=True) + 1e-12
    normal = (states - mean) / (variance**2 if norm.squared else variance.sqrt())
    return norm.scale(states)[:, :, None] * normal[:, None] + norm.shift(states)[:, :, None]


def span_states(states, spans):
    """`[B, L, L, S]`: PyTorch's LSTM over each span by itself, zeros below the diagonal."""
    batch, length, _ = states.shape
    grid = states.new_zeros(batch, length, length, spans.lstm.hidden_size)
    for i in range(length):
        for j in range(i, length):
            last = j if spans.reach is None else min(j, i + spans.reach - 1)
            own = spans.lstm(states[:, i : last + 1])[0][:, -1]
            index = (torch.arange(batch), torch.tensor(i), torch.tensor(j))
            grid = grid.index_put(index, own)
    return grid


def segment_features(states, tagger):
    """What the last layer of the segments reads, `[B, L, L, size + length_size]`."""
    length = states.shape[1]
    pairs = torch.cat([span_states(states, tagger.spans), normalised(states, tagger.norm)], dim=-1)
    ids = [[max(0, j - i) for j in range(length)] for i in range(length)]
    lengths = tagger.length(torch.tensor(ids)).expand(len(states), -1, -1, -1)
    return torch.cat([tagger.mix(pairs), lengths], dim=-1)


def link_features(states, tagger):
    """What the last layer of the links reads, `[B, L, L, size]`."""
    return tagger.mix(normalised(states, tagger.norm))


def features(scores, tagger):
    """Both, one behind the other, from the words of `TagScores`."""
    of_segments, of_links = scores.states.chunk(2, dim=-1)
    both = [segment_features(of_segments, tagger.segments), link_features(of_links, tagger.links)]
    return torch.cat(both, dim=-1)


def logits(scores, tagger):
    """`[B, L, L, C]`."""
    of_segments, of_links = scores.states.chunk(2, dim=-1)
    both = [
        tagger.segments.output(segment_features(of_segments, tagger.segments)),
        tagger.links.output(link_features(of_links, tagger.links)),
    ]
    return torch.cat(both, dim=-1)
