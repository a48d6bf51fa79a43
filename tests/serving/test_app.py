from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tiny_models import extractor
from trigner.mentions import SCORE_DIGITS
from trigner.models.folder import read_description
from trigner.serving.messages import SENTENCE

TEXTS = [
    "my left leg hurt, no pain in arm, numb after the tablet. No pain.",
    "",
    " \t\n",
    "left \x00 leg \x07 e\u0301 hurt, numb\u200b arm",
    "😀😀 my 👩‍⚕️ left leg hurt 🇬🇧, numb.",
    "كان الألم في leg hurt numb, \u202eabc\u202c",
    "my leg\r\nhurt and numb.\r\n\r\nNo pain\rin arm",
    "<script>alert(1)</script> leg hurt",
    "\ufeffmy leg hurt",
]


def plain(document):
    return [
        {"label": e.label, "text": e.text, "fragments": [list(f) for f in e.fragments]}
        for e in document.entities
    ]


def without_scores(answer):
    return [{k: v for k, v in e.items() if k != "score"} for e in answer["entities"]]


def test_responses_are_those_of_the_extractor(serve, extract):
    client = serve()
    answer = client.post("/v1/extract", json={"texts": TEXTS})
    assert answer.status_code == 200
    documents = answer.json()["documents"]
    expected = list(extract.stream(TEXTS))
    assert [without_scores(document) for document in documents] == [plain(d) for d in expected]
    assert sum(len(d["entities"]) for d in documents) > 5
    for text, document, own in zip(TEXTS, documents, expected, strict=True):
        alone = client.post("/v1/extract", json={"text": text}).json()
        assert without_scores(alone) == without_scores(document)
        for found, entity in zip(document["entities"], own.entities, strict=True):
            assert found["score"] == pytest.approx(entity.score, abs=1e-4)
            # Offsets index what was sent.
            assert found["text"] == " ".join(text[a:b] for a, b in found["fragments"])
    assert documents[1] == {"entities": [], "notices": []}


def test_thresholds(serve, extract):
    client = serve(replace(extract, threshold=1.0))
    everything = client.post("/v1/extract", json={"text": TEXTS[0], "threshold": 0}).json()
    scores = sorted(entity["score"] for entity in everything["entities"])
    some = client.post("/v1/extract", json={"text": TEXTS[0], "threshold": scores[1]}).json()
    assert len(some["entities"]) == len(scores) - 1
    assert client.post("/v1/extract", json={"text": TEXTS[0]}).json()["entities"] == []
    assert client.get("/v1/model").json()["threshold"] == 1.0


def test_thresholds_by_label(serve, extract):
    client = serve(replace(extract, threshold=0.0, thresholds={"Drug": 1.0}))
    assert client.get("/v1/model").json()["thresholds"] == {"Drug": 1.0}

    def found(threshold):
        answer = client.post("/v1/extract", json={"text": TEXTS[0], "threshold": threshold})
        assert answer.status_code == 200
        return {(e["label"], e["score"]) for e in answer.json()["entities"]}

    everything = found(0)
    scores = sorted(score for label, score in everything if label == "ADR")
    assert scores
    assert {label for label, _ in everything} == {"ADR", "Drug"}
    assert found({}) == {(k, v) for k, v in everything if k == "ADR"}  # the service's own
    assert found({"Drug": 0}) == everything
    some = {(k, v) for k, v in everything if k == "ADR" and v >= scores[1]}
    assert found({"ADR": scores[1]}) == some
    assert len(some) < len(found({}))


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (1.1, "threshold: Input should be less than or equal to 1"),
        (-0.1, "threshold: Input should be greater than or equal to 0"),
        ("0.5", "threshold: Input should be a valid number"),
        (True, "threshold: Input should be a valid number"),
        ([0.5], "threshold: Input should be a valid number"),
        ({"ADR": 2}, "threshold.ADR: Input should be less than or equal to 1"),
        ({"ADR": None}, "threshold.ADR: Input should be a valid number"),
        ({"Adr": 0.5}, "threshold of Adr: no such type; the model has ADR, Drug"),
    ],
)
def test_thresholds_that_make_no_sense(serve, threshold, message):
    answer = serve().post("/v1/extract", json={"text": "leg hurt", "threshold": threshold})
    assert (answer.status_code, answer.json()["detail"]) == (422, message)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_thresholds_that_are_no_numbers(serve, number):
    content = f'{{"text": "leg hurt", "threshold": {number}}}'
    assert serve().post("/v1/extract", content=content).status_code in (400, 422)


