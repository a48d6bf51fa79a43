from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given

from random_documents import documents
from trigner.evaluation.comparison import compare
from trigner.mentions import Document, Entity
from trigner.rendering.html import (
    asset,
    comparison_page,
    documents_page_parts,
    html_page,
    systems_page,
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

HOSTILE = (
    "</script><script>document.title='broken'</script><img src=x onerror=alert(1)> \u2028 rash"
)


def entity(text, label, *pieces, score=None):
    fragments, after = [], 0
    for piece in pieces:
        start = text.index(piece, after)
        after = start + len(piece)
        fragments.append((start, after))
    return Entity(label, tuple(fragments), " ".join(pieces), score)


def documents_page(documents, **options):
    return "".join(documents_page_parts(documents, **options))


class Page(HTMLParser):
    """Elements, attributes and what stands in scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.content, self.policy, self.inside = [], [], "", False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.content.append("")
        self.inside = True
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"]

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.content[-1] += data

    def of(self, tag, **attributes):
        """What stands in the one element like this."""
        (found,) = [
            content
            for (name, attrs), content in zip(self.tags, self.content, strict=True)
            if name == tag and attributes.items() <= attrs.items()
        ]
        return found

    @property
    def data(self):
        return json.loads(self.of("script", id="data"))


def hashed(content):
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


@given(documents(scored=True))
def test_texts_and_offsets_arrive_as_they_are(made):
    page = Page(documents_page(made))
    for document, shown in zip(made, page.data["documents"], strict=True):
        assert shown["text"] == document.text
        told = [[tuple(f) for f in e["fragments"]] for e in shown["entities"]]
        assert told == [list(e.fragments) for e in document.entities]


@given(documents(scored=True))
def test_compared_sentences_hold_every_entity_at_its_place(made):
    texts = {d.id: d.text for d in made}
    page = Page(comparison_page(compare(made, made)))
    number = 0
    for snippet in page.data["snippets"]:
        text = texts[snippet["document"]]
        assert text[snippet["start"] :].startswith(snippet["text"])
        for shown in snippet["gold"]:
            pieces = [snippet["text"][a:b] for a, b in shown["fragments"]]
            assert shown["text"] == " ".join(pieces)
            assert shown["kind"] == "correct"
            number += 1
    assert number == sum(len({d.key(e) for e in d.entities}) for d in made)


def test_documents_are_put_on_the_page_one_after_the_other():
    taken = []
    made = (taken.append(n) or Document(str(n), "rash []}</script>") for n in range(3))
    parts = documents_page_parts(made, title="[]}</")
    beginning = next(parts)
    assert taken == []
    first = next(parts)
    assert taken == [0]
    page = Page("".join([beginning, first, *parts]))
    assert [d["id"] for d in page.data["documents"]] == ["0", "1", "2"]
    assert page.data["title"] == page.of("title") == "[]}</"
    assert Page(documents_page([])).data["documents"] == []


def test_markup_in_texts_stays_text():
    found = Entity("<b>ADR</b>", ((0, 9),), HOSTILE[:9], 0.5)
    page = Page(documents_page([Document("<i>", HOSTILE, (found,))], title="<u>&"))
    assert [tag for tag, _ in page.tags if tag in ("script", "img", "b", "i", "u")] == [
        "script"
    ] * 2
    assert page.of("title") == "<u>&"
    assert page.data["documents"][0]["text"] == HOSTILE
    assert page.of("script", id="data").isascii()


def test_only_its_own_script_and_style_may_run_and_nothing_is_loaded():
    page = Page(documents_page([Document("d", "rash")]))
    assert page.policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'; ")
    assert f"style-src {hashed(page.of('style'))}; " in page.policy
    scripts = [c for (t, a), c in zip(page.tags, page.content, strict=True) if t == "script"]
    assert f"script-src {hashed(scripts[-1])}; " in page.policy
    assert "unsafe" not in page.policy
    assert not [attrs for _, attrs in page.tags if {"src", "href", "style"} & attrs.keys()]


def test_a_page_without_scripts_lets_none_run():
    page = Page(html_page("a < b", '<p style="color: red">Text</p>', style="p {}"))
    assert page.of("title") == "a < b"
    assert "script" not in page.policy
    assert "unsafe" not in page.policy
    page = Page(html_page("t", "", style="p {}", inline_styles=True))
    assert "style-src 'unsafe-inline'; " in page.policy


@pytest.mark.parametrize("name", ["entities.js", "page.js"])
def test_scripts_make_no_markup_from_strings(name):
    script = asset(name)
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "</"):
        assert way not in script
    assert '"style"' not in script  # a policy without 'unsafe-inline' has no style attributes


def test_scores_and_remarks_are_on_the_page():
    plain, noted = Entity("X", ((0, 4),), "rash", 0.5), Entity("X", ((0, 4),), "rash", None)
    noted = replace(noted, fields={"negated": True})
    shown = Page(documents_page([Document("d", "rash", (plain, noted))])).data["documents"][0]
    assert [(e["score"], e.get("note")) for e in shown["entities"]] == [
        (0.5, None),
        (None, "negated"),
    ]


def test_what_belongs_together_is_one_group():
    text = "Pain in my hands and a rash."
    gold = Document("d", text, (entity(text, "X", "Pain", "hands"), entity(text, "X", "rash")))
    pieces = tuple(entity(text, "X", piece) for piece in ("Pain", "hands", "rash"))
    (shown,) = Page(comparison_page(compare([gold], [Document("d", text, pieces)]))).data[
        "snippets"
    ]
    groups = {e["text"]: e["group"] for side in ("gold", "predicted") for e in shown[side]}
    assert groups["Pain hands"] == groups["Pain"] == groups["hands"] != groups["rash"]


def test_a_part_of_the_text_holds_what_is_found_beyond_gold():
    text = "A rash came. It went."
    gold = Document("d", text, (entity(text, "ADR", "rash came"),))
    found = Document("d", text, (entity(text, "ADR", "rash came. It"),))
    (shown,) = Page(comparison_page(compare([gold], [found]))).data["snippets"]
    assert shown["text"] == text


def test_documents_and_sentences_without_entities_are_counted():
    text = "A rash came. It went. All well."
    gold = [Document(name, text, (entity(text, "ADR", "rash"),)) for name in "ab"]
    gold.append(Document("c", text))
    compared = compare(gold, gold)
    for made in (comparison_page(compared), systems_page({"x": compared, "y": compared})):
        data = Page(made).data
        assert (data["documents"], len(data["snippets"]), data["others"]) == (3, 2, 7)
    assert Page(systems_page({})).data["documents"] == 0


def test_what_differs_comes_first():
    text = "A rash came. Pain in my hands."
    right, wrong = entity(text, "ADR", "rash"), entity(text, "ADR", "Pain", "hands")
    gold = Document("d", text, (right, wrong))
    data = Page(comparison_page(compare([gold], [Document("d", text, (right,))]))).data
    assert [p["kinds"] for p in data["snippets"]] == [["missed"], ["correct"]]
    assert data["snippets"][0]["start"] == text.index("Pain")
    assert {"kind": "missed", "gold": 1, "predicted": 0} in data["counts"]
    assert data["others"] == 0


def chromium(*arguments, at):
    """What a headless browser prints; `at` is a folder for its own files."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={at / 'profile'}")
    run = subprocess.run(
        [CHROMIUM, *options, *arguments], capture_output=True, text=True, timeout=120, check=True
    )
    return run.stdout


