"""Draws figures 1 to 3 of Evfimievski, Gehrke and Srikant from sanitize.select_a_size_design.

usage: eval "$(scripts/server env 15)"; .local/venv/bin/python docs/figures/lowest_supports.py

Connects as libpq's variables say, to a database with the extension, and writes an SVG for each figure beside
this file.
"""

import math
from pathlib import Path

import psycopg

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 400, 70, 60, 30, 20
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44"]

FIGURES = [
    (
        "lowest_supports_breach",
        "breach level rho1, %",
        """SELECT level, lds FROM generate_series(1, 10) AS level,
               LATERAL sanitize.select_a_size_design(5, level / 100.0::float8)""",
    ),
    (
        "lowest_supports_size",
        "transaction size",
        """SELECT size, lds FROM generate_series(3, 10) AS size,
               LATERAL sanitize.select_a_size_design(size, 0.05)""",
    ),
    (
        "lowest_supports_transactions",
        "millions of transactions",
        """SELECT n, lds FROM unnest('{1,2,3,5,7,10,15,20}'::int[]) AS n,
               LATERAL sanitize.select_a_size_design(5, 0.05, transactions => n * 1000000::bigint)""",
    ),
]


def ticks(low, high):
    """About five round numbers that cover a range."""
    step = next(s for s in (0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5) if (high - low) / s <= 6)
    first = int(low / step)
    last = math.ceil(high / step - 1e-9)
    return [round(i * step, 2) for i in range(first, last + 1)]


def drawn(name, rows):
    """The SVG of a figure: per cent of the transactions, a line for each size of itemsets."""
    xs = [row[0] for row in rows]
    lines = [[100 * row[1][k] for row in rows] for k in range(3)]
    across, up = ticks(min(xs), max(xs)), ticks(0, max(map(max, lines)))

    def place(x, y):
        right = LEFT + (x - across[0]) / (across[-1] - across[0]) * (WIDTH - LEFT - RIGHT)
        return right, HEIGHT - BOTTOM - y / up[-1] * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for x in across:
        right, down = place(x, 0)
        parts.append(f'<text x="{right:.1f}" y="{down + 20:.1f}" text-anchor="middle">{x:g}</text>')
    for y in up:
        right, down = place(across[0], y)
        parts.append(f'<path d="M{right} {down:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{right - 8}" y="{down + 4:.1f}" text-anchor="end">{y:g}</text>')
    for k, (line, colour) in enumerate(zip(lines, COLOURS, strict=True)):
        points = [place(x, y) for x, y in zip(xs, line, strict=True)]
        path = "L".join(f"{right:.1f} {down:.1f}" for right, down in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        items = "1 item" if k == 0 else f"{k + 1} items"
        parts.append(
            f'<text x="{WIDTH - 150}" y="{TOP + 18 * (k + 1)}" fill="{colour}">{items}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 15}" text-anchor="middle">{name}</text>')
    parts.append(f'<text x="{LEFT}" y="18">lowest discoverable support, %</text>')
    return "\n".join(parts) + "\n</svg>\n"


def main():
    with psycopg.connect() as connection:
        for file, name, query in FIGURES:
            rows = connection.execute(query).fetchall()
            (HERE / f"{file}.svg").write_text(drawn(name, rows))


if __name__ == "__main__":
    main()
