from __future__ import annotations

import json


def test_every_system_is_measured(run, gold):
    result = run("ceiling", "--data", gold, "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert found["w2ner"]["overall"]["f1"] == 1.0
    assert found["w2ner"]["lost"] == 0
    assert found["bio"]["lost_by_format"] == 3
    assert found["bio"]["discontinuous"]["recall"] == 0
    assert len(found["bio"]["lost_entities"]) == 3
    found = json.loads(run("ceiling", "--data", gold, "--json", "--lost", "0").out)
    assert "lost_entities" not in found["bio"]


def test_systems_are_chosen_by_name(run, gold, wording):
    found = json.loads(run("ceiling", "--data", gold, "--system", "bio,mac", "--json").out)
    assert list(found) == ["bio", "mac"]
    result = run("ceiling", "--data", gold, "--system", "boi")
    assert result.code == 2
    wording(result.err)


def test_what_is_lost_is_reported_with_its_reason(run, gold):
    (gold / "one.ann").write_text("T1\tADR 3 6\tlef\n")
    result = run("ceiling", "--data", gold)
    assert result.code == 0
    assert "1 gold entity lost to every system: not aligned to words" in result.out


def test_the_table_has_a_row_for_each_system(run, gold):
    lines = run("ceiling", "--data", gold).out.splitlines()
    row, *listed = [line.split() for line in lines if line.startswith("bio ")]
    assert row == ["bio", "100.00", "40.00", "57.14", "0.00", "0.00", "0.00", "3", "0"]
    assert len(listed) == 3
    assert any("of 5 entities, 3 of them discontinuous" in line for line in lines)


def test_lost_entities_are_listed(run, gold):
    assert "loses" not in run("ceiling", "--data", gold, "--lost", "0").out
    result = run("ceiling", "--data", gold, "--lost", "2")
    listed = [line.split() for line in result.out.splitlines() if line.startswith("bio ")][1:]
    assert [line[1:3] for line in listed] == [["two", "ADR"], ["two", "ADR"]]
    assert listed[0][-2:] == ["0-9", "20-23"]
    found = json.loads(run("ceiling", "--data", gold, "--lost", "2", "--json").out)
    assert [each["document"] for each in found["bio"]["lost_entities"]] == ["two", "two"]
    assert found["bio"]["lost_entities"][0]["fragments"] == [[0, 9], [20, 23]]
    assert found["w2ner"]["lost_entities"] == []
