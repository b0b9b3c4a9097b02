"""A page of figures: tables, and what is to be said about them."""

import textwrap

from _bench import ROOT, show

WIDTH = 120


class Page:
    """Prints tables as they come and keeps them for a file of docs/figures."""

    def __init__(self, title, text):
        self.parts = [f"# {title}\n", *paragraphs(text)]

    def say(self, text):
        self.parts += paragraphs(text)

    def tell(self, title, text, header, rows):
        """A section: what its table shows, then the table."""
        show(title, header, rows)
        self.parts.append(f"## {title}")
        self.parts += paragraphs(text)
        lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in [header, *rows]]
        lines.insert(1, "|" + "---|" * len(header))
        self.parts.append("\n".join(lines) + "\n")

    def write(self, name):
        (ROOT / "docs" / "figures" / name).write_text("\n".join(self.parts))


def paragraphs(text):
    """The paragraphs of a text, filled; an empty line divides them."""
    return [
        textwrap.fill(" ".join(part.split()), WIDTH, break_long_words=False, break_on_hyphens=False)
        + "\n"
        for part in text.strip().split("\n\n")
    ]


def listed(words):
    """a, b and c."""
    *first, last = [str(word) for word in words]
    return ", ".join(first) + (" and " if first else "") + last
