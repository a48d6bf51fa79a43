from __future__ import annotations

from study_results import result_of
from trigner.lab.studies.grid import runs
from trigner.lab.studies.paper_tables import published_section
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import read_results
from trigner.lab.studies.summary import gather, summarise


def tables_of(study, results, corpus):
    """The tables next to the published numbers, by title, as rows of cells by column."""
    systems = gather(runs(study, protocol("full")), read_results(results, "small"), corpus.hashes)
    section = published_section(study.report.published, [summarise("small", systems, [])])
    return {
        table.title: {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
        for table in section.tables
    }


def test_ours_stands_beside_the_published_row_of_the_same_system(finished, corpus):
    tables = tables_of(*finished, corpus)
    assert list(tables) == ["F1, published and ours"]
    rows = tables["F1, published and ours"]
    none = {"system": "none", "CADEC": "71.49", "ShARe13": "81.74", "ShARe14": "81.78"}
    assert rows["none"] == {**none, "ours: small": "88.89 ± 0.00"}
    assert rows["25"]["ours: small"] == "–"
    assert list(rows["ours: control"].values())[1:] == ["57.14 ± 0.00", "–", "–", "–"]


def test_precision_and_recall_where_they_are_published(declare, corpus, tmp_path):
    study = declare(
        "title: a\nseeds: [1]\nsystems: {trigner: , trigner-disc: {triplets.margin: 2}}\n"
        "report: {published: overall}\n"
    )
    for run in runs(study, protocol("full")):
        result_of(run, corpus, tmp_path)
    tables = tables_of(study, tmp_path, corpus)
    assert list(tables) == [f"{rate}, published and ours" for rate in ("F1", "P", "R")]
    for rate, theirs in (("F1", "49.71"), ("P", "54.43"), ("R", "45.74")):
        rows = tables[f"{rate}, published and ours"]
        split = rows["TriG-NER, set-up best on discontinuous entities"]
        assert split["CADEC DiscEnt"] == theirs
        assert split["ours: small"] != "–"
        assert not any(name.startswith("ours: ") for name in rows)


def test_an_unknown_table(refused):
    with refused():
        published_section("nope", [])
