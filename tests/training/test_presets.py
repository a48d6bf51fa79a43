"""The released configurations, as the specification lists them (section 8)."""

from __future__ import annotations

import pytest

from tiny_models import TAG_SCHEMES
from trigner.encoders.names import ENCODERS
from trigner.training.settings import resolve


@pytest.mark.parametrize(
    ("preset", "encoder", "batch", "window", "selection", "source", "unique", "margin"),
    [
        ("paper-cadec", "biobert", 12, 25, "centroid", "logits", True, 1.0),
        ("paper-cadec-disc", "biobert", 12, 20, "centroid", "logits", False, 1.0),
        ("paper-share13", "pubmedbert", 6, 10, "centroid", "logits", True, 1.0),
        ("paper-share13-disc", "pubmedbert", 6, 10, "centroid", "logits", True, 1.0),
        ("paper-share14", "pubmedbert", 6, 5, "negative-centroid", "pair_states", True, 1.0),
        ("paper-share14-disc", "pubmedbert", 6, 5, "negative-centroid", "pair_states", True, 0.1),
    ],
)
def test_released_set_ups(preset, encoder, batch, window, selection, source, unique, margin):
    settings = resolve(preset=preset)
    assert settings.encoder == encoder
    assert encoder in ENCODERS
    assert settings.optimisation.batch_size == batch
    triplets = settings.triplets
    assert (triplets.window, triplets.selection, triplets.source) == (window, selection, source)
    assert (triplets.unique_pairs, triplets.margin, triplets.weight) == (unique, margin, 1.0)
    assert triplets.per_entity


def test_what_all_papers_share():
    settings = resolve(preset="paper")
    optimisation = settings.optimisation
    assert (optimisation.epochs, optimisation.patience) == (60, 10)
    assert (optimisation.learning_rate, optimisation.encoder_lr) == (5e-4, 5e-6)
    assert (optimisation.warmup, optimisation.weight_decay, optimisation.max_grad_norm) == (
        0,
        0,
        5.0,
    )
    assert (optimisation.epsilon, optimisation.epsilon_to) == (1e-6, "uncorrected")
    assert optimisation.cell_budget is None
    assert settings.model.pair_map == "full"
    assert not settings.model.mask_between
    assert settings.triplets.unique_masks == "both"
    assert settings.triplets.window_from == "anchor"
    assert settings.triplets.special_positive == "row_or_column"


def test_toes_released_set_up():
    """For CADEC; the specification lists it in section 7."""
    settings = resolve(preset="paper-toe")
    assert (settings.system, settings.encoder, settings.seed) == ("toe", "biobert", 1898)
    model = settings.model
    assert (model.lstm_size, model.biaffine_size) == (516, 516)
    assert (model.channels, model.dilations, model.chained) == (80, (1, 2), False)
    assert (model.grid_size, model.distance_size, model.region_size) == (120, 20, 20)
    assert (model.embedding_dropout, model.feature_dropout) == (0.5, 0.5)
    assert (model.output_dropout, model.encoder_layers) == (0.33, 4)
    assert (model.co_predictor, model.leading_words) == ("w2ner", ())
    assert (model.mask_between, model.empty_word) == (False, "batch_minimum")
    toe = model.toe
    assert (toe.rounds, toe.table_size, toe.heads, toe.feed_forward) == (3, 49, 12, 3072)
    assert (toe.dropout, toe.mask_padding) == (0.1, False)
    assert (settings.task.multi_label, settings.task.first_group) == ("zero_threshold", 0.5)
    assert settings.task.negative_rate == 1
    optimisation = settings.optimisation
    assert (optimisation.epochs, optimisation.batch_size) == (10, 16)
    assert (optimisation.cell_budget, optimisation.patience) == (None, None)
    assert (optimisation.learning_rate, optimisation.encoder_lr) == (1e-3, 5e-6)
    assert (optimisation.weight_decay, optimisation.warmup, optimisation.max_grad_norm) == (
        0,
        0,
        5.0,
    )
    assert optimisation.epsilon == 1e-8
    assert settings.triplets.weight == 0


def test_toe_is_clean_with_its_own_convolutions():
    settings = resolve(preset="clean", options={"system": "toe"})
    assert settings.model.co_predictor == "trigner"
    assert (settings.model.dilations, settings.model.chained) == ((1, 2), False)
    assert settings.model.toe.mask_padding
    assert settings.triplets == resolve(preset="clean").triplets
    assert settings.optimisation == resolve(preset="clean").optimisation


def test_the_baseline_has_neither_special_words_nor_triplets():
    settings = resolve(preset="w2ner")
    assert settings.model.leading_words == ()
    assert settings.triplets.weight == 0
    assert settings.model.co_predictor == "w2ner"


def test_clean_weighs_triplets_less_than_the_paper():
    assert resolve(preset="clean").triplets.weight == 0.001
    assert resolve(preset="paper").triplets.weight == 1.0


@pytest.mark.parametrize("system", TAG_SCHEMES)
def test_the_default_preset_suits_every_tag_scheme(system):
    settings = resolve(options={"system": system})
    assert settings.preset == "best"
    assert settings.sampling.coordination == 0.5
    assert settings.optimisation.beta2 == 0.98
    assert getattr(settings.optimisation, "bias_init", True)
    assert settings.triplets is None or settings.triplets.weight == 0


@pytest.mark.parametrize("scheme", ["corro", "biohd", "biohd1234", "bio"])
def test_sequence_schemes_need_neither_special_words_nor_triplets(scheme, refused):
    settings = resolve(options={"system": scheme})
    assert settings.model.leading_words == ()
    assert settings.triplets is None
    with refused():
        resolve(options={"system": scheme}, assignments=["triplets.weight=0.1"])
    assert resolve(options={"system": scheme}, preset="paper").triplets is None


@pytest.mark.parametrize("options", [{}, {"system": "mac_minimal"}])
def test_the_released_setting_of_mac(options):
    settings = resolve(preset="paper-mac", options=options)
    assert settings.system == options.get("system", "mac")
    assert settings.encoder in ENCODERS
    assert settings.model.leading_words == ()
    assert settings.triplets.weight == 0
    mac = settings.model.mac
    assert (mac.size, mac.span_size, mac.length_size) == (768, 768, 64)
    assert (mac.recurrent, mac.span_reach, mac.squared_norm) == (False, None, True)
    task = settings.task
    assert (task.multi_label, task.negative_rate, task.first_group) == ("binary", 0.5, 0.5)
    optimisation = settings.optimisation
    assert (optimisation.epochs, optimisation.batch_size) == (300, 12)
    assert optimisation.encoder_lr == optimisation.learning_rate == 1e-5


@pytest.mark.parametrize("scheme", ["mac", "mac_minimal"])
def test_mac_has_triplets_of_both_sources(scheme):
    for source in ("logits", "grid"):
        settings = resolve(
            preset="clean",
            options={"system": scheme},
            assignments=[f"triplets.source={source}"],
        )
        assert settings.triplets.weight == 0.001
        assert not settings.model.mac.squared_norm
        assert settings.model.embedding_dropout == 0.2
