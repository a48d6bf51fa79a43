"""The network: a language model, what is tuned of it, and its scores of texts.

`B` sentences, `P` subwords of prompts, `T` of texts, `N` vectors before the prompt, `V` subwords.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
)
from transformers.pytorch_utils import Conv1D

from trigner.arrays import Floats
from trigner.batches import IGNORED
from trigner.encoders import encoder_scale, keep_shared_once, positions_of
from trigner.errors import require_extra
from trigner.families.core import check_finite
from trigner.families.generative.settings import GenerativeSettings
from trigner.families.generative.spelling import Ids
from trigner.families.generative.writing import Writing


@dataclass(frozen=True, slots=True)
class Generated:
    """A text that was written, and for each of its subwords the scores of all that were allowed
    there, in the order of their ids."""

    ids: Ids
    scores: list[Floats]


class GenerativeNetwork(nn.Module):
    """A language model that writes behind a prompt, tuned as the settings say.

    A causal model reads prompt and text as one; of an encoder-decoder the encoder reads the prompt.
    Weights that a model shares between layers are kept once.
    """

    def __init__(self, model: PreTrainedModel, settings: GenerativeSettings) -> None:
        super().__init__()
        self.language_model = model
        self.before: nn.Module | None = None
        tune(self, settings)
        self.takes = set(inspect.signature(model.forward).parameters)
        keep_shared_once(self)

    @property
    def encoder_decoder(self) -> bool:
        """Whether the prompt has an encoder of its own."""
        return bool(self.language_model.config.is_encoder_decoder)

    @property
    def positions(self) -> int | None:
        """Subwords that the language model can tell the places of; None: any number.

        Of an encoder-decoder those that both of its halves can.
        """
        config = self.language_model.config
        halves = (positions_of(config, "encoder"), positions_of(config, "decoder"))
        return min((own for own in halves if own is not None), default=None)

    @property
    def vectors(self) -> int:
        """How many there are before the prompt, `N`."""
        return 0 if self.before is None else self.before.embedding.num_embeddings  # type: ignore[union-attr, return-value]

    def embed(self, ids: Tensor) -> Tensor:
        """Embeddings `[..., D]` of ids, as the language model reads them in place of the ids."""
        return cast(Tensor, self._scale * self.language_model.get_input_embeddings()(ids))

    @property
    def _scale(self) -> float:
        return encoder_scale(self.language_model) if self.encoder_decoder else 1.0

    def scores(self, prompts: Sequence[Ids], texts: Sequence[Ids]) -> Tensor:
        """Scores `[B, T, V]` of the subwords of each text, given those before it."""
        read = self._read(prompts)
        device = read["inputs_embeds"].device
        lengths = torch.tensor([len(text) for text in texts], device=device)
        steps = int(lengths.max())
        given = padded([text[:-1] for text in texts], 0, width=steps - 1, device=device)
        if self.encoder_decoder:
            start = self.language_model.config.decoder_start_token_id
            given = nn.functional.pad(given, (1, 0), value=start)
            return cast(Tensor, self.language_model(**read, decoder_input_ids=given).logits)
        mask = torch.arange(steps - 1, device=device) < lengths[:, None] - 1
        whole = torch.cat([read["attention_mask"], mask.long()], dim=1)
        embeddings = torch.cat([read["inputs_embeds"], self.embed(given)], dim=1)
        more: dict[str, Any] = {"logits_to_keep": steps, "use_cache": False}
        if "position_ids" in self.takes:
            more["position_ids"] = (whole.cumsum(dim=1) - 1).clamp(min=0)
        more = {name: value for name, value in more.items() if name in self.takes}
        output = self.language_model(inputs_embeds=embeddings, attention_mask=whole, **more)
        return cast(Tensor, output.logits[:, -steps:])

    def write(
        self,
        prompts: Sequence[Ids],
        writings: Sequence[Writing],
        limits: Sequence[int],
        *,
        beam_size: int,
        length_penalty: float,
    ) -> list[Generated]:
        """A well-formed text for each prompt, of at most so many subwords.

        At its limit a text is cut off and does not end.
        """
        room = None if self.positions is None else self.positions - self.vectors
        if room is None or self.encoder_decoder:
            groups = [list(range(len(prompts)))]
        else:
            groups = side_by_side([len(own) for own in prompts], limits, room)
        found: dict[int, Generated] = {}
        for group in groups:
            texts = self._write(
                [prompts[row] for row in group],
                [writings[row] for row in group],
                [limits[row] for row in group],
                beam_size=beam_size,
                length_penalty=length_penalty,
            )
            found.update(zip(group, texts, strict=True))
        return [found[row] for row in range(len(prompts))]

    def _write(
        self,
        prompts: Sequence[Ids],
        writings: Sequence[Writing],
        limits: Sequence[int],
        *,
        beam_size: int,
        length_penalty: float,
    ) -> list[Generated]:
        """The texts of prompts that are written side by side."""
        ends = [writing.spelling.end for writing in writings]
        start = 1 if self.encoder_decoder else 0

        def allowed(row: int, ids: Ids) -> Collection[int]:
            text = ids[start:]
            if len(text) >= limits[row] or ends[row] in text:
                return [ends[row]]
            return writings[row].allowed(text)

        # In place of the model's own, which may ask for samples or penalties.
        self.language_model.generation_config = GenerationConfig(
            max_new_tokens=max(limits) + 1,
            num_beams=beam_size,
            do_sample=False,
            length_penalty=length_penalty,
            # A beam's scores are over all subwords, and what is allowed is chosen behind that.
            renormalize_logits=True,
            eos_token_id=ends[0],
            pad_token_id=ends[0],
            decoder_start_token_id=getattr(
                self.language_model.config, "decoder_start_token_id", None
            ),
        )
        constraint = _Constraint(allowed, beam_size)
        found = self.language_model.generate(  # type: ignore[operator]
            **self._read(prompts), logits_processor=LogitsProcessorList([constraint])
        )
        generated = []
        for row, (ids, end, limit) in enumerate(zip(found.tolist(), ends, limits, strict=True)):
            text = _text(ids[start:], end, limit)
            places = range(start, start + len(text))
            scores = [constraint.scores[row, tuple(ids[:place])] for place in places]
            generated.append(Generated(text, scores))
        return generated

    def _read(self, prompts: Sequence[Ids]) -> dict[str, Tensor]:
        """Embeddings `[B, N + P, D]` and mask of prompts.

        Those of a causal model, which its texts follow, end side by side.
        """
        device = next(self.parameters()).device
        ids = torch.tensor([id for own in prompts for id in own], device=device)
        rows = list(self.embed(ids).split([len(own) for own in prompts]))
        if self.before is not None:
            vectors = self._scale * self.before(torch.arange(self.vectors, device=device))
            rows = [torch.cat([vectors, row]) for row in rows]
        pad = partial(
            pad_sequence,
            batch_first=True,
            padding_side="right" if self.encoder_decoder else "left",
        )
        mask = pad([torch.ones(len(row), dtype=torch.long, device=device) for row in rows])
        return {"inputs_embeds": pad(rows), "attention_mask": mask}


class _Constraint(LogitsProcessor):
    """Leaves the scores of what is allowed behind the subwords of each row, `beam_size` a sentence.

    `scores` keeps them, by sentence and the subwords before, in the order of their ids, so that the
    text that is chosen is not read once more. Raises InputError for scores that are not numbers.
    """

    def __init__(self, allowed: Callable[[int, Ids], Collection[int]], beam_size: int) -> None:
        self._allowed = allowed
        self._beam_size = beam_size
        self.scores: dict[tuple[int, Ids], Floats] = {}

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        numbers = scores.double().cpu().numpy()
        check_finite(numbers)
        kept = torch.full_like(scores, -torch.inf)
        for row, ids in enumerate(input_ids.tolist()):
            sentence, before = row // self._beam_size, tuple(ids)
            own = sorted(self._allowed(sentence, before))
            kept[row, own] = scores[row, own]
            self.scores[sentence, before] = numbers[row, own]
        return kept


def side_by_side(sizes: Sequence[int], limits: Sequence[int], room: int) -> list[list[int]]:
    """Prompts of these sizes, by their places, in groups to be written together.

    A text that has ended is stepped on while others of its group are written: none leaves the room
    so.
    """
    groups: list[list[int]] = []
    for row in sorted(range(len(sizes)), key=lambda row: -sizes[row]):
        # The first of a group has its longest prompt.
        fitting = (own for own in groups if sizes[own[0]] + limits[row] <= room)
        group = next(fitting, None)
        if group is None:
            groups.append([row])
        else:
            group.append(row)
    return groups


def tune(network: GenerativeNetwork, settings: GenerativeSettings) -> None:
    """Put what is learnt into a network, and freeze the rest. Needs the extra `generative`."""
    if settings.tuning == "full":
        return
    require_extra("generative", "peft")
    import peft

    model = network.language_model
    model.requires_grad_(False)
    if settings.tuning == "lora":
        config = peft.LoraConfig(
            r=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
            target_modules="all-linear",
            fan_in_fan_out=any(isinstance(module, Conv1D) for module in model.modules()),
        )
        peft.inject_adapter_in_model(config, model)
        return
    table = cast(nn.Embedding, model.get_input_embeddings())
    prompt = peft.PromptTuningConfig(
        num_virtual_tokens=settings.prompt_size,
        token_dim=table.embedding_dim,
        num_transformer_submodules=1,
        prompt_tuning_init="SAMPLE_VOCAB",
    )
    network.before = peft.PromptEmbedding(prompt, table)  # type: ignore[no-untyped-call]


def padded(
    rows: Sequence[Ids], padding: int, *, width: int, device: torch.device | None = None
) -> Tensor:
    """Ids `[B, width]`."""
    filled = [(*row, *[padding] * (width - len(row))) for row in rows]
    return torch.tensor(filled, dtype=torch.long, device=device).view(len(rows), width)


def text_loss(scores: Tensor, texts: Sequence[Ids]) -> Tensor:
    """Cross-entropy of the subwords of texts, given scores `[B, T, V]`: the mean over them."""
    wanted = padded(texts, IGNORED, width=scores.shape[1], device=scores.device)
    return nn.functional.cross_entropy(
        scores.float().flatten(0, 1), wanted.flatten(), ignore_index=IGNORED
    )


def _text(ids: Sequence[int], end: int, limit: int) -> Ids:
    """A text up to its end, or to its limit, without what fills the batch."""
    found = tuple(ids[:limit])
    return found[: found.index(end) + 1] if end in found else found
