"""What the privacy officer reads of releases: the report follows the release's record, so that a release that
keeps its promise is not condemned and one that breaks it is; and the anonymity score reads general values as
what they cover."""

import json

import psycopg
import pytest

# The table of docs/guide.md, with people who come more than once.
VISITORS = """CREATE TABLE visitors AS
SELECT i AS id, i / 3 AS person, date '1930-01-01' + (i * 7919 % 33000) AS birth_date,
       (1000 + (i * i % 97) * (i % 89) / 97)::text AS postcode, (ARRAY['f', 'm'])[1 + i * 13 % 7 % 2] AS sex,
       (i * 37 % 1000) / 10.0 AS dose, (ARRAY['asthma', 'broken leg', 'HIV', 'migraine'])[1 + i * 31 % 11 % 4] AS diagnosis
  FROM generate_series(1, 3000) AS i"""
GUIDE = {
    "k": 5,
    "columns": ["birth_date", "postcode", "sex"],
    "generalize": True,
    "sensitive": "diagnosis",
    "l": 2,
    "t": 0.6,
}


@pytest.fixture(scope="module")
def visitors(database):
    with database.admin() as admin:
        admin.execute(VISITORS)
        publish(admin, "visitors_public", "k_anonymize", GUIDE)
    return database


def publish(connection, target, method, options):
    query = "SELECT sanitize.publish(%s, 'visitors', %s, %s)"
    return connection.execute(query, [target, method, json.dumps(options)]).fetchone()[0]


def report(connection, released, original="visitors", **options):
    query = "SELECT sanitize.privacy_report(%s::regclass, %s::regclass, %s::jsonb)"
    return connection.execute(query, [original, released, json.dumps(options)]).fetchone()[0]


def page(connection, released, original="visitors", **options):
    query = "SELECT sanitize.privacy_report_html(%s::regclass, %s::regclass, %s::jsonb)"
    return connection.execute(query, [original, released, json.dumps(options)]).fetchone()[0]


def score(connection, released, original="visitors", columns=None):
    query = "SELECT * FROM sanitize.anonymity_score(%s::regclass, %s::regclass, %s)"
    return connection.execute(query, [original, released, columns]).fetchone()


def test_a_published_release_is_judged_by_its_record(visitors):
    connection = visitors.connect()
    found = report(connection, "visitors_public")
    release = found["releases"][0]
    privacy = release["verdict"][0]
    assert privacy["tone"] == "good", privacy
    assert (
        "look like" in privacy["sentence"] or "looks like at least 4 others" in privacy["sentence"]
    )
    assert "birth_date, postcode and sex" in privacy["sentence"]
    assert release["class_columns"] == GUIDE["columns"] == found["known_columns"]
    assert release["classes"]["smallest"] >= 5
    # What is not promised to look alike is no part of the class, before or after.
    by_hand = connection.execute(
        "SELECT count(*) FROM (SELECT DISTINCT birth_date, postcode, sex FROM visitors) AS x"
    ).fetchone()[0]
    assert release["classes_before"]["number"] == by_hand
    seen = release["sensitive"]
    columns = "'visitors_public', 'diagnosis', '{birth_date,postcode,sex}'"
    measured = connection.execute(
        f"SELECT sanitize.l_diversity({columns}), sanitize.t_closeness({columns})"
    ).fetchone()
    assert (seen["distinct_l"], seen["t"]) == pytest.approx(measured)
    for said in ("different values (l; fewest:", "(t; most:"):
        assert said in privacy["sentence"]
    # Columns that the method leaves blank say nothing of what was lost in the others.
    assert found["columns"] == [*GUIDE["columns"], "diagnosis"]
    assert any("Left blank" in note and "person" in note for note in found["notes"])
    text = page(connection, "visitors_public")
    assert "not as the label says" not in text and "Values in a class (l)" in text


