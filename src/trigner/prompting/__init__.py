"""Large language models as one more system, under the same scores. No torch."""

from trigner.prompting.alignment import REPAIRS, Repair, align
from trigner.prompting.answers import Answers, Question, Recorded
from trigner.prompting.asking import Asked, ask
from trigner.prompting.client import Client, HopelessError, NoAnswerError, Patience, Reply
from trigner.prompting.endpoint import Endpoint, check_licence, endpoint
from trigner.prompting.estimate import BASIS, Estimate, Prices, estimate
from trigner.prompting.examples import chooser
from trigner.prompting.failures import KINDS, Failures, Judged, count_failures
from trigner.prompting.parsing import Answer, Item, parse
from trigner.prompting.prompts import VARIANTS, Variant, prompt, response_format
from trigner.prompting.reports import failures_table, scores_table
from trigner.prompting.running import PARAMETERS, Outcome, Task, judge, prepare, questions, run
from trigner.prompting.sampling import STRATA, sample, stratum
from trigner.prompting.sentences import (
    SENTENCES,
    Predicted,
    read_sentences,
    words_sha256,
    write_sentences,
)
from trigner.prompting.subjects import SUBJECTS, Subject, subjects_of

__all__ = [
    "BASIS",
    "KINDS",
    "PARAMETERS",
    "REPAIRS",
    "SENTENCES",
    "STRATA",
    "SUBJECTS",
    "VARIANTS",
    "Answer",
    "Answers",
    "Asked",
    "Client",
    "Endpoint",
    "Estimate",
    "Failures",
    "HopelessError",
    "Item",
    "Judged",
    "NoAnswerError",
    "Outcome",
    "Patience",
    "Predicted",
    "Prices",
    "Question",
    "Recorded",
    "Repair",
    "Reply",
    "Subject",
    "Task",
    "Variant",
    "align",
    "ask",
    "check_licence",
    "chooser",
    "count_failures",
    "endpoint",
    "estimate",
    "failures_table",
    "judge",
    "parse",
    "prepare",
    "prompt",
    "questions",
    "read_sentences",
    "response_format",
    "run",
    "sample",
    "scores_table",
    "stratum",
    "subjects_of",
    "words_sha256",
    "write_sentences",
]
