"""The page: what needs no script is written out; scripts draw the charts and the file table."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from whyscan.explain import phrases, wording
from whyscan.explain.document import version
from whyscan.explain.html.bars import part_of, segments
from whyscan.explain.html.data import files_json
from whyscan.explain.proofs import PROOFS

if TYPE_CHECKING:
    from jinja2 import Environment

    from whyscan.explain.report import Report

UNIT = re.compile(r"(\d) (%|[kMGTP]?B\b)")
SCRIPTS = ("elements.js", "theme.js", "values.js", "files.js", "chart.js", "table.js", "start.js")


def page(report: Report) -> str:
    """A whole document. A report that lists no files has neither charts nor the file table."""
    from markupsafe import Markup

    style = _asset("page.css")
    script = f'"use strict";\n{{\n{"".join(map(_asset, SCRIPTS))}}}\n'
    listing = report.listing
    # What is marked as safe: our own assets, and JSON without `<`, `>` and `&`.
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            report=report,
            version=version(),
            policy=_policy(style, script),
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            data=None if listing is None else Markup(files_json(listing)),  # noqa: S704
        )
    )


def fragment(report: Report) -> str:
    """What a notebook shows: no script, and colours that follow the notebook's."""
    return _environment().get_template("fragment.html.j2").render(report=report)


def unbroken(text: str) -> str:
    """No line ends between a number and its unit."""
    return UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded, and no style or script runs but the ones with these hashes."""
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("whyscan.explain.html", "assets"),
        autoescape=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= _words()
    return environment


def _words() -> dict[str, Any]:
    """The words of the text report, and its numbers."""
    return {
        "answer": phrases.answer,
        "share_read": phrases.share_read,
        "why": phrases.why,
        "fate": phrases.fate,
        "fate_without_rows": phrases.fate_without_rows,
        "blind": phrases.blind,
        "overlapping": phrases.overlapping,
        "proofs": PROOFS,
        "removed": phrases.removed,
        "ground": phrases.ground,
        "gate": phrases.gate,
        "level_names": phrases.LEVEL_NAMES,
        "reasons": wording.REASONS,
        "counted": wording.counted,
        "inert": wording.inert,
        "inert_sql": wording.inert_sql,
        "percent": wording.percent,
        "size": wording.size,
        "sizes": wording.sizes,
        "unbroken": unbroken,
        "segments": segments,
        "part_of": part_of,
    }
