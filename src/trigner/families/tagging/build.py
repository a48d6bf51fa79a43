"""From settings and a scheme to a network; the only place of this room that sees settings."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import cast

from torch import nn
from transformers import PreTrainedModel

from trigner.encoders import Encoder
from trigner.errors import InputError
from trigner.families.core import word_parts
from trigner.families.tagging.co_predictor import CoPredictor, TrignerCoPredictor, W2nerCoPredictor
from trigner.families.tagging.grid_tagger import GridTagger
from trigner.families.tagging.mac_tagger import LinkTagger, MacTagger, SegmentTagger
from trigner.families.tagging.network_settings import (
    GridSettings,
    MacSettings,
    SequenceSettings,
    TaggerSettings,
    ToeSettings,
)
from trigner.families.tagging.pair_features import PairFeatures
from trigner.families.tagging.sequence_tagger import ArcWeights, SequenceTagger
from trigner.families.tagging.tag_enhancement import TagEnhancement
from trigner.families.tagging.tagger import Tagger
from trigner.families.tagging.taggers import tagger_spec
from trigner.families.tagging.toe_tagger import ToeTagger
from trigner.networks import BiLstm, Dropout, WordByWord, WordPooling
from trigner.schemes import Scheme, SequenceScheme


def build_tagger(
    model: PreTrainedModel, settings: TaggerSettings, scheme: Scheme, system: str | None = None
) -> Tagger:
    """The tagger of a system around an encoder, its other weights freshly drawn.

    `system` is the name of its row, by default the scheme's.
    """
    encoder = Encoder(model, layers=settings.encoder_layers)
    network = resolve_name(tagger_spec(system or scheme.name).network)
    return cast(Tagger, network(encoder, settings, scheme))


def grid_tagger(encoder: Encoder, settings: GridSettings, scheme: Scheme) -> GridTagger:
    """W2NER's network, or with TriG-NER's co-predictor its own."""
    features = _pair_features(settings)
    return GridTagger(
        **word_parts(encoder, settings),
        features=features,
        co_predictor=_co_predictor(settings, features.out_channels, len(scheme.tags)),
    )


def toe_tagger(encoder: Encoder, settings: ToeSettings, scheme: Scheme) -> ToeTagger:
    """TOE's network."""
    features = _pair_features(settings)
    main, auxiliary = (group.stop - group.start for group in scheme.groups)
    return ToeTagger(
        **word_parts(encoder, settings),
        enhancement=TagEnhancement(
            features=features,
            size=settings.lstm_size,
            tags=main + auxiliary,
            table_size=settings.toe.table_size,
            rounds=settings.toe.rounds,
            heads=settings.toe.heads,
            feed_forward=settings.toe.feed_forward,
            dropout=settings.toe.dropout,
            mask_padding=settings.toe.mask_padding,
        ),
        main=_co_predictor(settings, features.out_channels, main),
        auxiliary=_co_predictor(settings, features.out_channels, auxiliary),
        main_tags=main,
        auxiliary_tags=auxiliary,
        feature_size=features.out_channels,
    )


def _pair_features(settings: GridSettings) -> PairFeatures:
    return PairFeatures(
        size=settings.lstm_size,
        distance_size=settings.distance_size,
        region_size=settings.region_size,
        channels=settings.channels,
        dilations=settings.dilations,
        dropout=settings.feature_dropout,
        normalised=settings.normalised,
        chained=settings.chained,
        mask_between=settings.mask_between,
    )


def _co_predictor(settings: GridSettings, feature_size: int, classes: int) -> CoPredictor:
    if settings.co_predictor == "w2ner":
        return W2nerCoPredictor(
            word_size=settings.lstm_size,
            feature_size=feature_size,
            classes=classes,
            biaffine_size=settings.biaffine_size,
            grid_size=settings.grid_size,
            dropout=settings.output_dropout,
        )
    return TrignerCoPredictor(
        word_size=settings.lstm_size,
        feature_size=feature_size,
        classes=classes,
        pair_map_kind=settings.pair_map,
        pair_size=settings.pair_size,
        grid_size=settings.grid_size,
        dropout=settings.output_dropout,
    )


def sequence_tagger(encoder: Encoder, settings: SequenceSettings, scheme: Scheme) -> SequenceTagger:
    """A network that scores single words."""
    grammar = cast(SequenceScheme, scheme).grammar
    transitions = None
    if settings.sequence.transitions:
        if grammar.opening:
            raise InputError(
                f"the system {scheme.name} scores single words:"
                " model.sequence.transitions must be false"
            )
        transitions = ArcWeights(grammar.automaton.arc_tags.tolist())
    layer, size = _word_layer(settings, encoder.size)
    return SequenceTagger(
        encoder=encoder,
        pooling=WordPooling(empty_word=settings.empty_word),
        layer=layer,
        layer_size=size,
        tags=len(scheme.tags),
        transitions=transitions,
    )


def _word_layer(settings: SequenceSettings, input_size: int) -> tuple[nn.Module, int]:
    """What reads the word vectors of a sequence tagger, and its size."""
    dropout, hidden = settings.embedding_dropout, settings.sequence.hidden_size
    if settings.sequence.layer == "bilstm":
        size = settings.lstm_size
        return BiLstm(input_size=input_size, size=size, dropout=dropout), size
    if settings.sequence.layer == "none":
        return WordByWord(Dropout(dropout)), input_size
    linear = nn.Linear(input_size, hidden)
    return WordByWord(Dropout(dropout), linear, nn.GELU(), Dropout(settings.output_dropout)), hidden


def mac_tagger(encoder: Encoder, settings: MacSettings, scheme: Scheme) -> MacTagger:
    """MAC's two taggers, of segments and of their links."""
    mac = settings.mac
    of_segments, of_links = (group.stop - group.start for group in scheme.groups)
    return MacTagger(
        **word_parts(encoder, settings, recurrent=mac.recurrent),
        word_size=settings.lstm_size if mac.recurrent else encoder.size,
        size=mac.size,
        segments=SegmentTagger(
            size=mac.size,
            span_size=mac.span_size,
            reach=mac.span_reach,
            length_size=mac.length_size,
            classes=of_segments,
            squared_norm=mac.squared_norm,
        ),
        links=LinkTagger(size=mac.size, classes=of_links, squared_norm=mac.squared_norm),
    )
