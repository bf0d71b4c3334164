"""The documentation as a site: it builds strictly, its links lead somewhere, nothing is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.xdist_group("docs")  # one site


class Page(HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes_of_tag = dict(attrs)
        if attributes_of_tag.get("id"):
            self.anchors.add(attributes_of_tag["id"])
        if tag == "a" and attributes_of_tag.get("href"):
            self.links.append(attributes_of_tag["href"])
        if attributes_of_tag.get("src"):
            self.loads.append(attributes_of_tag["src"])
        if (
            tag == "link"
            and attributes_of_tag.get("href")
            and attributes_of_tag.get("rel") != "canonical"
        ):
            self.loads.append(attributes_of_tag["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path: Page(path.read_text("utf-8")) for path in folder.rglob("*.html")}


def is_elsewhere(link):
    return link.startswith(("http://", "https://", "mailto:"))


def test_every_link_inside_the_site_leads_to_a_page_and_an_anchor(site):
    def is_broken(page, link):
        address, anchor = urldefrag(link)
        there = (page.parent / unquote(address)).resolve() if address else page
        if there.is_dir():
            there /= "index.html"
        if there not in site:
            return not there.exists()
        return bool(anchor) and unquote(anchor) not in site[there].anchors

    broken = [
        (page.name, link)
        for page, contents in site.items()
        if page.name != "404.html"  # its links begin at the root of whatever serves it
        for link in contents.links
        if not is_elsewhere(link) and is_broken(page, link)
    ]

    assert sum(len(contents.links) for contents in site.values()) > 100
    assert broken == []


def test_pages_load_nothing_from_anywhere(site):
    loaded = {load for contents in site.values() for load in contents.loads}

    assert [load for load in loaded if is_elsewhere(load) or load.startswith("//")] == []
