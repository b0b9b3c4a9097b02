"""What the lines of a long call say: each phase is complete once."""

import re
from collections import Counter

LINE = re.compile(r"pg_sanitize: ([^,]+), (\d+) %,")


def lines_of(connection, query):
    """The lines that a call sends."""
    said = []
    connection.add_notice_handler(lambda notice: said.append(notice.message_primary))
    connection.execute("SET pg_sanitize.progress = '1ms'")
    connection.execute(query)
    return said


def test_a_phase_is_complete_once(connection):
    connection.execute(
        """CREATE TABLE many AS
        SELECT i % 7 AS a, i % 11 AS b, i::bigint * 7919 % 101 AS c, i::bigint * 104729 % 1009 AS d, i % 13 AS e, i % 17 AS f
        FROM generate_series(1, 60000) AS i"""
    )
    said = lines_of(
        connection,
        "SELECT count(*) FROM sanitize.k_anonymize(NULL::many, 5, generalize => true)",
    )
    shares = [LINE.match(line).groups() for line in said if LINE.match(line)]
    assert shares, said
    complete = Counter(phase for phase, share in shares if share == "100")
    assert complete
    assert all(times == 1 for times in complete.values()), complete
    # What is left to do after that has a word of its own.
    for phase in complete:
        after = [line for line in said if line.startswith(f"pg_sanitize: {phase},")]
        done = next(i for i, line in enumerate(after) if " 100 %," in line)
        assert all(" finishing," in line for line in after[done + 1 :])
