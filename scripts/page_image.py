"""Makes docs/images/service.png: the page of `trigner serve`, with the bundled model, in Chromium.

    python scripts/page_image.py

Needs chromium and its chromedriver.
"""

from __future__ import annotations

import base64
import shutil
import sys
from importlib import import_module
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
serving_process = import_module("serving_process")

OUT = ROOT / "docs" / "images" / "service.png"
WIDTH, HEIGHT = 1104, 1330  # pixels
TEXT = """The most common adverse reactions were headache, nausea and vomiting.
Two patients had swelling of the face and hands, and decreased red and white blood cell counts \
were seen after the second dose."""
TYPE = """
const area = document.getElementById("text");
area.value = arguments[0];
area.dispatchEvent(new Event("input", {bubbles: true}));
"""


def main() -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser") or ""
    for argument in ("--headless=new", "--no-sandbox", f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(argument)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        with serving_process.process("bundled") as (_, port):
            driver.get(f"http://127.0.0.1:{port}/")
            driver.execute_script(TYPE, TEXT)
            buttons = WebDriverWait(driver, 20).until(
                lambda page: page.find_elements("css selector", "#entities button")
            )
            next(button for button in buttons if " … " in button.text).click()
            WebDriverWait(driver, 20).until(
                lambda page: page.find_elements("css selector", "#grid table td")
            )
            area = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
            image = driver.execute_cdp_cmd(
                "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": area}
            )
        OUT.write_bytes(base64.b64decode(image["data"]))
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
