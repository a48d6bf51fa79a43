"""Large language models, prompted for entities and scored like any other system. No torch."""

from trigner.prompting.alignment import REPAIRS, Repair, align
from trigner.prompting.cache import CompletionCache, CompletionRequest
from trigner.prompting.client import Client, Completion, CompletionError, FatalError, RetryPolicy
from trigner.prompting.completions import RequestSummary, complete_all
from trigner.prompting.endpoint import Endpoint, check_licence, check_reachable, endpoint
from trigner.prompting.entity_types import ENTITY_TYPES, EntityType, entity_types_of
from trigner.prompting.estimate import TOKEN_RULE, Estimate, Prices, estimate
from trigner.prompting.experiment import (
    DEFAULT_PARAMETERS,
    Task,
    VariantResult,
    build_requests,
    prepare_task,
    run_variant,
    score_variant,
)
from trigner.prompting.failures import FAILURE_KINDS, FailureCounts, SentenceResult, count_failures
from trigner.prompting.few_shot import few_shot_examples
from trigner.prompting.parsing import Item, ParsedAnswer, parse
from trigner.prompting.prompts import VARIANTS, Variant, build_prompt, response_format
from trigner.prompting.reports import failures_table, scores_table
from trigner.prompting.sampling import STRATA, sample, stratum
from trigner.prompting.sentences import (
    SENTENCES,
    SentencePrediction,
    read_sentences,
    words_sha256,
    write_sentences,
)

__all__ = [
    "DEFAULT_PARAMETERS",
    "ENTITY_TYPES",
    "FAILURE_KINDS",
    "REPAIRS",
    "SENTENCES",
    "STRATA",
    "TOKEN_RULE",
    "VARIANTS",
    "Client",
    "Completion",
    "CompletionCache",
    "CompletionError",
    "CompletionRequest",
    "Endpoint",
    "EntityType",
    "Estimate",
    "FailureCounts",
    "FatalError",
    "Item",
    "ParsedAnswer",
    "Prices",
    "Repair",
    "RequestSummary",
    "RetryPolicy",
    "SentencePrediction",
    "SentenceResult",
    "Task",
    "Variant",
    "VariantResult",
    "align",
    "build_prompt",
    "build_requests",
    "check_licence",
    "check_reachable",
    "complete_all",
    "count_failures",
    "endpoint",
    "entity_types_of",
    "estimate",
    "failures_table",
    "few_shot_examples",
    "parse",
    "prepare_task",
    "read_sentences",
    "response_format",
    "run_variant",
    "sample",
    "score_variant",
    "scores_table",
    "stratum",
    "words_sha256",
    "write_sentences",
]
