"""The frame of every page: one file without network access, in which names are only text."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from whyscan.reports import words
from whyscan.reports.document import version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

UNIT = re.compile(r"(\d) (%|[kMGTP]?B\b)")
STYLES = ("page.css",)
SCRIPTS = ("elements.js", "theme.js", "sorting.js", "shell.js")


def document(
    template: str, *, scripts: Sequence[str], styles: Sequence[str] = (), **terms: Any
) -> str:
    """Write a whole page: the assets that all pages share, then the page's own."""
    from markupsafe import Markup

    style = "".join(map(_asset, (*STYLES, *styles)))
    script = f'"use strict";\n{{\n{"".join(map(_asset, (*SCRIPTS, *scripts)))}}}\n'
    return _rendered(
        template,
        version=version(),
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704 - our own assets
        script=Markup(script),  # noqa: S704 - our own assets
        **terms,
    )


def piece(template: str, **terms: Any) -> str:
    """Write the HTML for a notebook: without a script, in the notebook's colours."""
    return _rendered(template, **terms)


def unbroken(text: str) -> str:
    """Keep a number and its unit on one line."""
    return UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)


def capital(text: str) -> str:
    """Write the first letter large, as at the beginning of a sentence on a page."""
    return text[:1].upper() + text[1:]


def _rendered(template: str, **terms: Any) -> str:
    return _environment().get_template(template).render(terms)


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Return the content security policy: nothing is loaded, and only these assets run."""
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
        loader=jinja2.PackageLoader("whyscan.reports.pages", "assets"),
        autoescape=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "capital": capital,
        "counted": words.counted,
        "inert": words.inert,
        "inert_sql": words.inert_sql,
        "percent": words.percent,
        "size": words.size,
        "sizes": words.sizes,
        "unbroken": unbroken,
    }
    return environment
