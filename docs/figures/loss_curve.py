"""Draws k against loss, as sanitize.loss_curve tells it, for the guide's table.

usage: eval "$(scripts/server env 15)"; .local/venv/bin/python docs/figures/loss_curve.py

Connects as libpq's variables say, to a database with the extension; makes the guide's table in a schema of its
own that is dropped again, and writes guide.svg beside this file.
"""

import math
import re
from pathlib import Path

import psycopg

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 60, 50, 40, 150
COLOURS = ["#c8553d", "#1b6ca8", "#3a7d44"]


def drawn(ks, lines):
    """The SVG of lines by name, a loss for each k; k on a logarithmic axis."""
    highest = max(map(max, lines.values()))
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2) if highest / s <= 6)
    top = step * math.ceil(highest / step)
    span = math.log(ks[-1] / ks[0])

    def place(k, loss):
        right = LEFT + math.log(k / ks[0]) / span * (WIDTH - LEFT - RIGHT)
        return right, HEIGHT - BOTTOM - loss / top * (HEIGHT - BOTTOM - TOP)

    told = "; ".join(
        f"{name}: " + ", ".join(f"{loss:.3f} at k = {k}" for k, loss in zip(ks, losses))
        for name, losses in lines.items()
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        ' font-family="sans-serif" font-size="13">',
        f"<title>k against loss</title><desc>{told}</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for number in range(round(top / step) + 1):
        right, down = place(ks[0], number * step)
        parts.append(f'<path d="M{right:.1f} {down:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{right - 8:.1f}" y="{down + 4:.1f}" text-anchor="end">{number * step:g}</text>'
        )
    for k in ks:
        right, down = place(k, 0)
        parts.append(f'<text x="{right:.1f}" y="{down + 20:.1f}" text-anchor="middle">{k}</text>')
    for (name, losses), colour in zip(lines.items(), COLOURS):
        points = [place(k, loss) for k, loss in zip(ks, losses)]
        path = "L".join(f"{right:.1f} {down:.1f}" for right, down in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        right, down = points[-1]
        parts.append(f'<text x="{right + 8:.1f}" y="{down + 4:.1f}" fill="{colour}">{name}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">k</text>')
    parts.append(f'<text x="{LEFT - 40}" y="22">mean loss of a cell</text>')
    return "\n".join(parts) + "\n</svg>\n"


def main():
    guide = (HERE.parent / "guide.md").read_text()
    blocks = re.findall(r"^```sql\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    declarations = [line for line in guide.splitlines() if "declare_hierarchy('visitors'" in line]
    ks = (2, 3, 5, 10, 20, 50)
    with psycopg.connect() as connection:
        connection.execute("CREATE SCHEMA guide")
        connection.execute("SET search_path = guide")
        connection.execute(blocks[0])
        for declaration in declarations:
            connection.execute(declaration)
        lines = {}
        for name, generalize in (("blanking only", False), ("general values", True)):
            rows = connection.execute(
                "SELECT k, loss FROM sanitize.loss_curve('visitors', %s, '{birth_date,postcode,sex}', %s)",
                (list(ks), generalize),
            ).fetchall()
            lines[name] = [loss for _, loss in rows]
        connection.rollback()
    (HERE / "guide.svg").write_text(drawn(ks, lines))


if __name__ == "__main__":
    main()
