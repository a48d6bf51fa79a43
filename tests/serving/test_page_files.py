from __future__ import annotations

import re

from trigner.serving.page_files import page_files


def test_the_page_needs_no_other_files():
    files = page_files()
    html = files["/"].content.decode()
    named = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"', html)
    assert {f"/{name}" for name in named} <= set(files)
    for path, file in files.items():
        text = file.content.decode("utf-8")
        without_names = text.replace("http://www.w3.org/", "")  # namespaces, never fetched
        assert not re.search(r"https?://|\bimport\(|@import|url\(", without_names), path


def test_text_is_never_taken_for_html():
    for path, file in page_files().items():
        text = file.content.decode("utf-8")
        if path.endswith(".js"):
            forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|DOMParser"
            assert not re.search(forbidden, text), path
        if path == "/":
            assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)", text)


def test_a_browser_asks_whether_its_copy_is_still_good(serve):
    client = serve()
    for path, file in page_files().items():
        fresh = client.get(path)
        assert fresh.content == file.content
        assert fresh.headers["content-type"] == file.media_type
        again = client.get(path, headers={"If-None-Match": fresh.headers["etag"]})
        assert again.status_code == 304
        assert not again.content
