"""From settings to a network, and the types' vectors from their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import PreTrainedModel

from trigner.batches import EncoderInputs, SubwordTokenizer
from trigner.encoders import Encoder, end_of, start_of
from trigner.errors import InputError
from trigner.families.seq2seq.automaton import END, FIRST_TYPE, START
from trigner.families.seq2seq.decoders import Decoder, EncoderHalf, FreshDecoder, PretrainedDecoder
from trigner.families.seq2seq.network import Seq2SeqNetwork
from trigner.families.seq2seq.settings import Seq2SeqSettings
from trigner.networks import BiLstm, Dropout, WordByWord


def build_network(model: PreTrainedModel, types: int, settings: Seq2SeqSettings) -> Seq2SeqNetwork:
    """The network around an encoder-decoder, or around an encoder with a fresh decoder.

    Raises InputError when the sizes do not go together.
    """
    own = bool(getattr(model.config, "is_encoder_decoder", False))
    encoder: Encoder
    decoder: Decoder
    recurrent: BiLstm | WordByWord = WordByWord(Dropout(settings.embedding_dropout))
    if own:
        encoder = EncoderHalf(model)
        decoder = PretrainedDecoder(encoder)
        recurrent = WordByWord()
    else:
        encoder = Encoder(model, layers=settings.encoder_layers)
        if settings.recurrent:
            recurrent = BiLstm(
                input_size=encoder.size,
                size=settings.lstm_size,
                dropout=settings.embedding_dropout,
            )
        decoder = _fresh(encoder, settings)
    return Seq2SeqNetwork(
        encoder=encoder,
        recurrent=recurrent,
        decoder=decoder,
        types=types,
        encoder_mlp=settings.encoder_mlp,
        state_share=settings.state_share,
        dropout=settings.output_dropout,
        tied_inputs=not own,
    )


def _fresh(encoder: Encoder, settings: Seq2SeqSettings) -> FreshDecoder:
    size = settings.lstm_size if settings.recurrent else encoder.size
    if size % settings.decoder_heads:
        raise InputError(
            f"model.decoder_heads must divide the encoder's size: {size} / {settings.decoder_heads}"
        )
    most = settings.length_base + int(settings.length_ratio * encoder.max_subwords)
    return FreshDecoder(
        size=size,
        layers=settings.decoder_layers,
        heads=settings.decoder_heads,
        feed_forward=settings.decoder_feed_forward,
        dropout=settings.decoder_dropout,
        positions=most,
    )


def inputs_of(
    network: Seq2SeqNetwork, tokenizer: Tokenizer, padding_id: int, settings: Seq2SeqSettings
) -> EncoderInputs:
    """How sentences become what the network reads.

    What the decoder's positions could not write about is read through windows. Raises InputError
    when they are too few for any sentence.
    """
    subwords = SubwordTokenizer(tokenizer)
    most = network.encoder.max_subwords
    positions = network.decoder.positions
    if positions is not None:
        left = positions - settings.length_base
        if settings.length_ratio:
            most = min(most, int(left / settings.length_ratio))
        if left < 0 or most <= subwords.overhead:
            raise InputError(
                f"the decoder has {positions} positions, which leaves none for a sentence:"
                f" model.length_base takes {settings.length_base}, and each subword, special ones"
                f" too, {settings.length_ratio:g} (model.length_ratio)"
            )
    return EncoderInputs(subwords, padding_id, most)


def initialise_types(network: Seq2SeqNetwork, tokenizer: Tokenizer, labels: Sequence[str]) -> None:
    """Start each type's vector at the mean embedding of its name's subwords (paper, section 4.3).

    Start and end get the encoder-decoder's own. No row of the embedding table is changed.
    """
    table = cast(nn.Embedding, network.encoder.model.get_input_embeddings()).weight
    known: dict[int, list[int | None]] = {}
    if not network.tied_inputs:
        known[START] = [start_of(network.encoder.model)]
        known[END] = [end_of(network.encoder.model.config)]
    for number, label in enumerate(labels):
        name = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", label) or [label]
        words = [word if word.isupper() else word.lower() for word in name]
        encoding = tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        known[FIRST_TYPE + number] = list(encoding.ids)
    with torch.no_grad():
        for row, ids in known.items():
            if rows := [id for id in ids if id is not None]:
                network.special[row] = network.project(table[rows].mean(dim=0))
