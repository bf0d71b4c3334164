"""The picture of the README is a report of today: WHYSCAN_GOLDEN=write draws it again."""

from base64 import b64encode
from pathlib import Path

import pytest

import whyscan
from support.golden import RENEWED
from whyscan.demo.events import write_events

pytestmark = pytest.mark.xdist_group("browser")

IMAGES = Path(__file__).parents[3] / "docs" / "images"
PREDICATE = "day = DATE '2025-06-03' AND user_id = 48151"
WINDOW = {"width": 1100, "height": 1250}

# Fonts differ from machine to machine: pictures are compared as one sees them from a distance.
DIFFERENCE = """async pictures => {
  const pixels = await Promise.all(pictures.map(async data => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const canvas = new OffscreenCanvas(32, 32).getContext("2d");
    canvas.imageSmoothingQuality = "high";
    canvas.drawImage(image, 0, 0, 32, 32);
    return canvas.getImageData(0, 0, 32, 32).data;
  }));
  return pixels[0].reduce((sum, v, i) => sum + Math.abs(v - pixels[1][i]), 0) / pixels[0].length;
}"""
AT_MOST = 6


# Where this test keeps its table is nobody's business.
SHORT_NAME = """() => {
  for (const each of document.querySelectorAll("code"))
    if (each.textContent.startsWith("/")) each.textContent = "lake/events";
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("picture")
    write_events(folder)
    return whyscan.open(folder / "events").explain(PREDICATE, verbose=True)


@pytest.fixture
def page_in(show, report):
    def opened(scheme):
        page = show(report, viewport=WINDOW, color_scheme=scheme).page
        page.evaluate(SHORT_NAME)
        return page

    return opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_of_the_readme_is_what_a_report_looks_like(page_in, scheme):
    page = page_in(scheme)
    drawn = page.screenshot()
    kept = IMAGES / f"explain-{scheme}.png"
    if RENEWED:
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(drawn)

    assert page.evaluate(DIFFERENCE, [encoded(drawn), encoded(kept.read_bytes())]) < AT_MOST


def test_pictures_of_other_pages_differ(page_in):
    light = page_in("light").screenshot()
    page = page_in("dark")

    assert page.evaluate(DIFFERENCE, [encoded(light), encoded(page.screenshot())]) > AT_MOST


def encoded(picture):
    return b64encode(picture).decode()