def rendered(path, size="900,2000"):
    """The page's elements after its scripts have run, as Chromium has them.

    On a busy machine its time may be over before the first frame is drawn: then again.
    """
    for _ in range(3):
        dom = chromium(
            f"--window-size={size}",
            "--virtual-time-budget=5000",
            "--dump-dom",
            path.as_uri(),
            at=path.parent,
        )
        if groups(dom):
            break
    return dom


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def groups(dom):
    """`<g>` of each entity: what it says to screen readers and its elements."""
    found = re.findall(r'<g class="te-entity[^>]*aria-label="([^"]*)"[^>]*>(.*?)</g>', dom, re.S)
    return [(label, inner) for label, inner in found]


@needs_browser
def test_the_browser_draws_every_fragment_and_joins_them(tmp_path):
    text = "\U0001f631 Pain and cramping in my hands and lower legs, cafe\u0301 rash."
    found = (
        entity(text, "ADR", "Pain", "in my hands", score=0.91),
        entity(text, "ADR", "Pain", "in my", "lower legs", score=0.87),
        entity(text, "ADR", "rash", score=0.5),
        entity(text, "Sign", "rash"),
    )
    path = tmp_path / "page.html"
    path.write_text(documents_page([Document("d", text, found)]), "utf-8")
    drawn = groups(rendered(path))
    assert [label for label, _ in drawn] == [
        "ADR, Pain … in my hands, score 0.91, characters 2–6, 20–31",
        "ADR, Pain … in my … lower legs, score 0.87, characters 2–6, 20–25, 36–46",
        "ADR, rash, score 0.50, characters 54–58",
        "Sign, rash, characters 54–58",
    ]
    assert [inner.count('class="te-bar"') for _, inner in drawn] == [2, 3, 1, 1]
    assert [inner.count('class="te-arc"') for _, inner in drawn] == [1, 2, 0, 0]
    heights = [re.findall(r'class="te-bar"[^>]* y="([^"]*)"', inner) for _, inner in drawn]
    assert all(len(set(own)) == 1 for own in heights)  # an entity's fragments on one track
    # Entities that share fragments are on tracks of their own.
    assert heights[0][0] != heights[1][0]
    assert heights[2][0] != heights[3][0]


