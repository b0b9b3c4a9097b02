"""A picture of what grows with what: lines over two logarithmic axes, as SVG."""

import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 60, 50, 40, 150
COLOURS = ["#777777", "#c8553d", "#1b6ca8", "#3a7d44"]


def drawn(xs, lines, across, up):
    """The SVG of lines by name, a value for each of `xs`."""
    values = [value for line in lines.values() for value in line]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    span = math.log(xs[-1] / xs[0])

    def place(x, value):
        right = LEFT + math.log(x / xs[0]) / span * (WIDTH - LEFT - RIGHT)
        share = (math.log10(value) - low) / (high - low)
        return right, HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    told = "; ".join(
        f"{name}: " + ", ".join(f"{value:.2f} at {x}" for x, value in zip(xs, line))
        for name, line in lines.items()
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        ' font-family="sans-serif" font-size="13">',
        f"<title>{up} against {across}</title><desc>{told}</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(low, high + 1):
        right, down = place(xs[0], 10.0**power)
        parts.append(f'<path d="M{right:.1f} {down:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{right - 8:.1f}" y="{down + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        )
    for x in xs:
        right, down = place(x, 10.0**low)
        parts.append(f'<text x="{right:.1f}" y="{down + 20:.1f}" text-anchor="middle">{x}</text>')
    ends = []
    for (name, line), colour in zip(lines.items(), COLOURS):
        points = [place(x, value) for x, value in zip(xs, line)]
        path = "L".join(f"{right:.1f} {down:.1f}" for right, down in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        ends.append((points[-1][1], points[-1][0], name, colour))
    below = -math.inf
    for down, right, name, colour in sorted(ends):
        # Names of lines that end close together are moved apart.
        below = max(down + 4, below + 15)
        parts.append(f'<text x="{right + 8:.1f}" y="{below:.1f}" fill="{colour}">{name}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{across}</text>')
    parts.append(f'<text x="{LEFT - 40}" y="22">{up}</text>')
    return "\n".join(parts) + "\n</svg>\n"
