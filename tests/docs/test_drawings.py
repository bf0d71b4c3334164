"""The pictures of the concepts are those that the script draws."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from docs.drawings import PICTURES
from support.golden import RENEWED

IMAGES = Path(__file__).parents[2] / "docs" / "images"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_is_drawn_and_says_what_it_shows(name):
    drawn, place = PICTURES[name](), IMAGES / f"{name}.svg"
    if RENEWED:
        place.write_text(drawn, "utf-8")

    assert place.read_text("utf-8") == drawn
    assert ET.fromstring(drawn).get("aria-label")
    assert f"(images/{name}.svg)" in (IMAGES.parent / "concepts.md").read_text("utf-8")