def test_the_same_is_said_of_a_table_whose_method_is_named(visitors):
    connection = visitors.connect()
    options = {"method": "k_anonymize", "options": GUIDE}
    release = report(connection, "visitors_public", **options)["releases"][0]
    assert release["verdict"][0]["tone"] == "good", release["verdict"]
    assert release["class_columns"] == GUIDE["columns"]


@pytest.mark.parametrize(
    "change, said",
    [
        (
            "UPDATE broken SET sex = 'x' WHERE ctid = (SELECT min(ctid) FROM broken)",
            "smallest class has 1 row",
        ),
        (
            "UPDATE broken SET diagnosis = 'HIV'",
            "promises 2 values of diagnosis in every class, but one has 1",
        ),
        (
            "UPDATE broken SET diagnosis = CASE WHEN sex = 'f' THEN CASE WHEN ctid < '(3,1)' THEN 'a' ELSE 'b' END"
            " ELSE CASE WHEN ctid < '(3,1)' THEN 'c' ELSE 'd' END END",
            None,
        ),
    ],
)
def test_a_release_that_was_changed_is_condemned(visitors, change, said):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TABLE broken AS SELECT * FROM visitors_public")
        connection.execute(change)
        options = {"method": "k_anonymize", "options": GUIDE}
        privacy = report(connection, "broken", **options)["releases"][0]["verdict"][0]
        assert privacy["tone"] == "poor" and "not as the label says" in privacy["sentence"]
        assert said is None or said in privacy["sentence"], privacy


def test_people_are_counted_where_a_unit_is_known(visitors):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        connection.execute(
            "CREATE TABLE trips AS SELECT i / 6 AS person, (i / 12) AS place FROM generate_series(0, 1199) AS i"
        )
        connection.execute("SELECT sanitize.protect('trips', 'person', 10, max_rows_per_unit => 6)")
        connection.execute(
            'SELECT sanitize.publish(\'trips_public\', \'trips\', \'k_anonymize\', \'{"k": 5, "columns": ["place"], "unit": ""}\')'
        )
        release = report(connection, "trips_public", original="trips")["releases"][0]
        # Every place has twelve rows of two people.
        people = release["people"]
        assert (people["unit"], people["classes"], people["surely_fewer"]) == ("person", 100, 100)
        assert (people["fewest"], people["fewest_at_most"]) == (2, 2)
        privacy = release["verdict"][0]
        assert privacy["tone"] == "fair"
        assert "by person, 100 of 100 classes hold fewer than 5 people" in privacy["sentence"]
        assert "Fewest people in a class" in page(connection, "trips_public", original="trips")


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM visitors WHERE id = 7",
        "UPDATE visitors SET sex = 'x', postcode = '1000', diagnosis = 'flu' WHERE id = 7",
        "INSERT INTO visitors_public (birth_date, postcode, sex, diagnosis)"
        " SELECT birth_date, postcode, sex, 'flu' FROM visitors_public LIMIT 1",
    ],
)
def test_one_changed_row_changes_no_reading(visitors, change):
    connection = visitors.connect()

    def found():
        release = report(connection, "visitors_public")["releases"][0]
        tones = [line["tone"] for line in release["verdict"]]
        return tones, {one["column"] for one in release["coarse"]}, "people" in release

    with connection.transaction(force_rollback=True):
        connection.execute(
            "SELECT sanitize.protect('visitors', 'person', 9, max_rows_per_unit => 3)"
        )
        before, lost = found(), score(connection, "visitors_public", columns=GUIDE["columns"])
        assert before[1] and before[2]
        connection.execute(change)
        assert found() == before
        after = score(connection, "visitors_public", columns=GUIDE["columns"])
        assert after == pytest.approx(lost, abs=0.01)