def test_work_is_bounded_before_it_starts(serve, gated, gate):
    client = serve(gated, max_words=240, max_cells=50_000)
    before = len(gate.sizes)
    sentence = client.post("/v1/extract", json={"text": "pain " * 500})
    assert sentence.status_code == 413
    assert "a sentence of more than 240 words" in sentence.json()["detail"]
    cells = client.post("/v1/extract", json={"texts": ["My left leg hurt a lot. " * 6] * 200})
    assert cells.status_code == 413
    assert "more than 50000 word pairs" in cells.json()["detail"]
    words = client.post("/v1/extract", json={"texts": ["No pain. " * 60] * 50})
    assert words.status_code == 413
    assert "more than 12000 words" in words.json()["detail"]
    assert len(gate.sizes) == before
    assert client.get("/v1/model").json()["limits"]["max_words"] == 240
    assert client.post("/v1/extract", json={"text": "no pain."}).status_code == 200


def test_quotes_without_end_take_no_long_time(serve):
    """Finding sentences among them had kept all other threads waiting for half a minute."""
    client = serve()
    body = json.dumps({"texts": ["“" * 100_000] * 6}, ensure_ascii=False).encode()
    begun = time.process_time()
    assert client.post("/v1/extract", content=body).status_code == 200
    assert time.process_time() - begun < 8


def test_notices_report_windows(serve):
    answer = serve().post("/v1/extract", json={"text": "leg hurt numb " * 60}).json()
    assert any("windows" in notice for notice in answer["notices"])


def test_each_limit_has_a_status_code(serve):
    client = serve(max_body=3000, max_texts=3, max_characters=100, max_grid_words=10)
    fine = client.post("/v1/extract", json={"texts": ["a" * 100, "", "b"]})
    assert fine.status_code == 200
    most = json.dumps({"text": "no pain."}).encode().ljust(3000)
    assert client.post("/v1/extract", content=most).status_code == 200
    pieces = (most[at : at + 1000] for at in range(0, 3000, 1000))
    assert client.post("/v1/extract", content=pieces).status_code == 200
    assert client.post("/v1/grid", json={"text": "a b c d e f g h i j"}).status_code == 200

    def refused(path, **options):
        response = client.post(path, **options)
        return response.status_code, response.json()["detail"]

    assert refused("/v1/extract", json={"text": "a" * 101}) == (
        413, "the text is longer than 100 characters",
    )  # fmt: skip
    assert refused("/v1/extract", json={"texts": ["a", "a" * 101]}) == (
        413, "text 2 of 2 is longer than 100 characters",
    )  # fmt: skip
    too_many = (413, "more than 3 texts in one request")
    assert refused("/v1/extract", json={"texts": ["a"] * 4}) == too_many
    large = (413, "the request body is larger than 3000 bytes")
    assert refused("/v1/extract", content=b"x" * 3001) == large
    assert refused("/v1/extract", content=(b"x" * 1000 for _ in range(4))) == large
    assert refused("/v1/grid", content=b"x" * 3001) == large
    assert refused("/v1/grid", json={"text": "a" * 101})[0] == 413
    words = {"text": "a b c d e f g h i j k"}
    assert refused("/v1/grid", json=words) == (413, "the sentence has more than 10 words")


