"""What a page is made of, and names that try to be more than names."""

from __future__ import annotations

from html.parser import HTMLParser

MARKUP = "<img src=x onerror=alert(1)>"
ENDING = "</script><script>alert(2)</script>"
NAMES = [
    MARKUP,
    ENDING,
    "<!--<script>",
    "]]><svg/onload=alert(3)>",
    "javascript:alert(4)",
    "{{ 7 * 7 }}{% raw %}",
    '"><b onclick="alert(5)">&lt;i&gt;',
    "\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe",
    "\x1b[31mred\x07\x00",
    "line\N{LINE SEPARATOR}para\N{PARAGRAPH SEPARATOR}\n\r\t",
    "__proto__",
    "é漢\N{GRINNING FACE}ש",
]
LAST = "\U0010ffff"
# What a reader sees of what a terminal or a browser would obey.
SEEN = {
    "\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe": "\\u202egpj.exe",
    "\x1b[31mred\x07\x00": "\\x1b[31mred\\x07\\x00",
    "line\N{LINE SEPARATOR}para\N{PARAGRAPH SEPARATOR}\n\r\t": "line\\u2028para\\u2029\\n\\r\\t",
}


# The value of a text with braces is unknown, because it may be a template.
HARMLESS = [
    f"{'{{ harmless }}' if '{{' in name else 'harmless'}{at}" for at, name in enumerate(NAMES)
]

# How many elements of each kind a page has.
ELEMENTS = """() => Object.fromEntries(Object.entries(Object.groupBy(
  document.querySelectorAll('*'), e => e.localName)).map(([tag, all]) => [tag, all.length]))"""


class Elements(HTMLParser):
    """The elements in order, and the text without what styles."""

    EMPTY = frozenset({"br", "link", "meta"})

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the parser's
        self.tags.append(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data.strip())