@needs_browser
def test_the_browser_takes_markup_for_text(tmp_path):
    found = (entity(HOSTILE, "<b>", "<script>", "rash"),)
    path = tmp_path / "page.html"
    path.write_text(documents_page([Document("<i>", HOSTILE, found)], title="fine"), "utf-8")
    dom = rendered(path)
    assert "<title>fine</title>" in dom
    body = dom[dom.index('<main id="page">') : dom.index("</main>")]
    assert not re.search(r"<(script|img|b|i)\b", body)
    assert "&lt;script&gt;" in body
    assert 'class="te-arc"' in body


@needs_browser
def test_entities_run_on_over_lines_and_long_documents_are_drawn_as_they_are_reached(tmp_path):
    sentence = "Pain and cramping, since the second week of the treatment, in my lower legs."
    text = "\n".join([sentence] * 400)
    place, line = sentence.index("lower legs"), len(sentence) + 1
    found = tuple(
        Entity("ADR", ((n * line, n * line + 4), (n * line + place, n * line + place + 10)), "")
        for n in range(400)
    )
    path = tmp_path / "page.html"
    path.write_text(documents_page([Document("d", text, found)]), "utf-8")
    dom = rendered(path, size="400,600")
    drawn = groups(dom)
    assert 0 < len(drawn) < 400
    assert drawn[0][1].count("te-chevron") == 2
    shown = re.findall(r'class="te-text"[^>]*>(.*?)</div>', dom, re.S)
    assert re.sub(r"<[^>]*>", "", "".join(shown)) == text


@needs_browser
def test_the_browser_shows_gold_beside_prediction(tmp_path):
    text = "Pain in my hands."
    gold = Document("d", text, (entity(text, "ADR", "Pain", "hands"),))
    pieces = (entity(text, "ADR", "Pain", score=0.5), entity(text, "ADR", "hands", score=0.5))
    path = tmp_path / "page.html"
    path.write_text(comparison_page(compare([gold], [Document("d", text, pieces)])), "utf-8")
    dom = rendered(path)
    assert [label.split(", ")[:2] for label, _ in groups(dom)] == [["ADR", "split"]] * 3
    assert dom.count('class="te-arc"') == 1
    assert re.search(r'<span class="number">1 → 2</span>', dom)


COMPONENT = """<!doctype html><meta charset="utf-8"><style>{style}</style>
<div id="place"></div><pre id="told"></pre><script>{script}
const text = "\U0001f631 Pain and numb hands.";
const entities = [
  {{label: "ADR", fragments: [[2, 6], [16, 21]], score: 0.9}},
  {{label: "Site", fragments: [[16, 21]]}},
];
const place = document.getElementById("place");
const told = {{heard: []}};
const handle = drawEntities(place, text, entities, {{
  offset: 100,
  onHighlight: (indices) => told.heard.push(indices),
  onSelect: (index, entity) => {{ told.selected = [index, entity.label]; }},
}});
const all = (selector) => [...place.querySelectorAll(selector)];
const lit = () => all(".te-mark.te-on").map((mark) => mark.textContent);
// Said, not done: a window in the background gives no element the focus.
const first = all('[data-index="0"]')[0];
first.dispatchEvent(new FocusEvent("focusin", {{bubbles: true}}));
told.focused = lit();
told.tip = all(".te-tip")[0].textContent;
const enter = new KeyboardEvent("keydown", {{key: "Enter", bubbles: true}});
first.dispatchEvent(enter);
first.dispatchEvent(new FocusEvent("focusout", {{bubbles: true}}));
told.left = lit();
told.hidden = all(".te-tip")[0].hidden;
handle.highlight([1]);
told.highlighted = lit();
const before = all(".te-arc")[0].getAttribute("d");
place.style.width = "90px";
handle.redraw();
told.moved = all(".te-arc").map((arc) => arc.getAttribute("d")).join() !== before;
handle.update([entities[1]]);
told.updated = all(".te-entity").length;
told.text = all(".te-text").map((block) => block.textContent).join("");
handle.destroy();
told.after = place.childNodes.length;
document.getElementById("told").textContent = JSON.stringify(told);
</script>"""