def test_very_large_requests(serve):
    client = serve()
    texts = client.post("/v1/extract", json={"texts": ["a"] * 100_000})
    assert (texts.status_code, texts.json()["detail"]) == (
        413,
        "more than 256 texts in one request",
    )
    megabytes = client.post("/v1/extract", json={"text": "pain " * 1_000_000})
    assert megabytes.status_code == 413
    assert client.post("/v1/extract", json={"text": "no pain."}).status_code == 200


def test_megabytes_where_the_limits_allow_them(serve, extract):
    text = "No pain. " * 1000 + "\n" * 1_200_000 + TEXTS[0]
    client = serve(max_body=4_000_000, max_characters=2_000_000, timeout=120)
    answer = client.post("/v1/extract", content=json.dumps({"text": text}))
    assert answer.status_code == 200
    last = answer.json()["entities"][-1]["fragments"]
    assert last[0][0] >= 1_200_000


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"\xff", 400), (rb'{"text": "\ud800"}', 400), (b"[]", 422), (b"{}", 422),
     (b'{"texts": []}', 422), (b'{"text": 1}', 422), (b'{"text": "a", "model": "b"}', 422),
     (b'{"text": "a", "texts": ["a"]}', 422)],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/extract", "/v1/grid"])
def test_bad_bodies(serve, path, body, status):
    client = serve()
    response = client.post(path, content=body)
    assert response.status_code == status
    assert response.json()["detail"]
    assert client.get("/healthz").status_code == 200


def test_an_unknown_field_is_told_with_the_known_ones(serve):
    client = serve()
    for path, known in (("extract", "text, texts, threshold"), ("grid", "text, at")):
        told = client.post(f"/v1/{path}", json={"txt": "x"}).json()["detail"]
        assert f"txt: unknown field; known are {known}" in told


def test_the_grid_explains_an_entity(serve):
    client = serve()
    text = "😀 No pain. " + TEXTS[0]
    whole = client.post("/v1/extract", json={"text": text}).json()["entities"]
    at = whole[0]["fragments"][0][0]
    grid = client.post("/v1/grid", json={"text": text, "at": at}).json()
    assert grid["tags"] == ["NONE", "NNW", "THW-ADR", "THW-Drug"]
    assert "".join(word["text"] for word in grid["words"])
    for word in grid["words"]:
        assert text[word["start"] : word["end"]] == word["text"]
    entity = next(e for e in grid["entities"] if e["fragments"] == whole[0]["fragments"])
    product = 1.0
    for cell in entity["cells"]:
        shown = grid["probabilities"][cell["row"]][cell["column"]][cell["tag"]]
        assert shown == cell["probability"] == round(shown, SCORE_DIGITS)
        product *= cell["probability"]
    roundings = 1 + len(entity["cells"])
    assert product == pytest.approx(entity["score"], abs=5.1e-5 * roundings)  # four digits
    assert client.post("/v1/grid", json={"text": " "}).status_code == 422
    assert client.post("/v1/grid", json={"text": "leg hurt numb " * 20}).status_code == 422


def test_model_info(serve, exported_model):
    about = serve(max_texts=7).get("/v1/model").json()
    assert about["labels"] == ["ADR", "Drug"]
    assert about["system"] == "w2ner"
    assert about["limits"]["max_texts"] == 7
    assert set(about["limits"]) == {
        *("max_body", "max_texts", "max_characters", "max_words", "max_request_words"),
        *("max_cells", "max_grid_words", "timeout"),
    }
    assert about["versions"]["model_format"] == read_description(exported_model).format


def test_health_readiness_and_metrics(serve):
    client = serve()
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    found = client.post("/v1/extract", json={"text": TEXTS[0]}).json()["entities"]
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    samples = [s for f in text_string_to_metric_families(response.text) for s in f.samples]
    entities = sum(s.value for s in samples if s.name == "trigner_entities_total")
    assert entities == len(found)
    assert any(s.name == "trigner_batch_sentences_count" and s.value >= 1 for s in samples)


