"""The page of a forecast: what its cells hold."""

from ragstone.report.page import Count, Phrase, RowName
from ragstone.report.pages.runs_page import forecast_page
from ragstone.report.render.terminal import as_text
from ragstone.run.forecast import Forecast, TaskForecast


def test_each_task_has_its_calls_tokens_and_cost_and_all_together() -> None:
    tasks = {
        ("m", "claims"): TaskForecast(10, 2, 1000, 100, 0, 0.5),
        ("m", "support"): TaskForecast(30, 0, 3000, 300, 0, 1.25),
    }
    page = forecast_page(Forecast(20, tasks, ("a note",)))
    claims, _, total = page.tables[0].rows
    assert claims.cells == (
        RowName("m"), RowName("claims"), Count(10), Count(2), Count(1000), Count(100),
        Phrase("$0.5000"),
    )  # fmt: skip
    assert total.cells[2:] == (
        Count(40, strong=True), Count(2, strong=True), Count(4000, strong=True),
        Count(400, strong=True), Phrase("$1.75", strong=True),
    )  # fmt: skip
    assert "20 examples, 2.0 calls each. Nothing was sent." in as_text(page)
    assert "a note" in as_text(page)


def test_what_is_not_asked_costs_nothing_and_what_is_not_known_says_so() -> None:
    tasks = {
        ("m", "claims"): TaskForecast(0, 9, 0, 0, 0, None),
        ("m", "support"): TaskForecast(1, 0, 10, 1, 0, None),
    }
    rows = forecast_page(Forecast(0, tasks)).tables[0].rows
    assert [row.cells[-1] for row in rows] == [
        Phrase("–"), Phrase("cost unknown"), Phrase("cost unknown", strong=True),
    ]  # fmt: skip


def test_a_forecast_of_nothing_has_no_calls_each() -> None:
    assert "0 examples, 0.0 calls each" in as_text(forecast_page(Forecast(0, {})))
