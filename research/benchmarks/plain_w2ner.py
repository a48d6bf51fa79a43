"""W2NER and its training written plainly from their description: random batches, the batch's mean.

Li et al., AAAI 2022. Own network, tags, loss, batches, optimiser and schedule; reading, words,
subwords, decoding and scores are the library's. It is what trainings of the library are held
against (`batch_weighting.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import get_linear_schedule_with_warmup

from trigner.batches.collation import Batch, collate
from trigner.batches.encoder_inputs import EncoderInputs
from trigner.batches.examples import Example, windowing
from trigner.batches.subwords import SubwordTokenizer
from trigner.encoders.pretrained import load_encoder
from trigner.families.tagging.predictor import TagPredictor
from trigner.mentions import Document, Mention
from trigner.pipeline.extraction import Extractor
from trigner.schemes.w2ner import W2ner
from trigner.text.segmentation import segment

IGNORED = -100
STATES, CHANNELS, BIAFFINE, GRID = 512, 80, 512, 120


class PlainW2ner(nn.Module):
    """Section 4 of the description, every grid in full."""

    def __init__(self, encoder: nn.Module, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        size = encoder.config.hidden_size
        self.lstm = nn.LSTM(size, STATES // 2, bidirectional=True, batch_first=True)
        self.scale = nn.Linear(STATES, STATES)
        self.shift = nn.Linear(STATES, STATES)
        for layer, bias in ((self.scale, 1.0), (self.shift, 0.0)):
            nn.init.zeros_(layer.weight)
            nn.init.constant_(layer.bias, bias)
        self.distance = nn.Embedding(20, 20)
        self.region = nn.Embedding(3, 20)
        self.reduce = nn.Conv2d(STATES + 40, CHANNELS, 1)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(CHANNELS, CHANNELS, 3, dilation=d, padding=d, groups=CHANNELS)
            for d in (1, 2, 3)
        )
        self.subject = nn.Linear(STATES, BIAFFINE)
        self.object = nn.Linear(STATES, BIAFFINE)
        self.biaffine = nn.Parameter(torch.empty(classes, BIAFFINE + 1, BIAFFINE + 1))
        nn.init.xavier_normal_(self.biaffine)
        self.grid = nn.Linear(3 * CHANNELS, GRID)
        self.output = nn.Linear(GRID, classes)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> Tensor:
        """Logits `[B, L, L, C]`."""
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True
        ).hidden_states
        subwords = torch.stack(hidden[-4:]).mean(0)
        words = self._drop(pooled(subwords, word_subwords), 0.5)
        with torch.autocast("cpu", enabled=False):
            packed = pack_padded_sequence(
                words.float(), lengths, batch_first=True, enforce_sorted=False
            )
            states, _ = pad_packed_sequence(
                self.lstm(packed)[0], batch_first=True, total_length=words.shape[1]
            )
        inside = torch.arange(states.shape[1]) < lengths[:, None]
        mask = (inside[:, :, None] & inside[:, None])[:, None]
        return self._biaffine(states) + self._grid(states, mask)

    def _grid(self, states: Tensor, mask: Tensor) -> Tensor:
        normal = functional.layer_norm(states, states.shape[-1:], eps=1e-12)
        pairs = normal[:, :, None] * self.scale(states)[:, None] + self.shift(states)[:, None]
        distances, regions = places(states.shape[1])
        ids = mask[:, 0].long()
        grid = torch.cat(
            [self.distance(distances * ids), self.region(regions * ids), pairs], dim=-1
        )
        grid = functional.dropout2d(grid.permute(0, 3, 1, 2) * mask, 0.5, self.training)
        grid = functional.gelu(self.reduce(grid)) * mask
        outputs = []
        for convolution in self.convolutions:
            # In float32: on a CPU the gradient of a dilated depthwise convolution in bfloat16 is
            # now and then not a number (PyTorch 2.13, channels last).
            with torch.autocast("cpu", enabled=False):
                grid = functional.gelu(convolution(grid.float())) * mask
            outputs.append(grid)
        features = torch.cat(outputs, dim=1).permute(0, 2, 3, 1)
        hidden = self._drop(functional.gelu(self.grid(self._drop(features, 0.33))), 0.33)
        return self.output(hidden)

    def _biaffine(self, states: Tensor) -> Tensor:
        def side(layer: nn.Linear) -> Tensor:
            words = self._drop(functional.gelu(layer(self._drop(states, 0.33))), 0.33)
            return torch.cat([words, torch.ones_like(words[..., :1])], dim=-1)

        return torch.einsum(
            "bxi,oij,byj->bxyo", side(self.subject), self.biaffine, side(self.object)
        )

    def _drop(self, values: Tensor, rate: float) -> Tensor:
        return functional.dropout(values, rate, self.training)


def pooled(subwords: Tensor, word_subwords: Tensor) -> Tensor:
    """The maximum over each word's subwords, `[B, L, D]`; zeros for a word without any."""
    rows = []
    for sentence, words in zip(subwords, word_subwords.tolist(), strict=True):
        owned = [[place for place in places if place >= 0] for places in words]
        rows.append(
            torch.stack(
                [sentence[own].amax(0) if own else torch.zeros_like(sentence[0]) for own in owned]
            )
        )
    return torch.stack(rows)