def test_unhealthy_while_one_batch_never_ends(serve, gated, gate):
    client = serve(gated, timeout=0.2)  # so a batch may take a second
    gate.shut()
    assert client.post("/v1/extract", json={"text": TEXTS[0]}).status_code == 504
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    until(lambda: client.get("/healthz").status_code == 503)
    assert "one batch for over 1 s" in client.get("/healthz").json()["status"]
    assert client.get("/readyz").status_code == 503
    gate.open.set()
    until(lambda: client.get("/healthz").status_code == 200)
    assert client.get("/readyz").json() == {"status": "ready"}


def until(true):
    """Wait at most 20 seconds for something to be true."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_unhealthy_without_the_worker(extract):
    from starlette.testclient import TestClient

    from trigner.serving.app import create_app

    app = create_app(extract)
    with TestClient(app) as client:
        assert client.get("/readyz").status_code == 200
    stopped = TestClient(app)  # without its start
    assert stopped.get("/healthz").status_code == 503
    assert stopped.get("/readyz").json() == {"status": "not ready"}
    refused = stopped.post("/v1/extract", json={"text": "a"})
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) >= 1


def test_openapi_describes_everything(serve):
    client = serve()
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/v1/extract", "/v1/grid", "/v1/model", "/healthz", "/readyz", "/metrics"} == set(paths)
    text = json.dumps(client.get("/openapi.json").json())
    assert "code points" in text
    extract = paths["/v1/extract"]["post"]
    assert {"200", "400", "413", "422", "503", "504"} <= set(extract["responses"])
    body = extract["requestBody"]["content"]["application/json"]
    assert set(body["schema"]["properties"]) == {"text", "texts", "threshold"}
    assert SENTENCE in json.dumps(body["examples"])
    for example in body["examples"].values():
        assert client.post("/v1/extract", json=example["value"]).status_code == 200
    for example in paths["/v1/grid"]["post"]["requestBody"]["content"]["application/json"][
        "examples"
    ].values():
        assert client.post("/v1/grid", json=example["value"]).status_code == 200


def test_a_sequence_model_is_served_and_has_no_grid(serve, tiny):
    extract = extractor(tiny("corro"))
    client = serve(extract)
    text = "my left leg hurt. no pain in arm, numb after the tablet."
    answer = client.post("/v1/extract", json={"texts": [text, "no pain"]}).json()
    found = answer["documents"][0]["entities"]
    expected = extract(text).entities
    assert expected
    assert [(e["label"], e["score"]) for e in found] == [
        (e.label, pytest.approx(e.score, abs=1e-4)) for e in expected
    ]
    refused = client.post("/v1/grid", json={"text": text})
    assert refused.status_code == 422
    assert "the system corro cannot show the word-pair grid" in refused.text
    assert client.get("/v1/model").json()["system"] == "corro"


def test_fields_of_annotators_are_in_the_answer(serve, extract):
    def annotator(document, sentence, entity):
        candidate = {"code": "F1", "name": "x", "term": "x", "match": "alike", "score": 0.5}
        return {"negated": True, "code": "F1", "candidates": [candidate], "of_no_use": 1}

    plain_answer = serve().post("/v1/extract", json={"text": TEXTS[0]}).json()
    assert set(plain_answer["entities"][0]) == {"label", "text", "fragments", "score"}
    answer = serve(replace(extract, annotators=(annotator,)))
    found = answer.post("/v1/extract", json={"text": TEXTS[0]}).json()["entities"]
    assert len(found) == len(plain_answer["entities"])
    for entity in found:
        assert entity["negated"] is True
        assert entity["code"] == "F1"
        assert entity["candidates"][0]["score"] == 0.5
        assert not {"hypothetical", "of_no_use"} & set(entity)


def test_the_model_says_what_it_knows(serve):
    assert serve().get("/v1/model").json()["about"].startswith("The model looks for ")
