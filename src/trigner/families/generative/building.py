"""Language models by name, and how sentences become what they read."""

from __future__ import annotations

from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from trigner.batches import EncoderInputs, SubwordTokenizer
from trigner.encoders import (
    check_encoder,
    encoder_source,
    load_checkpoint,
    named,
    quiet,
    refuse_unknown_subwords,
    refuse_unlike,
    refuse_weights,
    start_of,
    tokenizer_for_words,
)
from trigner.errors import InputError
from trigner.families.core import evaluating
from trigner.families.generative.network import GenerativeNetwork
from trigner.families.generative.settings import GenerativeSettings
from trigner.families.generative.spelling import Speller, blank_before_words
from trigner.families.generative.texts import Texts
from trigner.families.generative.writing import Writing

UNLIMITED = 1_000_000
"""Subwords of a sentence for a language model without positions; above any sentence."""


def load_language_model(name: str) -> tuple[PreTrainedModel, Tokenizer, int]:
    """A language model, its tokenizer, and the subword that ends its texts.

    Raises InputError when it cannot be had, does not write, or its tokenizer is not there or does
    not fit.
    """
    with quiet():
        with named(name):
            check_encoder(name, language_model=True)
            config = AutoConfig.from_pretrained(encoder_source(name), trust_remote_code=False)
        kind = kind_of(config, repr(name))
        tokenizer = tokenizer_for_words(name)
        model, missing = load_checkpoint(name, kind)
        refuse_weights(name, "lacks", missing)
    subwords, end = tokenizer.backend_tokenizer, tokenizer.eos_token_id
    if end is None:
        raise InputError(f"the tokenizer of {name!r} has no subword that ends a text (eos_token)")
    refuse_unknown_subwords(name, subwords, model)
    if model.config.is_encoder_decoder:
        # Kept in the model folder's configuration: a loaded model has to start as it was trained.
        model.config.decoder_start_token_id = _start_of(model, name)
    return model, subwords, int(end)


def _start_of(model: PreTrainedModel, name: str) -> int:
    """The subword that a decoder's texts start with. Raises InputError when none is known."""
    start = start_of(model)
    if start is None:
        raise InputError(
            f"the language model {name!r} does not say what its texts start with: its configuration"
            " has no decoder_start_token_id, bos_token_id or eos_token_id"
        )
    return start


def kind_of(config: Any, name: str = "the model") -> Any:
    """The class of `transformers` for a language model. Raises InputError for an encoder."""
    if config.is_encoder_decoder:
        return AutoModelForSeq2SeqLM
    if config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise InputError(
            f"{name} is an encoder and writes no text: name a causal or encoder-decoder language"
            " model with --encoder"
        )
    return AutoModelForCausalLM


def texts_of(
    network: GenerativeNetwork,
    tokenizer: Tokenizer,
    labels: tuple[str, ...],
    end: int,
    settings: GenerativeSettings,
) -> Texts:
    """How mentions are written for a network."""
    room = None if network.positions is None else network.positions - network.vectors
    speller = Speller(tokenizer, labels, end, end_of_prompt=network.encoder_decoder)
    return Texts(speller, settings, room, shared_room=not network.encoder_decoder)


def inputs_of(texts: Texts) -> EncoderInputs:
    """How sentences become examples: what prompts have no room for goes through windows.

    Raises InputError when there is no room for any word.
    """
    speller, room = texts.speller, texts.room
    tokenizer = SubwordTokenizer(speller.tokenizer, blank=blank_before_words(speller.tokenizer))
    if room is None:
        return EncoderInputs(tokenizer, speller.end, UNLIMITED)
    least = texts.settings.length_base if texts.shared_room else 0
    # Each subword may be a word that comes again, and has a number.
    most = (room - speller.overhead - least) // (1 + speller.number_size)
    if most < 1:
        settings = texts.settings
        vectors = settings.prompt_size if settings.tuning == "prompt" else 0
        tuned = f"model.prompt_size takes {vectors}, " if vectors else ""
        raise InputError(
            f"the context length {room + vectors} is too small: {tuned}the prompt needs"
            f" {speller.overhead} and the output up to {least} subwords, which leaves none for the"
            " sentence"
        )
    return EncoderInputs(tokenizer, speller.end, most + tokenizer.overhead)


def try_writing(network: GenerativeNetwork, writing: Writing, beam_size: int, name: str) -> None:
    """Write a few subwords, as dev evaluations do, and score them, as training does.

    Raises whatever the language model `name` raises, and InputError when it reads embeddings
    otherwise than their ids.
    """
    prompts = [writing.spelling.prompt]
    with evaluating(network):
        written = network.write(prompts, [writing], [2], beam_size=beam_size, length_penalty=1.0)
        network.scores(prompts, [own.ids for own in written])
        model: Any = network.language_model
        reader = model.get_encoder() if network.encoder_decoder else model
        ids = torch.tensor(prompts)
        wanted, found = (
            reader(attention_mask=torch.ones_like(ids), **given)[0]
            for given in ({"input_ids": ids}, {"inputs_embeds": network.embed(ids)})
        )
    refuse_unlike(name, found, wanted)
