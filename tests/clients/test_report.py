"""The privacy report as a client sees it: the page is well-formed, what the table holds is text on it, it
can be cancelled, and it works in a database of another encoding."""

from html.parser import HTMLParser

import psycopg
import pytest
from helpers import Database, assert_stops, fresh_name

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</svg></style><script>alert(2)</script>",
    "' onload='alert(3)",
    "&lt;b&gt;",
]
VOID = {"meta"}


class Page(HTMLParser):
    """A page as a parser sees it: its elements, with attributes and text, and whether they are closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open, self._text = [], [], []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] != "style":
            self._text.append(data)

    @property
    def text(self):
        return " ".join(self._text)

    def names(self):
        return [name for name, _ in self.elements]


@pytest.fixture(scope="module")
def tables(database):
    with database.admin() as admin:
        for table in ("visits", "visits_released", "visits_other"):
            admin.execute(f"CREATE TABLE {table} (ward text, age int, note text)")
        rows = [(f"ward {i % 4}", 20 + i % 50, HOSTILE[i % 5]) for i in range(400)]
        for table, kept in (("visits", 400), ("visits_released", 400), ("visits_other", 300)):
            with admin.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for i, row in enumerate(rows[:kept]):
                    copy.write_row([None, *row[1:]] if table != "visits" and i % 9 == 0 else row)
        hostile = '"<script>alert(4)</script>"'
        admin.execute(f"CREATE VIEW {hostile} AS SELECT * FROM visits_released")
    return database


def page(connection, original, released, options="{}"):
    query = "SELECT sanitize.privacy_report_html(%s::regclass, %s::regclass, %s::jsonb)"
    return connection.execute(query, [original, released, options]).fetchone()[0]


def test_the_page_is_well_formed_and_every_value_is_text(tables):
    connection = tables.connect()
    options = """{"compare": "visits_other", "title": "<script>alert(5)</script>"}"""
    shown = Page(page(connection, "visits", '"<script>alert(4)</script>"', options))
    assert not {"script", "img", "iframe", "link", "object", "form", "b"} & set(shown.names())
    policy = {
        "http-equiv": "Content-Security-Policy",
        "content": "default-src 'none'; style-src 'unsafe-inline'",
    }
    assert ("meta", policy) in shown.elements
    for name, attributes in shown.elements:
        assert not [key for key in attributes if key.startswith("on") or key in ("src", "style")]
        assert attributes.get("href", "#").startswith("#"), name
    for hostile in HOSTILE:
        assert hostile in shown.text
    assert "<script>alert(4)</script>" in shown.text
    assert "<script>alert(5)</script>" in shown.text


def test_headings_are_in_order_and_charts_have_words(tables):
    shown = Page(page(tables.connect(), "visits", "visits_released"))
    levels = [int(name[1]) for name in shown.names() if name in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))
    ids = [attributes["id"] for _, attributes in shown.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    charts = [attributes for name, attributes in shown.elements if name == "svg"]
    assert len(charts) >= 8
    for chart in charts:
        assert chart["role"] == "img" and set(chart["aria-labelledby"].split()) <= set(ids)
    assert ("html", {"lang": "en"}) in shown.elements
    assert "not for publishing" in shown.text and "No guarantee was stated" in shown.text


def test_a_second_release_is_read_with_the_callers_rights(tables):
    user = tables.regular_user("SELECT ON visits", "SELECT ON visits_released")
    connection = tables.connect(user)
    page(connection, "visits", "visits_released")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        page(connection, "visits", "visits_released", '{"compare": "visits_other"}')


def test_the_report_does_not_depend_on_the_number_of_threads(tables):
    query = "SELECT sanitize.privacy_report('visits', 'visits_released') - 'made_at'"
    found = []
    for threads in (1, 3):
        connection = tables.connect()
        connection.execute(f"SET pg_sanitize.threads = {threads}")
        found.append(connection.execute(query).fetchone())
    assert found[0] == found[1]


def test_other_encodings():
    database = Database(fresh_name("latin1"), encoding="LATIN1")
    try:
        connection = database.connect()
        connection.execute("CREATE TABLE places AS SELECT 'Münster' AS place, 1 AS n")
        shown = Page(page(connection, "places", "places"))
        assert "Münster" in shown.text
        connection.execute("SELECT sanitize.privacy_report('places', 'places')")
    finally:
        database.drop()


@pytest.mark.parametrize("how", ["cancel", "terminate"])
def test_a_comparison_can_be_stopped(database, how):
    with database.admin() as admin:
        admin.execute("SET client_min_messages = warning")
        admin.execute("DROP TABLE IF EXISTS many")
        cells = ", ".join(
            f"abs(hashint8(i * 40 + {c})::bigint) % {5 + c} AS c{c}" for c in range(30)
        )
        admin.execute(f"CREATE TABLE many AS SELECT {cells} FROM generate_series(1, 60000) AS i")
    assert_stops(database, "comparing", "SELECT * FROM sanitize.utility('many', 'many')", how)