def test_people_are_not_counted_by_a_column_that_cannot_tell_them_apart(visitors):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        connection.execute(
            "CREATE TABLE trips AS SELECT i / 6 AS person, (i / 12) AS place FROM generate_series(0, 119) AS i"
        )
        connection.execute("SELECT sanitize.protect('trips', 'person', 10, max_rows_per_unit => 6)")
        options = '{"k": 5, "columns": ["place"]}'
        connection.execute(
            "SELECT sanitize.publish('trips_public', 'trips', 'k_anonymize', %s)", [options]
        )
        connection.execute(
            "ALTER TABLE trips ALTER person TYPE numeric USING round(person, (person % 10)::int)"
        )
        found = report(connection, "trips_public", original="trips")
        assert "people" not in found["releases"][0]
        assert any("People are not counted: person" in note for note in found["notes"])


@pytest.mark.parametrize("left_out", ["by the caller", "by the original"])
def test_what_is_not_compared_is_not_checked(visitors, left_out):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        options = {"columns": ["dose", "person"]} if left_out == "by the caller" else {}
        if not options:
            connection.execute("ALTER TABLE visitors DROP birth_date, DROP postcode, DROP sex")
        release = report(connection, "visitors_public", **options)["releases"][0]
        privacy = release["verdict"][0]
        assert privacy["tone"] == "fair" and "as promised" not in privacy["sentence"], privacy
        assert "Not checked: that every row looks like at least 4 others" in privacy["sentence"]
        assert release["not_compared"] == GUIDE["columns"]
        if options:
            options = {"columns": GUIDE["columns"]}
            privacy = report(connection, "visitors_public", **options)["releases"][0]["verdict"][0]
            assert privacy["tone"] == "fair"
            assert "Not checked: what is promised of diagnosis" in privacy["sentence"]
            assert "are not hidden" not in privacy["sentence"]


@pytest.mark.parametrize("style", ["German", "SQL, DMY", "Postgres"])
def test_dates_are_read_whatever_the_session_writes(visitors, style):
    connection = visitors.connect()

    def found():
        release = report(connection, "visitors_public")["releases"][0]
        return release["coarse"], release["columns"]

    with connection.transaction(force_rollback=True):
        connection.execute("SET LOCAL datestyle = 'ISO, MDY'")
        expected = found()
        connection.execute(f"SET LOCAL datestyle = '{style}'")
        assert found() == expected


@pytest.mark.parametrize("ranges", [{}, {"ranges": "range"}])
def test_times_are_read_in_the_zone_that_they_were_published_in(visitors, ranges):
    connection = visitors.connect()
    options = {"k": 5, "columns": ["seen"], "generalize": True, **ranges}
    with connection.transaction(force_rollback=True):
        connection.execute("SET LOCAL timezone = 'Asia/Tokyo'")
        connection.execute("SET LOCAL datestyle = 'German'")
        connection.execute(
            "CREATE TABLE seen AS SELECT timestamptz '2020-01-01 00:30+09' + i * interval '5 hours' AS seen"
            " FROM generate_series(1, 600) AS i"
        )
        query = "SELECT sanitize.publish('seen_public', 'seen', 'k_anonymize', %s)"
        connection.execute(query, [json.dumps(options)])
        release = report(connection, "seen_public", original="seen")["releases"][0]
        assert release["coarse"] and release["columns"][0]["loss"] < 0.5, release["columns"]
        assert all(one["values"] > 1 for one in release["coarse"])


def test_endless_dates_are_shown_beside_ranges(visitors):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        connection.execute("UPDATE visitors SET birth_date = 'infinity' WHERE id < 3")
        values = report(connection, "visitors_public")["releases"][0]["columns"][0]["values"]
        names = [value["value"] for value in values]
        assert "1940 to 1959" in names and "infinity" in names, names


