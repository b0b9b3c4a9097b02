"""Files of item numbers as tables: a line is a row."""

from collections import Counter


def lines_of(path):
    return [line.split() for line in path.read_text().splitlines() if line.strip()]


def columns_of(lines):
    """The column of each item, by its place in complete rows and by its neighbours in others.

    None if items have no such places: then each item is a column.
    """
    width = Counter(map(len, lines)).most_common(1)[0][0]
    columns = {}
    for line in lines:
        if len(line) == width:
            for place, item in enumerate(line):
                if columns.setdefault(item, place) != place:
                    return None
    for line in lines:
        for i, item in enumerate(line):
            if item not in columns:
                columns[item] = max((columns[x] + 1 for x in line[:i] if x in columns), default=0)
    return columns


def as_table(lines):
    """Rows of one cell per column; a blank is a cell that the line lacks.

    A place for each item if items have no columns, as in a file of shopping baskets.
    """
    columns = columns_of(lines) or {
        item: i for i, item in enumerate(sorted({x for line in lines for x in line}, key=int))
    }
    return placed(lines, columns)


def as_items(lines):
    """A column for each item, the most frequent first: how the authors' program numbers items."""
    counts = Counter(item for line in lines for item in line)
    order = sorted(counts, key=lambda item: (-counts[item], -int(item)))
    return placed(lines, {item: i for i, item in enumerate(order)})


def placed(lines, columns):
    width = max(columns.values()) + 1
    rows = []
    for line in lines:
        row = [r"\N"] * width
        for item in line:
            # Of one length, so that the order of values is the order of numbers.
            row[columns[item]] = item.rjust(3, "0")
        rows.append(row)
    return rows
