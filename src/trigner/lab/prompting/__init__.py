"""Large language models, prompted for entities and scored like any other system. No torch."""

from trigner.lab.prompting.alignment import Repair
from trigner.lab.prompting.cache import CompletionCache, CompletionRequest
from trigner.lab.prompting.client import RetryPolicy
from trigner.lab.prompting.completions import RequestSummary
from trigner.lab.prompting.endpoint import Endpoint, check_licence, check_reachable, endpoint
from trigner.lab.prompting.entity_types import EntityType, entity_types_of
from trigner.lab.prompting.estimate import TOKEN_RULE, Estimate, Prices, estimate
from trigner.lab.prompting.experiment import (
    DEFAULT_PARAMETERS,
    Task,
    VariantResult,
    build_requests,
    prepare_task,
    run_variant,
)
from trigner.lab.prompting.failures import FailureCounts, SentenceResult
from trigner.lab.prompting.prompts import VARIANTS, Variant
from trigner.lab.prompting.reports import failures_table, scores_table
from trigner.lab.prompting.sampling import STRATA, stratum
from trigner.lab.prompting.sentences import (
    SENTENCES,
    SentencePrediction,
    read_sentences,
    words_sha256,
    write_sentences,
)

__all__ = [
    "DEFAULT_PARAMETERS",
    "SENTENCES",
    "STRATA",
    "TOKEN_RULE",
    "VARIANTS",
    "CompletionCache",
    "CompletionRequest",
    "Endpoint",
    "EntityType",
    "Estimate",
    "FailureCounts",
    "Prices",
    "Repair",
    "RequestSummary",
    "RetryPolicy",
    "SentencePrediction",
    "SentenceResult",
    "Task",
    "Variant",
    "VariantResult",
    "build_requests",
    "check_licence",
    "check_reachable",
    "endpoint",
    "entity_types_of",
    "estimate",
    "failures_table",
    "prepare_task",
    "read_sentences",
    "run_variant",
    "scores_table",
    "stratum",
    "words_sha256",
    "write_sentences",
]
