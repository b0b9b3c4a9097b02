"""A release in Apache Superset: a data set, a chart, a query of SQL Lab, and the chart's page in a browser."""

import json
import os
import secrets

import pytest
from clinic import free_port
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from superset_server import Superset

# Every patient's stay by ward, a bar for each sex.
CHART = {
    "viz_type": "echarts_timeseries_bar",
    "x_axis": "ward",
    "x_axis_sort_asc": True,
    "groupby": ["sex"],
    "metrics": ["count"],
    "stack": "Stack",
    "show_legend": True,
    "x_axis_title": "Ward",
    "x_axis_title_margin": 30,
    "row_limit": 1000,
}
# The colours of a canvas: bars of both sexes have one each.
COLOURS = """
    const canvas = document.querySelector('[data-test="slice-container"] canvas');
    if (!canvas) return 0;
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4) {
        const key = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
        if (data[i + 3] == 255) seen.set(key, (seen.get(key) || 0) + 1);
    }
    return [...seen.values()].filter(n => n > 1000).length;
"""


@pytest.fixture(scope="module")
def superset():
    made = Superset(free_port())
    yield made
    made.drop()


@pytest.fixture(scope="module")
def connected(superset, clinic):
    """The number of the database in Superset, to which it connects as an analyst who only reads."""
    address = f"{clinic.analyst}:{clinic.password}@{clinic.host}:{clinic.port}/{clinic.name}"
    body = {
        "database_name": "Clinic",
        "sqlalchemy_uri": f"postgresql+psycopg2://{address}",
        "expose_in_sqllab": True,
        "allow_dml": False,
    }
    return superset.call("POST", "database/", body, expected=201)["id"]


@pytest.fixture(scope="module")
def dataset(superset, connected):
    body = {"database": connected, "schema": "public", "table_name": "patients_public"}
    return superset.call("POST", "dataset/", body, expected=201)["id"]


@pytest.fixture
def ask(superset, connected):
    """The function that runs a statement in SQL Lab."""

    def run(statement, expected=200):
        body = {
            "database_id": connected,
            "schema": "public",
            "sql": statement,
            "client_id": secrets.token_hex(5),
        }
        return superset.call("POST", "sqllab/execute/", body, expected)

    return run


def test_the_label_and_the_comments_are_there(superset, connected):
    found = superset.call(
        "GET", f"database/{connected}/table_metadata/?name=patients_public&schema=public"
    )
    assert found["comment"].startswith(
        "Patients of the clinic, for analysts.\nThe released table is"
    )
    columns = {
        column["name"]: (column["longType"], column["comment"]) for column in found["columns"]
    }
    assert columns == {
        "id": ("INTEGER", None),
        "sex": ("TEXT", None),
        "age": ("INTEGER", "The youngest of twenty years"),
        "ward": ("VARCHAR(40)", "Where the patient lay"),
        "admitted": ("DATE", "The first day of the month"),
        "days": ("NUMERIC(5, 1)", "Length of the stay"),
        "version": ("INTEGER", None),
    }


def test_a_data_set_knows_types_and_comments(superset, connected, dataset):
    found = superset.call("GET", f"dataset/{dataset}")["result"]
    columns = {column["column_name"]: column for column in found["columns"]}
    assert columns["ward"]["description"] == "Where the patient lay"
    assert columns["admitted"]["is_dttm"] and not columns["days"]["is_dttm"]
    # The label is what Superset does not copy by itself.
    assert found["description"] is None
    table = superset.call(
        "GET", f"database/{connected}/table_metadata/?name=patients_public&schema=public"
    )
    superset.call("PUT", f"dataset/{dataset}", {"description": table["comment"]})
    found = superset.call("GET", f"dataset/{dataset}")["result"]
    assert "Not covered" in found["description"]


def test_a_chart_shows_the_release_and_the_next_one(superset, clinic, dataset):
    query = {
        "datasource": {"id": dataset, "type": "table"},
        "queries": [{"columns": ["version", "ward"], "metrics": ["count"], "row_limit": 100}],
    }
    for _ in range(2):
        (answer,) = superset.call("POST", "chart/data", query)["result"]
        counted = {(row["version"], row["ward"], row["count"]) for row in answer["data"]}
        assert counted == set(
            clinic.released("SELECT version, ward, count(*) FROM patients_public GROUP BY 1, 2")
        )
        clinic.renew()


def test_sql_lab_reads_the_release_and_nothing_else(ask, clinic):
    answer = ask("SELECT * FROM patients_public")
    assert [column["name"] for column in answer["columns"]][:4] == ["id", "sex", "age", "ward"]
    assert {row["id"] for row in answer["data"]} == {None}
    assert ask("SELECT count(*) AS n FROM patients_public")["data"] == [{"n": clinic.rows}]
    assert "Seq Scan" in ask("EXPLAIN SELECT * FROM patients_public")["data"][0]["QUERY PLAN"]
    refused = ask("SELECT * FROM patients", expected=500)["errors"][0]["message"]
    assert "permission denied" in refused
    assert ask("DELETE FROM patients_public", expected=500)["errors"]


def test_noisy_answers_are_asked_once_and_shown_often(ask, clinic):
    """A page is loaded again and again: the same question within a day costs once."""
    with clinic.admin() as admin:
        admin.execute("SELECT sanitize.protect('patients', 'id', 5)")
        admin.execute("SELECT sanitize.allow('patients', 'analyst', 1)")
    query = """SELECT value FROM sanitize.dp_aggregate('patients', '{"n": "count"}', 1, reuse => '1 day')"""
    answers = [ask(query)["data"] for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    refused = ask(query.replace('"n"', '"other"'), expected=500)["errors"][0]["message"]
    assert "budget" in refused
    assert clinic.released("SELECT DISTINCT epsilon_spent FROM sanitize.budget") == [(1,)]


@pytest.fixture
def browser(superset):
    """Chromium, logged in as a person does it."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1440,820"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.get(f"{superset.url}/login/")
    WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.ID, "username"))
    driver.find_element(By.ID, "username").send_keys(superset.user)
    driver.find_element(By.ID, "password").send_keys(superset.password)
    driver.find_element(By.CSS_SELECTOR, "button[type=submit], [data-test=login-button]").click()
    WebDriverWait(driver, 60).until(lambda d: "/login" not in d.current_url)
    yield driver
    driver.quit()


def test_the_chart_is_drawn_in_a_browser(superset, dataset, browser):
    body = {
        "slice_name": "Stays by ward, 6-anonymous",
        "viz_type": CHART["viz_type"],
        "datasource_id": dataset,
        "datasource_type": "table",
        "params": json.dumps({**CHART, "datasource": f"{dataset}__table"}),
    }
    chart = superset.call("POST", "chart/", body, expected=201)["id"]
    browser.get(f"{superset.url}/explore/?slice_id={chart}")
    WebDriverWait(browser, 90).until(lambda driver: driver.execute_script(COLOURS) >= 2)
    shown = browser.find_element(By.TAG_NAME, "body").text
    for word in ("patients_public", "ward", "admitted", "COUNT(*)"):
        assert word in shown
    if os.environ.get("PG_SANITIZE_PICTURE"):
        browser.save_screenshot(os.environ["PG_SANITIZE_PICTURE"])
