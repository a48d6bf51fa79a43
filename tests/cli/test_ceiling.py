from __future__ import annotations

import json


def test_every_scheme_is_measured(run, gold):
    result = run("ceiling", "--data", gold, "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert found["w2ner"]["overall"]["f1"] == 1.0
    assert found["w2ner"]["lost"] == 0


def test_what_is_lost_is_told_with_its_reason(run, gold):
    (gold / "one.ann").write_text("T1\tADR 3 6\tlef\n")
    result = run("ceiling", "--data", gold)
    assert result.code == 0
    assert "1 gold entities lost: not aligned to words" in result.out
