"""The page that compares systems or runs."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from shutil import copytree
from time import perf_counter, sleep

import pytest
from starlette.testclient import TestClient

import ragstone
from ragstone.data import cornwall
from tests.web.conftest import client_of

Get = Callable[[str], str]
RIVALS = "/compare?runs=cornwall&b=local_search&a=basic_search"


def getter(client: TestClient) -> Get:
    def get(path: str) -> str:
        """The page once it is computed."""
        end = perf_counter() + 60
        while "being computed" in (text := client.get(path).text) and perf_counter() < end:
            assert 'hx-trigger="load delay' in text
            sleep(0.05)
        return text

    return get


@pytest.fixture(scope="module")
def page(runs: Path) -> Get:
    return getter(client_of(runs))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Get:
    folder = tmp_path_factory.mktemp("two")
    late = folder / "late.jsonl"
    late.write_text(cornwall().read_text().replace('"answer": "', '"answer": "<i>Of late.</i> '))
    for name, data in (("before", cornwall()), ("after", late)):
        ragstone.evaluate(data, metrics=["faithfulness", "token_f1"], out=folder / name)
    copytree(folder / "before", folder / "third")
    return getter(client_of(folder))


def test_the_verdict_comes_first_with_its_counts(page: Get) -> None:
    text = page(RIVALS)
    assert "cannot be told apart</b>: no difference is found on any of 24 metrics" in text
    assert text.index('id="verdict"') < text.index('class="tally"') < text.index('id="forest"')
    assert text.count("<h1") == 1
    assert "would settle it" in text


def test_a_row_has_its_difference_interval_n_and_verdict(page: Get) -> None:
    text = page(RIVALS)
    row = next(line for line in text.splitlines() if ">faithfulness</a>" in line)
    assert "metric=faithfulness#questions" in row
    assert "Holm over" in text
    assert re.search(r'need">\d+ pairs to show this difference<', text)
    equivalence = (
        "Pairs for equivalence: estimate: with so many, half the interval would be as wide"
    )
    assert equivalence in text
    assert "±0.05 do not matter" in text
    assert 'class="band"' in text


def test_a_margin_of_the_address_is_taken_and_no_number_is_refused(page: Get) -> None:
    assert "±0.2 do not matter" in page(f"{RIVALS}&margin=0.2")
    assert "nothing can be called equivalent" in page(f"{RIVALS}&margin=")
    assert "A margin is a number above 0" in page(f"{RIVALS}&margin=wide")


def test_slices_have_a_forest_of_their_own(page: Get) -> None:
    text = page(f"{RIVALS}&by=question_type")
    assert "faithfulness by <bdi>question_type</bdi>" in text


def test_questions_come_worst_first_and_the_first_is_open(page: Get) -> None:
    text = page(f"{RIVALS}&metric=token_f1&show=changed")
    changes = [
        float(part.partition("<")[0].replace("−", "-"))
        for part in text.partition('<table class="changed">')[2].split("<b>")[1:]
    ]
    assert changes == sorted(changes)
    assert text.count('class="opened"') == 1
    assert "/runs/cornwall/examples/" in text


def test_a_question_can_be_named_and_closed(page: Get) -> None:
    text = page(f"{RIVALS}&metric=token_f1&show=same&open=-")
    assert 'class="opened"' not in text
    first = page(f"{RIVALS}&metric=token_f1").partition('id="q-')[2].partition('"')[0]
    assert f'id="q-{first}"' in page(f"{RIVALS}&metric=token_f1&show=failed&open={first}")


def test_an_example_leads_to_the_comparison_with_its_question_open(
    client: TestClient, page: Get
) -> None:
    example = re.search(r'href="(/runs/cornwall/examples/[^"]+)"', page(RIVALS))
    assert example
    answer = client.get(unescape(example[1]))
    compared = re.search(r'rel="compare" href="([^"]+)"', answer.text)
    assert compared
    assert 'class="opened"' in page(unescape(compared[1]).removesuffix("#questions"))


def test_a_search_finds_words_of_answers(page: Get) -> None:
    everything = page(f"{RIVALS}&metric=token_f1").count("aria-expanded")
    some = page(f"{RIVALS}&metric=token_f1&q=tin").count("aria-expanded")
    assert 0 < some < everything
    assert "No question with “zzz”" in page(f"{RIVALS}&q=zzz")


def test_two_runs_are_compared_system_by_system(two: Get) -> None:
    text = two("/compare?runs=after,before")
    assert "<bdi>after/local_search</bdi>" in text
    assert "<bdi>after/local_search</bdi>" in two("/compare?runs=after&runs=before")
    assert "<ins>&lt;i&gt;Of late.&lt;/i&gt;</ins>" in two("/compare?runs=after,before&show=same")


def test_equal_inputs_are_one_line_until_they_are_asked_for(two: Get) -> None:
    text = two("/compare?runs=third,before")
    assert "were judged on <b>the same inputs</b>" in text
    assert "are not drawn" in text
    assert 'class="forest"' not in text
    assert 'class="forest"' in two("/compare?runs=third,before&all=1")


def test_more_than_two_runs_are_offered_in_pairs(two: Get) -> None:
    text = two("/compare?runs=before&runs=after&runs=third")
    assert "Two at a time" in text
    assert text.count("</bdi> against <bdi>") == 3


def test_runs_that_cannot_be_compared_say_why_and_what_to_do(two: Get) -> None:
    text = two("/compare?runs=before&b=nobody")
    assert "No system of this run is called" in text
    assert 'href="/compare?runs=before"' in text
    assert "no run called" in two("/compare?runs=before,gone")


def test_without_a_run_the_page_offers_them(page: Get) -> None:
    assert 'value="cornwall"' in page("/compare")


def test_many_who_ask_at_once_are_all_answered(two: Get) -> None:
    asked = [f"/compare?runs=before&margin=0.{place}" for place in range(11, 17)]
    with ThreadPoolExecutor(len(asked)) as pool:
        answers = list(pool.map(two, asked))
    for place, text in zip(range(11, 17), answers, strict=True):
        assert f"±0.{place} do not matter" in text
