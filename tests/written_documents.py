"""Documents as odd as can be, and a check that what a format writes of them it reads."""

from __future__ import annotations

import re
import string
from collections import Counter

from hypothesis import reject
from hypothesis import strategies as st

from random_documents import CHARACTERS, FIELDS, TEXTS, entities
from trigner.corpora import read, write
from trigner.corpora.formats import FORMATS
from trigner.corpora.words import document_of
from trigner.errors import InputError
from trigner.mentions import Document, Extra, Mention

OF_WORDS = {"grid", "inline", "gliner", "conll", "hf-tokens"}

ODD = st.sampled_from(
    [
        *("\n", "\r", "\r\n", "\t", "\x00", "\x0b", "\x0c", "\x1b[31m", "\x1c", "\x1d", "\x1e"),
        *("\x1f", "\x7f", "\x85", "\u200b", "\u2028", "\u2029", "\ufeff", "\ufffe", "\\", "\\n"),
        *("|", ";", ",", '"', "'", "T1\tX 0 1\ta", "#1\t", "* ", "{}", "[]", "0,0 X", "null"),
        *("B-X", "O", "-DOCSTART-", "&", "<a>", "]]>", "\U0001f635", "e\u0301", "\ufb01", "\u0661"),
    ]
)
ODD_TEXTS = st.lists(TEXTS | ODD, min_size=1, max_size=4).map("".join)
LABELS = st.lists(CHARACTERS | ODD, min_size=1, max_size=3).map("".join)
NOTES = st.lists(CHARACTERS | ODD, max_size=4).map("".join) | st.sampled_from(
    [
        *("junk", "[1]", "{}", '{"sentence": ["x"], "ner": [{"index": [0], "type": "X"}]}'),
        *('{"entities": [{"id": "x"}]}', '{"rest of entities": {"T1": {"offsets": [[0, 1]]}}}'),
        *('{"rest of entities": {"T1": 3}}', '{"passages": [], "document_id": "y"}'),
        *("T9\tX 0 1\ta", "#1\tn T1\tx\nT9\tX 0 1\ta", "A1\tneg T1", "R1\tr Arg1:T1 Arg2:T2"),
        *('#1\tFields *\t{"spans": [[0, 1, "X"]]}', '#1\tFields T1\t{"a": 1}', "*\tEquiv T1 T2"),
        *('{"spans": [{"start": 0, "end": 1, "label": "X"}]}', '{"tokens": 3, "relations": []}'),
        *('{"label": [[0, 1, "X"]]}', '{"tokenized_text": [], "ner": [[0, 0, "X"]]}'),
        *('{"x": 1, "x": 2}', '#1\tFields *\t{"x": 1, "x": 2}', '#1\tFields T1\t{"x": 1, "x": 2}'),
    ]
)
IDS = st.lists(CHARACTERS | ODD, min_size=1, max_size=3).map("".join) | st.sampled_from(
    ["a/b", "../a", "/", ".", ".a", "a.ann", "x" * 300, "CON", "a b"]
)
PLAIN = st.text(string.ascii_letters, min_size=1, max_size=3)


@st.composite
def odd_documents(draw):
    """Documents whose texts, labels, ids, notes and fields are what formats stumble over.

    Not all of ids, labels and words are odd at once: most formats refuse some of them.
    """
    ids = draw(st.sampled_from([IDS, PLAIN]))
    labels = draw(st.sampled_from([LABELS, PLAIN]))
    word = draw(st.sampled_from([CHARACTERS | ODD | st.just(""), PLAIN]))
    made = []
    for name in draw(st.lists(ids, min_size=1, max_size=2, unique=True)):
        formats = st.sampled_from([*FORMATS, "other"])
        extras = tuple(Extra(draw(formats), note) for note in draw(st.lists(NOTES, max_size=2)))
        if draw(st.booleans()):
            words = draw(st.lists(word, min_size=1, max_size=5))
            indices = [n for n, own in enumerate(words) if own]
            chosen = st.sets(st.sampled_from(indices), min_size=1) if indices else None
            count = draw(st.integers(0, 3)) if chosen is not None else 0
            mentions = [Mention(tuple(sorted(draw(chosen))), draw(labels)) for _ in range(count)]
            document = document_of(name, words, mentions)
            own = document.entities
        else:
            text = draw(ODD_TEXTS)
            own = draw(entities(text, scored=True, fields=True, labels=labels))
            document = Document(name, text)
        made.append(Document(name, document.text, own, document.words, extras, fields=draw(FIELDS)))
    return made


def keys(documents, format):
    """Label and characters of all entities, as this format holds them."""
    if format in OF_WORDS:  # the words of a text, without what is between them
        return Counter((e.label, "".join(e.text.split())) for d in documents for e in d.entities)
    found = Counter()
    for document in documents:
        # Not every format keeps words, between which white space counts.
        raw = Document(document.id, document.text, document.entities)
        for label, fragments in map(raw.key, document.entities):
            own = re.sub(r"\s+", "_", label) if format == "brat" else label
            found[document.id, own, fragments] += 1
    return found


def check_written(made, path, format):
    """Write documents and read them: the same entities come back, less those that are told.

    Raises InputError where writing refuses them, AssertionError where others come back.
    """
    report = write(made, path, format=format)
    documents = read_back(path, format, made).documents
    if format not in OF_WORDS:
        assert len(documents) == len(made)
        assert {d.id: d.text for d in documents} == {d.id: d.text for d in made}
    before, after = keys(made, format), keys(documents, format)
    assert after <= before
    assert after.total() == before.total() - lost(report)


def read_back(path, format, made):
    """The corpus, without anything that the reader left out or refused."""
    try:
        corpus = read(path, format=format)
    except InputError as error:
        # A list or table of nothing is an empty file, which readers tell.
        if str(error).endswith(("is empty", "contains no documents")) and nothing_in(path):
            reject()
        raise AssertionError(f"its own reader refuses it: {error}") from error
    assert not corpus.left_out
    assert not any(notice.file_left_out for notice in corpus.notices)
    return corpus


def nothing_in(path):
    return not path.read_text("utf-8").strip()


def lost(report):
    return sum(
        n
        for kind, n in report.dropped.items()
        if kind.startswith(("entities", "discont", "overlapping"))
    )