def test_columns_come_and_go(visitors):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        connection.execute("ALTER TABLE visitors ADD COLUMN ward text DEFAULT 'x'")
        found = report(connection, "visitors_public")
        assert found["releases"][0]["verdict"][0]["tone"] == "good"
        assert any("ward" in note and "newer than the release" in note for note in found["notes"])
        connection.execute("ALTER TABLE visitors DROP COLUMN sex")
        found = report(connection, "visitors_public")
        assert any("sex" in note and "dropped from the original" in note for note in found["notes"])
        assert "sex" not in found["columns"]
        with pytest.raises(psycopg.errors.UndefinedColumn, match="ward"), connection.transaction():
            report(connection, "visitors_public", columns=["ward", "postcode"])


def test_a_release_from_another_table_is_told(visitors):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TABLE others AS SELECT * FROM visitors")
        notes = report(connection, "visitors_public", original="others")["notes"]
        assert any("published from another table" in note for note in notes)


def test_charts_have_ranges_and_every_bar(visitors):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        for k in (5, 50):
            connection.execute(
                f"CREATE TABLE at_{k} AS SELECT * FROM sanitize.k_anonymize(NULL::visitors, {k},"
                " columns => '{birth_date,postcode,dose,diagnosis}', generalize => true)"
            )
        found = report(
            connection, "at_5", compare="at_50", columns=["birth_date", "postcode", "dose"]
        )
        first, second = (release["columns"] for release in found["releases"])
        for ours, theirs in zip(first, second):
            names = [value["value"] for value in ours["values"]]
            assert names == [value["value"] for value in theirs["values"]]
            assert sum("other" in (name or "") for name in names) <= 1
            for column in (ours, theirs):
                for when in ("original", "released"):
                    assert sum(value[when] for value in column["values"]) == pytest.approx(1)
        dates, doses = ([value["value"] for value in first[i]["values"]] for i in (0, 2))
        assert dates[:2] == ["1920 to 1939", "1940 to 1959"], dates
        assert all(len(end) <= 4 for dose in doses if dose for end in dose.split(" to ")), doses


def test_coarse_values_are_explained(visitors):
    connection = visitors.connect()
    release = report(connection, "visitors_public")["releases"][0]
    coarse = [one for one in release["coarse"] if one["column"] == "birth_date"]
    assert coarse and all(one["values"] > 1 and one["first"] < one["last"] for one in coarse)
    assert any(one["value"] <= one["first"] for one in coarse)
    text = page(connection, "visitors_public")
    assert "What coarse values mean" in text and "those who get the table must be told" in text
    assert "&#215;" not in text.split("Distinguished by a model")[1][:300]


def test_the_anonymity_score_does_not_rise_with_k(visitors):
    connection = visitors.connect()
    columns = ["birth_date", "postcode", "sex", "dose"]
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TABLE plain AS SELECT * FROM visitors")
        assert score(connection, "plain", columns=columns)[1] == 1
        connection.execute(
            "CREATE TABLE rough AS SELECT i / 4 % 90 AS age, i % 3 AS ward FROM generate_series(1, 900) AS i"
        )
        levels = dict(
            connection.execute(
                "SELECT s, count(*) FROM (SELECT count(*) AS s FROM rough GROUP BY age, ward) AS x GROUP BY s"
            ).fetchall()
        )
        for source, named in (("visitors", columns), ("rough", ["age", "ward"])):
            scores = []
            for k in (2, 5, 20, 80):
                connection.execute(
                    f"CREATE TABLE {source}_{k} AS SELECT * FROM sanitize.k_anonymize(NULL::{source}, {k},"
                    f" columns => '{{{','.join(named)}}}', generalize => true)"
                )
                found = score(connection, f"{source}_{k}", source, named)
                scores.append(found[1])
                if source == "rough":
                    # A class of k rows gives away no row that fewer share.
                    assert found[0] <= sum(1 / s for s in levels if s >= k) + 1e-12
            assert scores == sorted(scores, reverse=True), scores
            assert scores[-1] < 1