@needs_browser
def test_the_component_answers_to_keyboard_and_handle(tmp_path):
    path = tmp_path / "component.html"
    style, script = asset("entities.css"), asset("entities.js")
    path.write_text(COMPONENT.format(style=style, script=script), "utf-8")
    told = json.loads(re.search(r'<pre id="told">(.*?)</pre>', rendered(path), re.S)[1])
    assert told == {
        "heard": [[0], []],
        "selected": [0, "ADR"],
        "focused": ["Pain", "hands"],
        "tip": "ADR0.90102–106, 116–121Pain … hands",
        "left": [],
        "hidden": True,
        "highlighted": ["hands"],
        "moved": True,
        "updated": 1,
        "text": "\U0001f631 Pain and numb hands.",
        "after": 0,
    }


@needs_browser
def test_printing_draws_everything(tmp_path):
    # More pages on paper than what is drawn lazily on the screen would fill.
    sentence = "Pain and cramping in my hands and lower legs."
    text = "\n".join([sentence] * 400)
    found = tuple(Entity("ADR", ((46 * n, 46 * n + 4),), "Pain") for n in range(400))
    path = tmp_path / "page.html"
    path.write_text(documents_page([Document("d", text, found)]), "utf-8")
    printed = tmp_path / "page.pdf"
    chromium("--virtual-time-budget=5000", f"--print-to-pdf={printed}", path.as_uri(), at=tmp_path)
    pages = len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes()))
    assert pages >= 18  # 400 lines of 27 pixels would be 11 pages, with tracks they are 20


def three_systems():
    text = "A rash came. Sore hands and feet."
    hands = entity(text, "ADR", "Sore hands")
    feet = entity(text, "ADR", "Sore", "feet")
    rash = entity(text, "ADR", "rash")
    gold = Document("d<1>", text, (hands, feet, rash))
    found = {"perfect": (hands, feet, rash), "llm": (hands,), "none": ()}
    return {name: compare([gold], [Document("d<1>", text, e)]) for name, e in found.items()}


def test_systems_stand_side_by_side_worst_sentence_first():
    page = Page(systems_page(three_systems())).data
    assert page["systems"] == ["perfect", "llm", "none"]
    first, second = page["snippets"]
    assert first["text"] == "Sore hands and feet."
    assert {e["text"]: e["found"] for e in first["gold"]} == {"Sore hands": 2, "Sore feet": 1}
    assert [e["kind"] for e in first["columns"]["perfect"]] == ["correct", "correct"]
    assert first["columns"]["none"] == []
    assert len(first["gold"]) == 2
    assert second["gold"][0]["fragments"] == [[2, 6]]
    assert second["columns"]["llm"] == []


def test_systems_on_other_documents_are_refused(refused):
    other = Document("other", "text")
    with refused(error=ValueError):
        systems_page({**three_systems(), "x": compare([other], [other])})


@needs_browser
def test_the_browser_shows_systems_side_by_side(tmp_path):
    path = tmp_path / "systems.html"
    path.write_text(systems_page(three_systems()), "utf-8")
    dom = rendered(path)
    for part in ("perfect: 2 of 2", "llm: 1 of 2", "none: 0 of 2", "found by 2 of 3", "3 systems"):
        assert part in dom, part


@needs_browser
@pytest.mark.parametrize("predicted", ["ADR", "Sign"])
def test_types_are_named_where_gold_and_predictions_have_several(tmp_path, predicted):
    text = "A rash came. Pain in my hands."
    rash, pain = entity(text, "ADR", "rash"), entity(text, predicted, "Pain")
    compared = compare([Document("d", text, (rash,))], [Document("d", text, (rash, pain))])
    path = tmp_path / "systems.html"
    path.write_text(systems_page({"llm": compared}), "utf-8")
    names = re.findall(r'class="te-label"[^>]*>([^<]*)<', rendered(path))
    found = ["Sign · spurious", "ADR · found by 1 of 1", "ADR · correct"]
    if predicted == "ADR":
        found = ["spurious", "found by 1 of 1", "correct"]
    assert names == found
