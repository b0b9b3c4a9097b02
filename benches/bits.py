"""Our bit sets beside the crate bitvec, in what the searches do most: why there is a kernel of ours."""

from _bench import example, show

header, *rows = [line.split("|") for line in example("table", "bits", 50).splitlines()]
show(
    "bit sets", [*header, "ratio"], [[*row, f"{float(row[2]) / float(row[1]):.1f}"] for row in rows]
)
