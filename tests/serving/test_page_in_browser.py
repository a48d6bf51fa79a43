"""The page in Chromium, served by a real process."""

from __future__ import annotations

import csv
import io
import json
import shutil
import time
from contextlib import ExitStack

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains

from serving_process import process
from tiny_models import export, extractor
from trigner.corpora.brat import parse_entity, with_notes
from trigner.mentions import Document

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="chromium or its chromedriver is not installed"
)

TEXT = "😀 my left leg hurt, no pain in arm, numb after the tablet."
HOSTILE = (
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\"> " + TEXT
)
FOCUSED = """
const e = document.activeElement;
const labelled = document.getElementById(e.getAttribute("aria-labelledby"));
const name = e.ariaLabel || e.labels?.[0]?.textContent || labelled?.textContent || e.textContent;
return [e.id || e.getAttribute("class") || e.tagName, name.trim()];
"""
DROP = """
const transfer = new DataTransfer();
transfer.items.add(new File([new Uint8Array(arguments[0])], arguments[1]));
window.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, cancelable: true}));
"""


@pytest.fixture(scope="module")
def address(exported_model):
    with process(exported_model, "--max-body", "20000") as (_, port):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1200,1000")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


class Page:
    """The page as somebody sees it."""

    def __init__(self, driver, address):
        self.driver = driver
        driver.get_log("browser")
        driver.execute_cdp_cmd(
            "Browser.grantPermissions",
            {"origin": address, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
        )
        driver.get(address + "/")
        self.until(lambda: "entit" in self["status"].text)

    def __getitem__(self, name):
        return self.driver.find_element("id", name)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end
            time.sleep(0.05)
        return found

    def type(self, text):
        """Put a text in place of the old one, as pasting does, and wait for its entities."""
        self.driver.execute_script(
            "const area = document.getElementById('text'); area.value = arguments[0];"
            "area.dispatchEvent(new Event('input', {bubbles: true}));",
            text,
        )
        self.until(lambda: self.drawn() == text)

    def drawn(self):
        """The text that stands in the drawing."""
        script = (
            "return [...document.querySelectorAll('.te-text')].map(e => e.textContent).join('')"
        )
        return self.driver.execute_script(script)

    def surfaces(self):
        return self.texts("#entities button")

    def texts(self, selector):
        """All at once, as the page may draw itself anew in between."""
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return self.driver.execute_script(script, selector)

    def clipboard(self):
        return self.driver.execute_async_script(
            "const done = arguments[0]; navigator.clipboard.readText().then(done, done);"
        )


@pytest.fixture
def page(browser, address):
    yield from opened(browser, address)


def opened(browser, address):
    yield Page(browser, address)
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    # What a test asks for on purpose, the browser logs as an error.
    assert not [entry for entry in errors if "status of 4" not in entry["message"]]


def expected(extract, text):
    return [
        " … ".join(" ".join(text[a:b].split()) for a, b in entity.fragments)
        for entity in extract(text).entities
    ]


def test_entities_are_drawn_as_one_types(page, extract):
    area = page["text"]
    area.clear()
    area.send_keys("my left leg hurt, no pain in arm, numb after the tablet.")
    wanted = expected(extract, "my left leg hurt, no pain in arm, numb after the tablet.")
    assert wanted
    page.until(lambda: page.surfaces() == wanted)
    assert len(page.all("#drawing .te-entity")) >= len(wanted)


def test_offsets_count_code_points(page, extract):
    page.type(TEXT)
    assert page.surfaces() == expected(extract, TEXT)
    shown = page.texts("#entities td.numbers")
    assert shown == [
        ", ".join(f"{a}–{b}" for a, b in entity.fragments) for entity in extract(TEXT).entities
    ]


def test_an_answer_to_an_older_text_is_discarded(page):
    page.driver.execute_script(
        """
        const original = window.fetch;
        let calls = 0;
        window.fetch = async (...all) => {
          calls += 1;
          const own = calls;
          const [address, options] = all;
          const response = await original(address, {...options, signal: undefined});
          if (own === 1) await new Promise((done) => setTimeout(done, 1500));
          return response;
        };
        """
    )
    script = (
        "const area = document.getElementById('text'); area.value = arguments[0];"
        "area.dispatchEvent(new Event('input'));"
    )
    page.driver.execute_script(script, "numb arm, numb leg, numb arm and leg hurt.")
    time.sleep(0.4)
    page.type("my leg hurt.")
    time.sleep(2)
    assert page.drawn() == "my leg hurt."


def test_the_slider_hides_what_scores_less(page, extract):
    page.type(TEXT)
    scores = sorted(entity.score for entity in extract(TEXT).entities)
    least = round(scores[len(scores) // 2], 2) + 0.01
    slider = page["threshold"]
    page.driver.execute_script(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'));",
        slider,
        least,
    )
    left = sum(score >= least for score in scores)
    assert left < len(scores)
    assert len(page.surfaces()) == left
    assert page["threshold-value"].text == f"{least:.2f}"
    assert f"{len(scores) - left} below the minimum score" in page["status"].text
    slider.send_keys("\ue011")  # Home
    assert len(page.surfaces()) == len(scores)


def test_the_grid_explains_an_entity_and_is_moved_in_by_keys(page, extract):
    page.type(TEXT)
    (button, *_) = page.all("#entities button")
    button.send_keys("\ue007")  # Enter
    page.until(lambda: page["why"].is_displayed())
    first = extract(TEXT).entities[0]
    page.until(lambda: f"{first.score:.3f}" in page["reason"].text)
    factors = page.all("#reason .factor b")
    product = 1.0
    for factor in factors:
        product *= float(factor.text)
    assert product == pytest.approx(first.score, abs=0.005)
    assert len(page.all("td.part")) == len(factors)
    assert page.all("#entities button")[0].get_attribute("aria-pressed") == "true"
    cells = page.all("td.pair")
    words = len(page.all("th.row"))
    assert len(cells) == words * words
    cells[0].click()
    cells[0].send_keys("\ue014")  # right
    active = page.driver.switch_to.active_element
    assert (active.get_attribute("data-row"), active.get_attribute("data-column")) == ("0", "1")
    assert "NONE" in page["readout"].text
    active.send_keys("\ue00c")  # Escape
    assert not page["why"].is_displayed()
    assert page.driver.switch_to.active_element == button


def test_the_grid_of_the_sentence_at_the_cursor(page):
    page.type("No pain. My left leg hurt.")
    page.driver.execute_script("document.getElementById('text').setSelectionRange(12, 12)")
    page["show-grid"].click()
    page.until(lambda: page["why"].is_displayed())
    assert page.texts("th.row") == ["My", "left", "leg", "hurt", "."]


@pytest.fixture
def page_of(browser, tiny, tmp_path):
    """Opens the page of a model with another scheme, which finds what `page_of` returns too."""
    with ExitStack() as stack:

        def open_page(scheme):
            model = tiny(scheme)
            _, port = stack.enter_context(process(export(model, tmp_path / "model")))
            own = opened(browser, f"http://127.0.0.1:{port}")
            stack.callback(next, own, None)
            return next(own), extractor(model)

        yield open_page


def test_a_scheme_without_grid_says_so(page_of):
    page, extract = page_of("corro")
    page.type(TEXT)
    page.until(page.surfaces)
    assert len(page.surfaces()) == len(extract(TEXT).entities)
    page.all("#entities button")[0].click()
    page.until(lambda: "the system corro cannot show the word-pair grid" in page["reason"].text)
    assert not page.all("#grid table")


def test_a_cell_with_several_tags_names_them_all(page_of):
    page, extract = page_of("mac")
    page.type(TEXT)
    page.until(page.surfaces)
    page.all("#entities button")[0].click()
    page.until(lambda: page.all("#reason .factor"))
    first = extract(TEXT).entities[0]
    assert f"{first.score:.3f}" in page["reason"].text
    page.all("td.part")[0].click()
    assert any(tag in page["readout"].text for tag in extract.predictor.tags)


def test_copies(page, extract):
    page.type(TEXT)
    wanted = extract(TEXT).entities
    page["copy-brat"].click()
    page.until(lambda: "Copied as brat" in page["status"].text)
    lines = page.clipboard().splitlines()
    read = [parse_entity(line, TEXT) for line in lines]
    assert [(e.label, e.fragments, e.text) for e in read] == [
        (e.label, e.fragments, e.text) for e in wanted
    ]
    page["copy-json"].click()
    page.until(lambda: "Copied as JSON" in page["status"].text)
    value = json.loads(page.clipboard())
    assert value["text"] == TEXT
    assert [[tuple(f) for f in e["fragments"]] for e in value["entities"]] == [
        list(e.fragments) for e in wanted
    ]


def test_text_is_never_taken_for_html(page):
    page.type(HOSTILE)
    page.until(lambda: page.surfaces())
    for button in page.all("#entities button")[:8]:  # the model finds hundreds
        button.click()
        page.until(lambda: page["why"].is_displayed())
    time.sleep(0.3)
    assert page.driver.title == "trigner"
    assert page.all("main script") == page.all("main img") == []
    assert page.drawn() == HOSTILE


def test_a_dropped_file_keeps_its_own_characters(page, extract):
    text = "No pain.\r\n\r\nmy left leg hurt, no pain in arm,\r\nnumb after the tablet.\r\n"
    page.driver.execute_script(DROP, list(text.encode()), "note.txt")
    wanted = extract(text).entities
    assert wanted
    ranges = [", ".join(f"{a}–{b}" for a, b in entity.fragments) for entity in wanted]
    page.until(lambda: page.texts("#entities td.numbers") == ranges)
    page["copy-brat"].click()
    page.until(lambda: "Copied" in page["status"].text)
    for line in page.clipboard().splitlines():
        assert not isinstance(parse_entity(line, text), str)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [(b"\xff\xfe", "note.txt", "not encoded in UTF-8"), (b"text", "note.pdf", "not a .txt, .jsonl"),
     (b"{}", "notes.jsonl", "line 1 has no"), (b"a,b", "notes.csv", "names no column"),
     (b"x" * 20_001, "note.txt", "is larger than 20000 bytes")],
)  # fmt: skip
def test_files_that_cannot_be_loaded(page, content, name, message):
    page.driver.execute_script(DROP, list(content), name)
    page.until(lambda: message in page["problem"].text)
    page.type("my leg hurt.")
    assert not page["problem"].is_displayed()


TEXTS = ["my leg hurt, no pain.", 'left "arm", numb\nafter the tablet', "\N{GRINNING FACE} my leg"]


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_file_of_several_texts(page, extract, kind):
    lines = [json.dumps({"id": f"n{n}", "text": text}) for n, text in enumerate(TEXTS)]
    if kind == "csv":
        quoted = [text.replace('"', '""') for text in TEXTS]
        lines = ["id,text", *(f'n{n},"{text}"' for n, text in enumerate(quoted))]
    page.driver.execute_script(DROP, list("\n".join(lines).encode()), f"notes.{kind}")
    page.until(lambda: page.drawn() == TEXTS[0])
    assert page["place"].text == "1 of 3: n0"
    assert not page["previous"].is_enabled()
    page["next"].click()
    page.until(lambda: page.drawn() == TEXTS[1])
    assert page["place"].text == "2 of 3: n1"
    page["next"].click()
    page.until(lambda: page.surfaces() == expected(extract, TEXTS[2]))
    assert not page["next"].is_enabled()
    page.type("my arm, changed.")
    texts = [*TEXTS[:2], "my arm, changed."]
    rows = csv.DictReader(io.StringIO(saved(page)))
    wanted = [(f"n{n}", e) for n, text in enumerate(texts) for e in extract(text).entities]
    assert [
        (row["document"], row["label"], row["text"], row["fragments"], row["negated"])
        for row in rows
    ] == [
        (id, e.label, e.text, ";".join(f"{a} {b}" for a, b in e.fragments), "false")
        for id, e in wanted
    ]
    page["clear"].click()
    page.until(lambda: page.drawn() == "")
    assert not page["several"].is_displayed()


def saved(page):
    """What is saved as a CSV."""
    page.driver.execute_script(
        """
        window.saved = null;
        URL.createObjectURL = (blob) => {
          blob.text().then((text) => { window.saved = text; });
          return "#";
        };
        HTMLAnchorElement.prototype.click = () => {};
        """
    )
    page["save-csv"].click()
    return page.until(lambda: page.driver.execute_script("return window.saved"))


def test_nothing_found_says_what_the_model_knows(page):
    page.type("?")
    page.until(lambda: page["hint"].is_displayed())
    assert "Nothing was found. The model looks for" in page["hint"].text
    page.type(TEXT)
    assert not page["hint"].is_displayed()


def test_qualifiers_and_codes_are_shown_copied_and_saved(browser, exported_model, tmp_path):
    pytest.importorskip("rapidfuzz")
    vocabulary = tmp_path / "v.csv"
    vocabulary.write_text("code,name\nF1,left leg\n")
    options = ("--qualifiers", "--link", str(vocabulary), "--link-threshold", "0.3")
    with process(exported_model, *options) as (_, port):
        own = opened(browser, f"http://127.0.0.1:{port}")
        page = next(own)
        page.type("I had no pain in my left leg.")
        remarks = page.texts("#entities td.remarks")
        assert any(remark.startswith("negated") for remark in remarks)
        assert any(remark.endswith("F1 left leg") for remark in remarks)
        page["copy-brat"].click()
        page.until(lambda: "Copied as brat" in page["status"].text)
        notes = with_notes(
            Document("d", "I had no pain in my left leg."),
            [],
            [line for line in page.clipboard().splitlines() if not line.startswith("T")],
        )
        assert any("negated T" in extra.content for extra in notes.extras)
        rows = list(csv.DictReader(io.StringIO(saved(page))))
        assert {"true"} <= {row["negated"] for row in rows}
        assert {"left leg"} <= {row["name"] for row in rows}
        next(own, None)


def test_errors_of_the_service_are_shown(page):
    page.type("my leg hurt.")
    page.driver.execute_script(
        "const area = document.getElementById('text'); area.value = 'a '.repeat(15000);"
        "area.dispatchEvent(new Event('input'));"
    )
    page.until(lambda: "larger than 20000 bytes" in page["problem"].text)


def test_a_lone_surrogate_is_sent_as_one_character(page):
    page.driver.execute_script(
        "const area = document.getElementById('text'); area.value = 'my leg \\ud83d hurt';"
        "area.dispatchEvent(new Event('input'));"
    )
    page.until(lambda: page.drawn() == "my leg \ufffd hurt")


def test_every_control_is_reachable_by_keyboard_and_has_a_name(page):
    page.type(TEXT)
    page.driver.execute_script("document.body.focus(); window.scrollTo(0, 0);")
    reached = []
    for _ in range(200):
        ActionChains(page.driver).send_keys("\ue004").perform()  # Tab
        active, name = page.driver.execute_script(FOCUSED)
        if active == "BODY":
            break
        reached.append(active)
        assert name, active
    for wanted in (
        "open",
        "clear",
        "text",
        "threshold",
        "entity",
        "save-csv",
        "copy-json",
        "copy-brat",
    ):
        assert wanted in reached


def test_the_page_is_ready_within_a_second(page, address):
    page.driver.get(address + "/")
    page.until(lambda: "entit" in page["status"].text)
    ready = page.driver.execute_script(
        "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    )
    assert ready < 1000
    fetched = page.driver.execute_script(
        "return performance.getEntriesByType('resource').map(entry => entry.name)"
    )
    assert fetched
    assert all(name.startswith(address) for name in fetched)