def places(length: int) -> tuple[Tensor, Tensor]:
    """Distance and region ids `[L, L]`: log buckets, 9 more above the diagonal, 19 on it."""
    offset = torch.arange(length)[:, None] - torch.arange(length)
    bucket = offset.abs().clamp(min=1).log2().floor().long().clamp(max=8) + 1
    distance = torch.where(offset > 0, bucket, bucket + 9)
    distance[offset == 0] = 19
    return distance, torch.where(offset < 0, 1, 2)


def grid_tags(mentions: Sequence[Mention], length: int, labels: Sequence[str]) -> Tensor:
    """Section 2: 1 links neighbouring words of a mention, 2 and more are its type at tail, head."""
    tags = torch.zeros(length, length, dtype=torch.long)
    for mention in mentions:
        for word, following in zip(mention.words, mention.words[1:], strict=False):
            tags[word, following] = 1
        tags[mention.words[-1], mention.words[0]] = 2 + labels.index(mention.label)
    return tags


def train_plainly(
    documents: Sequence[Document],
    labels: tuple[str, ...],
    *,
    encoder: str,
    seed: int,
    epochs: int,
    batch_size: int,
    encoder_lr: float,
    learning_rate: float,
    warmup: float,
    bfloat16: bool,
    after_epoch: Callable[[Extractor], None],
) -> None:
    """Section 7: shuffled batches, the last incomplete one dropped, linear decay, norm 5."""
    torch.manual_seed(seed)
    model, tokenizer, padding_id = load_encoder(encoder, ())
    network = PlainW2ner(model, 2 + len(labels))
    subwords = SubwordTokenizer(tokenizer)
    sentences = [s for document in documents for s in segment(document).sentences]
    examples = windowing(sentences, subwords, 512).inputs
    in_encoder = {id(p) for p in model.parameters()}
    others = [p for p in network.parameters() if id(p) not in in_encoder]
    groups = [
        {"params": [*model.parameters()], "lr": encoder_lr},
        {"params": others, "lr": learning_rate},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.0)
    updates = len(examples) // batch_size * epochs
    schedule = get_linear_schedule_with_warmup(optimiser, round(warmup * updates), updates)
    predictor = TagPredictor(
        scorer=scorer(network, bfloat16),
        scheme=W2ner(labels),
        inputs=EncoderInputs(subwords, padding_id, 512),
    )
    extractor = Extractor(predictor, "w2ner")
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        network.train()
        for chosen in random_batches(examples, batch_size, random):
            batch = collate([e.subwords for e in chosen], padding_id=padding_id)
            with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
                logits = network(*as_tensors(batch)).float()
            longest = int(batch.lengths.max())
            tags = torch.full((len(chosen), longest, longest), IGNORED)
            for row, example in zip(tags, chosen, strict=True):
                own = grid_tags(example.mentions, example.length, labels)
                row[: example.length, : example.length] = own
            loss = functional.cross_entropy(logits.flatten(0, 2), tags.flatten())
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            optimiser.step()
            schedule.step()
        network.eval()
        after_epoch(extractor)


def random_batches(
    examples: Sequence[Example], size: int, random: np.random.Generator
) -> Iterator[list[Example]]:
    """One epoch of batches of exactly `size` sentences."""
    order = random.permutation(len(examples))
    for start in range(0, len(order) - size + 1, size):
        yield [examples[i] for i in order[start : start + size]]


def scorer(network: PlainW2ner, bfloat16: bool) -> Callable[[Batch], np.ndarray]:
    """Logits of a batch as numpy's."""

    @torch.inference_mode()
    def score(batch: Batch) -> np.ndarray:
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            logits = network(*as_tensors(batch))
        return logits.float().numpy()

    return score


def as_tensors(batch: Batch) -> tuple[Tensor, ...]:
    """What the network reads."""
    arrays = (batch.input_ids, batch.attention_mask, batch.word_subwords, batch.lengths)
    return tuple(torch.from_numpy(array) for array in arrays)
