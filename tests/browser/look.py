"""Looks at reports in a real browser: light, dark, on a phone and on paper.

Makes two reports on the ARX adult data, one k-anonymous and one synthetic, opens each in headless
Chromium and checks what is drawn. scripts/browser runs it; with a folder as argument it also writes the
pictures of the documentation there.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PG_SANITIZE_DATA") or ROOT.parent / "shared" / "data")
CHROMIUM = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]

# The reports: a table of rows like adult's, how it is made, and the report's options.
REPORTS = {
    "adult_k_anonymous": (
        "SELECT * FROM sanitize.k_anonymize(NULL::adult, 6)",
        {"method": "k_anonymize", "options": {"k": 6}, "title": "Adult, 6-anonymous"},
    ),
    "adult_synthetic": (
        "SELECT * FROM sanitize.dp_synthesize(NULL::adult, 1)",
        {
            "method": "dp_synthesize",
            "options": {"epsilon": 1},
            "title": "Adult, synthetic with epsilon 1",
        },
    ),
}

# What a page says of itself: how wide it is, the colour behind it, and what it draws.
PROBE = """<script>
addEventListener('load', () => {
  const charts = [...document.querySelectorAll('svg')];
  const box = element => element.getBoundingClientRect();
  const texts = charts.flatMap(chart => [...chart.querySelectorAll('text')]);
  document.body.dataset.seen = JSON.stringify({
    wide: document.documentElement.scrollWidth,
    room: innerWidth,
    page: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    charts: charts.length,
    flat: charts.filter(chart => box(chart).height < 10 || box(chart).width < 200).length,
    small: texts.filter(text => box(text).height > 0 && box(text).height < 8).length,
    outside: texts.filter(text => box(text).right > box(text.ownerSVGElement).right + 14
      || box(text).left < box(text.ownerSVGElement).left - 2).map(text => text.textContent),
  });
});
</script>"""


def make_tables(connection):
    """The table adult with its domains declared, and a table for each report."""
    connection.execute("CREATE EXTENSION pg_sanitize")
    with (DATA / "arx-adult" / "adult.csv").open() as file:
        names, *rows = csv.reader(file, delimiter=";")
    names = [name.replace("-", "_") for name in names]
    connection.execute(f"CREATE TABLE adult ({', '.join(f'{name} text' for name in names)})")
    with connection.cursor().copy("COPY adult FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    connection.execute("ALTER TABLE adult ALTER age TYPE int USING age::int")
    # In earnest a domain is what may occur, written down without looking; the values of this table are
    # known to everybody.
    for name in names:
        connection.execute(
            f"SELECT sanitize.declare_domain('adult', '{name}',"
            f" ARRAY(SELECT DISTINCT {name}::text FROM adult))"
        )
    for name, (query, _) in REPORTS.items():
        connection.execute(f"CREATE TABLE {name} AS {query}")


def page(connection, release, options):
    query = "SELECT sanitize.privacy_report_html('adult', %s::regclass, %s)"
    return connection.execute(query, [release, json.dumps(options)]).fetchone()[0]


def chromium(*arguments):
    """Chromium ends by itself once it has done what the arguments ask for."""
    command = [*CHROMIUM, f"--user-data-dir={tempfile.gettempdir()}/pg_sanitize_look", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def seen(folder, text, *arguments):
    """What the browser says of a page. Its own policy forbids scripts, ours among them: the copy that is
    asked has none."""
    copy = folder / "probed.html"
    without = re.sub(r"<meta http-equiv=[^>]*>", "", text)
    copy.write_text(without.replace("</body>", PROBE + "</body>"))
    shown = chromium("--dump-dom", "--virtual-time-budget=2000", *arguments, copy.as_uri())
    found = re.search(r'data-seen="([^"]*)"', shown)[1].replace("&quot;", '"').replace("&amp;", "&")
    return json.loads(found)


def check(folder, name, text):
    light = seen(folder, text, "--window-size=1200,900")
    assert (light["page"], light["charts"] > 10) == ("rgb(255, 255, 255)", True), light
    dark = seen(folder, text, "--window-size=1200,900", "--blink-settings=preferredColorScheme=0")
    assert dark["page"] == "rgb(18, 22, 27)", dark
    # The window of a headless browser is never narrower than 500: a frame is.
    phone = folder / "phone.html"
    phone.write_text(framed(folder, text))
    narrow = chromium(
        "--dump-dom", "--virtual-time-budget=3000", "--window-size=600,900", phone.as_uri()
    )
    small = json.loads(
        re.search(r"SEEN(\{.*?\})SEEN", narrow)[1].replace("&quot;", '"').replace("&amp;", "&")
    )
    assert small["room"] == 360 and small["wide"] <= 360, f"{name} is {small['wide']} wide"
    for found in (light, dark, small):
        assert not found["flat"] and not found["small"] and not found["outside"], (name, found)
    printed = folder / f"{name}.pdf"
    chromium(
        "--no-pdf-header-footer", f"--print-to-pdf={printed}", (folder / f"{name}.html").as_uri()
    )
    assert printed.read_bytes().startswith(b"%PDF") and printed.stat().st_size > 20_000
    print(f"{name}: {len(text) // 1000} kB, {light['charts']} charts")


def framed(folder, text):
    """A page that shows another in a frame of a phone's width, and what that says of itself."""
    inner = folder / "inner.html"
    without = re.sub(r"<meta http-equiv=[^>]*>", "", text)
    tell = PROBE.replace(
        "document.body.dataset.seen = JSON.stringify(", "parent.postMessage(JSON.stringify("
    ).replace("  });\n});", "  }), '*');\n});")
    inner.write_text(without.replace("</body>", tell + "</body>"))
    return f"""<!DOCTYPE html><body><script>addEventListener('message', event => {{
        document.body.append('SEEN' + event.data + 'SEEN') }})</script>
        <iframe src="{inner.as_uri()}" width="360" height="800" style="border:0"></iframe></body>"""


def picture(folder, name, file, height, *arguments):
    chromium(
        f"--screenshot={file}",
        f"--window-size=1080,{height}",
        *arguments,
        (folder / f"{name}.html").as_uri(),
    )


def main(pictures=None):
    folder = Path(tempfile.mkdtemp(prefix="pg_sanitize_look."))
    with psycopg.connect(autocommit=True) as connection:
        make_tables(connection)
        for name, (_, options) in REPORTS.items():
            text = page(connection, name, options)
            (folder / f"{name}.html").write_text(text)
            check(folder, name, text)
            if pictures:
                picture(folder, name, Path(pictures).resolve() / f"{name}.png", 1500)
        first, second = REPORTS
        both = {"compare": second, "compare_method": "dp_synthesize"}
        both = {**REPORTS[first][1], **both, "compare_options": {"epsilon": 1}}
        text = page(connection, first, both)
        (folder / "both.html").write_text(text)
        check(folder, "both", text)
    print(f"pages and PDFs: {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:])
