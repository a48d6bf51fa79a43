"""A model in memory: a tagger with what gives its scores meaning, fresh or from a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import ValidationError
from tokenizers import Tokenizer

from trigner.batches import EncoderInputs
from trigner.encoders import load_encoder
from trigner.errors import InputError
from trigner.families.core import load_network, word_inputs
from trigner.families.tagging.build import build_tagger
from trigner.families.tagging.network_settings import TaggerSettings
from trigner.families.tagging.tagger import Tagger
from trigner.families.tagging.taggers import tagger_spec
from trigner.models import DESCRIPTION, read_description
from trigner.schemes import Scheme


@dataclass(frozen=True)
class Model:
    """A tagger with the scheme that reads its scores and the tokenizer that feeds it.

    Its logits are divided by `temperature` where scores are read (`pipeline.calibration`).
    `system` is the name of its row.
    """

    tagger: Tagger
    scheme: Scheme
    tokenizer: Tokenizer
    padding_id: int
    settings: TaggerSettings
    temperature: float = 1.0
    system: str = ""

    @property
    def inputs(self) -> EncoderInputs:
        """How sentences become what its encoder reads."""
        return word_inputs(
            self.tagger.encoder,
            self.tokenizer,
            self.padding_id,
            self.settings,
            self.settings.leading_words,
        )


def create(encoder: str, system: str, labels: tuple[str, ...], settings: TaggerSettings) -> Model:
    """A fresh model around a pretrained encoder. Raises InputError when that cannot be had."""
    scheme = tagger_spec(system).scheme(labels)
    pretrained, tokenizer, padding_id = load_encoder(encoder, settings.leading_words)
    tagger = build_tagger(pretrained, settings, scheme, system)
    return Model(tagger, scheme, tokenizer, padding_id, settings, system=system)


def load(folder: str | Path) -> Model:
    """The model in a folder. Raises InputError naming the file that is missing or foreign."""
    folder = Path(folder)
    description = read_description(folder)
    try:
        spec = tagger_spec(description.system)
        settings = cast(TaggerSettings, spec.settings.model_validate(description.model))
        scheme = spec.scheme(description.labels)
    except (InputError, ValidationError, ValueError) as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    tagger, tokenizer, padding_id = load_network(
        folder,
        description,
        lambda encoder: build_tagger(encoder, settings, scheme, spec.name),
        settings.leading_words,
    )
    return Model(
        tagger,
        scheme,
        tokenizer,
        padding_id,
        settings,
        temperature=description.temperature,
        system=spec.name,
    )