def test_ranges_are_read_as_what_they_cover(visitors):
    connection = visitors.connect()
    options = {"k": 5, "columns": ["birth_date", "dose"], "generalize": True}
    with connection.transaction(force_rollback=True):
        publish(connection, "in_values", "k_anonymize", options)
        publish(connection, "in_ranges", "k_anonymize", {**options, "ranges": "range"})
        query = "SELECT column_name, changed, loss FROM sanitize.information_loss('visitors', %s::regclass, %s)"
        found = [
            connection.execute(query, [name, options["columns"]]).fetchall()
            for name in ("in_values", "in_ranges")
        ]
        for (column, changed, loss), (_, range_changed, range_loss) in zip(*found):
            # A lower edge may be taken for a value: what is shown in ranges loses at least as much.
            assert 0 < loss <= range_loss + 1e-9 <= 0.5, (column, loss, range_loss)
            assert changed <= range_changed + 1e-9
        values, ranges = (
            score(connection, name, columns=options["columns"])
            for name in ("in_values", "in_ranges")
        )
        assert values[1] <= 0.01 and ranges[1] <= 0.01
        usefulness = report(connection, "in_ranges")["releases"][0]["verdict"][1]
        assert "lost" in usefulness["sentence"] and "100 % of what" not in usefulness["sentence"]


def test_a_plain_range_is_what_it_says(visitors):
    """By hand: what is lost by ranges of a column from 0 to 100."""
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TABLE ages AS SELECT i AS age FROM generate_series(0, 100) AS i")
        connection.execute(
            "SELECT sanitize.declare_hierarchy('ages', 'age', '{\"ranges\": [10, 50]}')"
        )
        connection.execute(
            "CREATE TABLE ages_out AS SELECT int4range(i, i + 1) AS age FROM generate_series(0, 100) AS i"
        )
        query = "SELECT changed, loss FROM sanitize.information_loss('ages', 'ages_out') WHERE column_name = 'age'"
        assert connection.execute(query).fetchone() == (0, 0)
        connection.execute("UPDATE ages_out SET age = '[20,30)' WHERE lower(age) BETWEEN 20 AND 29")
        changed, loss = connection.execute(query).fetchone()
        assert changed == pytest.approx(10 / 101) and loss == pytest.approx(10 * 0.09 / 101)
        # Only what no other row can be got through.
        assert score(connection, "ages_out", "ages")[1] == pytest.approx(91 / 101)


def test_answers_have_a_page_of_their_label(visitors):
    connection = visitors.connect()
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TABLE answers_like (question text, answer float8)")
        connection.execute("INSERT INTO answers_like VALUES ('how many', 17)")
        text = page(connection, "answers_like")
        assert "no column of the original" in text and "Columns before and after" not in text


@pytest.mark.parametrize(
    "values, says",
    [
        (
            "SELECT (10000 + i)::text FROM generate_series(1, 987) AS i UNION ALL SELECT 'AB' || i FROM generate_series(10, 22) AS i",
            "98.7 % of its values are 5 digits (987 of 1000)",
        ),
        (
            "SELECT (10000 + i)::text FROM generate_series(1, 9999) AS i UNION ALL SELECT 'x'",
            "99.9 % of its values are 5 digits (9999 of 10000)",
        ),
        ("SELECT 'word ' || i FROM generate_series(1, 5) AS i", "its values are words"),
        ("SELECT 'x'", "fewer than two different values"),
        (
            "SELECT date '2020-01-01' + i FROM generate_series(1, 5) AS i",
            "its dates span less than",
        ),
        ("SELECT i > 1 FROM generate_series(1, 2) AS i", "only numbers, dates and codes"),
    ],
)
def test_no_proposal_has_a_reason(visitors, values, says):
    connection = visitors.connect()
    notices = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    with connection.transaction(force_rollback=True):
        connection.execute(f"CREATE TABLE proposed (value) AS {values}")
        query = "SELECT sanitize.suggest_hierarchy('proposed', 'value')"
        assert connection.execute(query).fetchone() == (None,)
    assert len(notices) == 1 and says in notices[0], notices
