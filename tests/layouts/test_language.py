"""The language of layouts: what it reads, how it is written, and where it points at a mistake."""

import pytest

from whyscan.errors import SyntaxProblem
from whyscan.layouts.language import parse_layout

READ = {
    "sort by user_id": "sort by user_id",
    "SORT BY (a DESC, b ASC)": "sort by a desc, b",
    "partition by day(ts), bucket(16, id) sort by user_id file size 256MB": (
        "partition by day(ts), bucket(16, id) sort by user_id file size 244MiB"
    ),
    "partition by truncate(2, name), `a b`.c": "partition by truncate(2, name), `a b`.c",
    "partition by none": "partition by none",
    "zorder by (a, b)": "zorder by a, b",
    "hilbert by a, b": "cluster by a, b",
    "cluster by `it``s`": "cluster by `it``s`",
    "file size 1 GiB row group size 128MiB": "file size 1GiB row group size 128MiB",
    "statistics on a, b.c": "statistics on a, b.c",
    "bloom on (a, `b c`)": "bloom on a, `b c`",
    "order manifests by ts, a": "order manifests by ts, a",
}


@pytest.mark.parametrize(("text", "written"), READ.items())
def test_a_layout_is_read_and_written_as_it_is_read(text, written):
    layout = parse_layout(text)

    assert str(layout) == written
    assert str(parse_layout(str(layout))) == written


WRONG = {
    "": ("a layout has at least one clause", ""),
    "sorted by a": ("this does not begin a clause", "sorted"),
    "sort a": ("by is expected here", "a"),
    "sort by": ("the layout ends where a column is expected", ""),
    "sort by a, ,": ("a column is expected here", ","),
    "sort by (a, b": ("the layout ends where ) is expected", ""),
    "sort by a sort by b": ("this clause stands twice", "sort"),
    "sort by a zorder by b": ("this clause stands twice", "zorder"),
    "partition by week(ts)": ("this is no transform", "week"),
    "partition by void(ts)": ("this is no transform", "void"),
    "file size a": ("not a size: 'a'", "a"),
    "file size 0MB": ("a size is more than nothing", "0"),
    "order by a": ("manifests is expected here", "by"),
}


@pytest.mark.parametrize(("text", "message", "word"), [(t, *w) for t, w in WRONG.items()])
def test_a_mistake_is_underlined_and_has_a_hint(text, message, word):
    with pytest.raises(SyntaxProblem) as caught:
        parse_layout(text)

    error = caught.value
    assert error.message == message
    assert text[error.span.start : error.span.end] == word
    assert error.hint
